"""An address by http or https: who asks whether it may be called, and at which host, takes it apart here."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """`host` is in lower case, an IPv6 address without brackets; `port` is that of the scheme where none is named.

    `has_user` says that a name, and perhaps a password, stands before the host.
    """

    scheme: str
    host: str
    port: int
    has_user: bool
    query: str
    fragment: str

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None for another scheme, for none, without a host, and for a port that does not exist."""
        try:
            parts = urlsplit(text)
            port = _PORTS[parts.scheme] if parts.port is None else parts.port
        except (ValueError, KeyError):
            return None
        host, has_user = parts.hostname or "", bool(parts.username or parts.password)
        return cls(parts.scheme, host, port, has_user, parts.query, parts.fragment) if host and port else None

    @property
    def host_and_port(self) -> str:
        """As an address writes them: the port where it is not that of the scheme, IPv6 in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host` (an address, bracketed or not, or a name)."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
