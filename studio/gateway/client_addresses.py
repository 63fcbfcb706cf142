"""Whose connections they are: how many each address has, and which addresses are proxies that we trust."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from ipaddress import ip_address

from registry.common.rate_limits import network_of
from studio.config.parsers import Network


class ClientAddresses:
    """Open connections by network: an IPv4 address, or the /64 of an IPv6 one. `most` of each are admitted; 0: any."""

    def __init__(self, trusted: tuple[Network, ...], most: int) -> None:
        self._trusted, self._most = trusted, most
        self._open: Counter[str] = Counter()
        self.is_trusted = lru_cache(maxsize=1024)(self._find_out)

    def _find_out(self, host: str) -> bool:
        if not self._trusted:
            return False
        found = ip_address(host.partition("%")[0])
        found = getattr(found, "ipv4_mapped", None) or found
        return any(found in network for network in self._trusted)

    def admit(self, host: str) -> bool:
        """Whether another connection may be open, which is counted then."""
        if not self._most or self.is_trusted(host):
            return True
        network = network_of(host)
        if self._open[network] >= self._most:
            return False
        self._open[network] += 1
        return True

    def release(self, host: str) -> None:
        """A connection that was admitted has ended."""
        network = network_of(host)
        if self._open[network] <= 1:
            # Nothing is kept of addresses that have none.
            del self._open[network]
        else:
            self._open[network] -= 1
