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
# Beside `is_global`, which differs by patch release of Python: what IANA lists as special-purpose addresses and does
# not call globally reachable (2026), multicast, and deprecated ranges that may be routed inside a network all the
# same.
_NOT_PUBLIC: Final = tuple(
    ip_network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
        *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "240.0.0.0/4"),
        # IPv4 in IPv6 by four older forms: the address inside is not looked at, none of them is in use.
        *("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "2001::/32"),
        *("100::/64", "100:0:0:1::/64", "2001:2::/48", "2001:10::/28", "2001:db8::/32", "3fff::/20", "5f00::/16"),
        *("fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)


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
        why = errors[0] if errors else f"no answer within {seconds:.0f} s"
        raise NameNotResolved(f"'{host}' could not be resolved: {why}")
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
    if any(innermost in network for network in (*_CLOUD_METADATA_NETWORKS, *_NOT_PUBLIC)):
        return False
    if isinstance(address, IPv6Address) and any(address in network for network in _NOT_PUBLIC):
        # Of Teredo the innermost address is another's; mapped and NAT64 ones are not in the table.
        return False
    return innermost.is_global and not innermost.is_multicast


def _embedded_ipv4(address: Address) -> Address:
    """The IPv4 address that an IPv6 address carries inside, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
