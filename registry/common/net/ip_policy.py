"""Which addresses an outsider may name: public ones, and those of networks that a setting names.

A name is resolved once, each address is checked, and the connection is to go to that very address.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Global by its number, and yet a cloud's own: the platform service of Azure's virtual machines.
_CLOUD_METADATA_NETWORKS: Final = (ip_network("168.63.129.16/32"),)
# NAT64: the last 32 bits are an IPv4 address behind a translator.
_NAT64: Final = IPv6Network("64:ff9b::/96")


class AddressNotAllowed(Exception):
    """The address may not be contacted; nothing was sent."""


# What a resolver answers where a name, or an address of it, does not exist; not each system has both.
_NO_SUCH_NAME: Final = {getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA") if hasattr(socket, name)}


class NameNotResolved(AddressNotAllowed):
    """The name has no address now; it may have one later."""


def resolve(host: str, port: int, seconds: float) -> list[Address]:
    """The addresses of a name. Raises `NameNotResolved` where there is none within `seconds`.

    In a thread of its own, because the system's resolver has no configurable time limit.
    """
    found: list[Address] = []
    errors: list[str] = []

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(ip_address(str(row[4][0]).partition("%")[0]) for row in rows))
        except socket.gaierror as error:
            errors.append("" if error.errno in _NO_SUCH_NAME else error.strerror or str(error))
        except (OSError, ValueError) as error:
            errors.append(str(error))

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors == [""]:
        raise NameNotResolved(f"Host not found: {host}")
    if not found:
        raise NameNotResolved(
            f"'{host}' could not be resolved: {errors[0] if errors else f'no answer within {seconds:.0f} s'}"
        )
    return list(found)


def require_allowed(
    addresses: Sequence[Address], *, networks: Sequence[Network], host: str, setting: str, scheme: str = "https"
) -> list[Address]:
    """Those that may be contacted: public ones by https alone, and those in `networks`, from the setting of that name.

    Raises `AddressNotAllowed` where there is none.
    """
    is_tls = scheme == "https"
    allowed = [address for address in addresses if _is_in(address, networks) or (is_tls and _is_public(address))]
    if allowed:
        return allowed
    shown = ", ".join(map(str, addresses[:3]))
    reason = "is not a public address, and not" if is_tls else "may be asked by https alone: it is not"
    raise AddressNotAllowed(f"'{host}' ({shown}) {reason} in {setting}")


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    """Whether one of the networks contains it, or the IPv4 address inside of it."""
    innermost = _embedded_ipv4(address)
    return any(innermost in network for network in networks)


def _is_public(address: Address) -> bool:
    """Whether it is a public address, and not a cloud metadata address."""
    innermost = _embedded_ipv4(address)
    if any(innermost in network for network in _CLOUD_METADATA_NETWORKS):
        return False
    return innermost.is_global and not innermost.is_multicast


def _embedded_ipv4(address: Address) -> Address:
    """The IPv4 address that an IPv6 address carries inside, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
