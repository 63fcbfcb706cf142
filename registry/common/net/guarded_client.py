"""One request to a host that somebody has named: to checked addresses only, bounded in bytes and time, no redirects.

The name is resolved once, each address is checked, and the connection goes to that very address: what a name server
returns a moment later changes nothing. `Host` and the name that TLS asks for stay those of the URL.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings

from capability_rules.errors import SourceUnreadable
from registry.common.net.ip_policy import Address, AddressNotAllowed, require_allowed, resolve

if TYPE_CHECKING:
    import ssl

    import httpx2

RESOLVE_SECONDS: Final = 5.0
# To connect, and for each read and write; the deadline is around all of them.
_STEP_SECONDS: Final = 10.0
_ADDRESSES_TRIED_MAX: Final = 3
# Headers that a client sets itself: one of somebody else leads to another host, or breaks the message.
_CLIENT_HEADERS: Final = frozenset((
    "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
    "http2-settings", "keep-alive", "mcp-protocol-version", "mcp-session-id", "te", "trailer", "transfer-encoding",
    "upgrade", "user-agent", "via",
))  # fmt: skip


# What stands before a value of a query, its name if it has one, and the value.
_QUERY: Final = re.compile(r"([?&])([^=&#?\s'\"]*=)?[^=&#?\s'\"]+(?:=[^&#\s'\"]*)?")


def mask_query(text: str) -> str:
    """An address, or a text with addresses, without the values of their queries: one may be a key."""
    return _QUERY.sub(lambda found: f"{found[1]}{found[2] or ''}…", text)


def is_client_header(name: str) -> bool:
    """Whether nobody but the client itself may set a header of this name."""
    lowered = name.lower()
    return lowered in _CLIENT_HEADERS or lowered.startswith(("proxy-", "sec-"))


def parse_address(url: str, *, length_max: int) -> httpx2.URL | None:
    """An http or https URL with a host and a port that there is; None for anything else, and for a longer one."""
    # httpx2 takes as long to import as Django: only what sends requests pays for it.
    import httpx2

    try:
        parsed = httpx2.URL(url.strip())
    except (httpx2.InvalidURL, ValueError, TypeError):
        return None
    is_whole = parsed.scheme in ("http", "https") and parsed.host and 1 <= (parsed.port or 443) <= 65535
    return parsed if is_whole and parsed.port != 0 and len(url) <= length_max else None


def allowed_addresses(url: httpx2.URL | str, setting: str, seconds: float = RESOLVE_SECONDS) -> list[Address]:
    """Those of the URL's host that may be contacted: public ones by https, and those in the networks of the setting.

    Raises `NameNotResolved`, or another `AddressNotAllowed` where there is none.
    """
    # httpx2 takes as long to import as Django: only what sends requests pays for it.
    import httpx2

    url = httpx2.URL(url)
    port = url.port or (443 if url.scheme == "https" else 80)
    return _allowed(url.host, port, url.scheme, setting, min(seconds, RESOLVE_SECONDS))[:_ADDRESSES_TRIED_MAX]


def locate_host(host: str, port: int, *, scheme: str, setting: str) -> str:
    """The first address of a host that `allowed_addresses` would take, for who opens a connection without a request.

    Raises `OSError`, as a connection does, where there is none.
    """
    try:
        return str(_allowed(host, port, scheme, setting, RESOLVE_SECONDS)[0])
    except AddressNotAllowed as error:
        raise OSError(str(error)) from None


def _allowed(host: str, port: int, scheme: str, setting: str, seconds: float) -> list[Address]:
    networks = getattr(settings, setting)
    return require_allowed(resolve(host, port, seconds), networks=networks, host=host, setting=setting, scheme=scheme)


@dataclass(repr=False)
class GuardedRequest:
    """A request, and what has come back so far: the deadline may end it at any moment.

    No more than `bytes_max` of the response's body are read; `answered` are its headers, by names in lower case.
    """

    method: str
    url: httpx2.URL | str
    headers: Mapping[str, str]
    bytes_max: int
    body: bytes = b""
    status: int | None = None
    etag: str = ""
    answered: dict[str, str] = field(default_factory=dict)
    received: bytearray = field(default_factory=bytearray)

    def send(self, addresses: Sequence[Address], deadline: float) -> None:
        """To the first of the addresses that takes a connection.

        Raises `TimeoutError` at the deadline (of `time.monotonic`), and whatever httpx2 raises.
        """
        # In a thread of its own: the caller's may have an event loop already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(self._send(addresses, deadline))).result()

    def send_or_explain(self, addresses: Sequence[Address], seconds: float, *, place: str, until: float = inf) -> None:
        """As `send`, at most so many seconds and until the deadline. Raises `SourceUnreadable`, whose words begin with
        the place, for whatever `send` raises."""
        # httpx2 takes as long to import as Django: only what sends requests pays for it.
        import httpx2

        try:
            self.send(addresses, min(time.monotonic() + seconds, until))
        except TimeoutError:
            raise SourceUnreadable(f"{place}: an answer took more than {seconds:.0f} s") from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError) as error:
            raise SourceUnreadable(f"{place}: {str(error) or 'the connection failed'}"[:400]) from None

    async def _send(self, addresses: Sequence[Address], deadline: float) -> None:
        """One limit around everything: a trickle of bytes would never end."""
        # httpx2 takes as long to import as Django: only what sends requests pays for it.
        import httpx2

        async with (
            asyncio.timeout(deadline - time.monotonic()),
            # No proxy and no password file out of the environment: the addresses would mean nothing.
            httpx2.AsyncClient(
                verify=_tls_context(), trust_env=False, follow_redirects=False, timeout=_STEP_SECONDS
            ) as client,
        ):
            for address in addresses[:-1]:
                with contextlib.suppress(httpx2.ConnectError):
                    await self._exchange(client, httpx2.URL(self.url), address)
                    return
            await self._exchange(client, httpx2.URL(self.url), addresses[-1])

    async def _exchange(self, client: httpx2.AsyncClient, url: httpx2.URL, address: Address) -> None:
        request = client.build_request(
            self.method,
            url.copy_with(host=str(address)),
            content=self.body,
            headers={"Host": url.netloc.decode("ascii"), "Accept-Encoding": "identity", **self.headers},
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        )
        response = await client.send(request, stream=True)
        self.status, self.etag = response.status_code, response.headers.get("ETag", "")
        self.answered = {name.lower(): value[:1000] for name, value in response.headers.items()}
        try:
            async for chunk in response.aiter_raw():
                self.received += chunk[: self.bytes_max - len(self.received)]
                if len(self.received) == self.bytes_max:
                    break
        finally:
            await response.aclose()


def _tls_context() -> ssl.SSLContext:
    """The system's certificates, or those that OpenSSL's own variables name."""
    # A store of certificates is read for it: only what sends requests pays for that.
    import ssl

    paths = ssl.get_default_verify_paths()
    store = paths.cafile or paths.capath
    return _read_certificates(store, Path(store).stat().st_mtime if store else 0.0)


@lru_cache(maxsize=1)
def _read_certificates(_store: str | None, _changed_at: float) -> ssl.SSLContext:
    """Kept until the certificates change: reading them takes longer than most requests."""
    import httpx2

    return httpx2.create_ssl_context()
