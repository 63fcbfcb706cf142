"""GETs to another registry, and what their failures mean to its source."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Final

from django.conf import settings

from capability_rules.errors import SourceUnreadable
from registry.common.errors import SourceMisconfigured
from registry.common.net.guarded_client import GuardedRequest, allowed_addresses, parse_address
from registry.common.net.ip_policy import Address, AddressNotAllowed, NameNotResolved

# One response, and one sync with all its responses.
RESPONSE_SECONDS: Final = 30.0
SYNC_SECONDS: Final = 900.0
# A bundle of 2 MiB, each character escaped at worst; a page of a list is smaller.
RESPONSE_BYTES_MAX: Final = 16 * 1024 * 1024
URL_LENGTH_MAX: Final = 500
USER_AGENT: Final = "Capability-Studio-Mirror/1"
_SETTING: Final = "IMPORT_ALLOWED_NETWORKS"
_FORM: Final = "Another registry's address is https://studio.example.com, without a name and a password"


def check_registry_url(url: str) -> str:
    """The address without anything after its root, as it is stored. Raises `SourceUnreadable`.

    Plain http is taken where `IMPORT_ALLOWED_NETWORKS` names any network; the address itself is checked at each look.
    """
    parsed = parse_address(url, length_max=URL_LENGTH_MAX)
    if parsed is None or parsed.userinfo or parsed.query or parsed.fragment:
        raise SourceUnreadable(_FORM)
    if parsed.scheme == "http" and not settings.IMPORT_ALLOWED_NETWORKS:
        raise SourceUnreadable(f"{_FORM}. Plain http is for networks named in {_SETTING}")
    return str(parsed).rstrip("/").removesuffix("/api/v1")


@dataclass(frozen=True, slots=True)
class RegistryResponse:
    """What came back; `body` is empty with 304."""

    status: int
    etag: str
    body: bytes


@dataclass
class RegistryClient:
    """Another registry, for one look: its name is resolved once, and every GET goes to that very address."""

    url: str
    key: str = field(default="", repr=False)
    until: float = field(default_factory=lambda: time.monotonic() + SYNC_SECONDS)

    def get(
        self, path: str, query: Mapping[str, str], *, etag: str = "", also: Collection[int] = ()
    ) -> RegistryResponse:
        """200, 304 where the entity tag is still that one, or a status of `also`.

        Raises `SourceUnreadable` for any other, and `SourceMisconfigured` where trying again would not help.
        """
        # httpx2 takes as long to import as Django: only what sends requests pays for it.
        import httpx2

        url = httpx2.URL(self.url + path, params=dict(query))
        headers = {"Accept": "application/json, */*;q=0.5", "User-Agent": USER_AGENT}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= {"If-None-Match": etag} if etag else {}
        if time.monotonic() > self.until:
            minutes = SYNC_SECONDS / 60
            raise SourceUnreadable(f"{self.url}: a look took more than {minutes:.0f} minutes; the next one goes on")
        request = GuardedRequest("GET", url, headers, RESPONSE_BYTES_MAX + 1)
        request.send_or_explain(self._addresses, RESPONSE_SECONDS, place=self.url)
        if len(request.received) > RESPONSE_BYTES_MAX:
            raise SourceMisconfigured(f"{self.url}: an answer has more than {RESPONSE_BYTES_MAX >> 20} MiB")
        status = request.status or 0
        if status not in (200, 304, *also):
            raise _refusal(self.url, status, has_key=bool(self.key))
        return RegistryResponse(status, request.etag, bytes(request.received))

    @cached_property
    def _addresses(self) -> list[Address]:
        # httpx2 takes as long to import as Django: only what sends requests pays for it.
        import httpx2

        url = httpx2.URL(self.url)
        try:
            return allowed_addresses(url, _SETTING)
        except NameNotResolved as refusal:
            raise SourceUnreadable(f"{self.url}: {refusal}") from None
        except AddressNotAllowed as refusal:
            by_https = f"'{url.host}' may be asked by https alone: it is not in {_SETTING}"
            raise SourceMisconfigured(f"{self.url}: {by_https if url.scheme == 'http' else refusal}") from None


def _refusal(url: str, status: int, *, has_key: bool) -> SourceUnreadable:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        words = "refuses the key: make one with the scope read there" if has_key else "wants a key with the scope read"
        return SourceMisconfigured(f"{url}: the other registry {words}")
    if 300 <= status <= 399:
        return SourceMisconfigured(f"{url}: it leads elsewhere ({status}); name the address itself")
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        return SourceMisconfigured(f"{url}: there is no Capability Studio at this address ({status})")
    return SourceUnreadable(f"{url}: the other registry answered {status}")
