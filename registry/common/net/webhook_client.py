"""One POST to an address that an operator has named: to checked addresses only, and never for longer than it may take.

The name is resolved once, each address is checked, and the connection goes to that very address: what a name server
returns a moment later changes nothing. `Host` and the name that TLS asks for stay those of the URL.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from registry.common.errors import InvalidRequest
from registry.common.net.ip_policy import Address, AddressNotAllowed, is_in, require_allowed, resolve

if TYPE_CHECKING:
    import httpx

TOTAL_SECONDS: Final = 10.0
RESOLVE_SECONDS: Final = 5.0
RESPONSE_BYTES_MAX: Final = 64 * 1024
EXCERPT_CHARACTERS_MAX: Final = 1000
URL_LENGTH_MAX: Final = 2000
_ADDRESSES_TRIED_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class DeliveryResponse:
    """The outcome of a POST: `status` is None without a response, and then `error` says why."""

    status: int | None
    excerpt: str
    error: str
    duration_ms: int

    @property
    def is_success(self) -> bool:
        """The status decides, whatever became of the body."""
        return self.status is not None and 200 <= self.status <= 299


def check_url(url: str) -> str:
    """The URL without blanks around it, as it may be kept. Raises `InvalidRequest` with what is expected.

    A name is resolved at each delivery; an address in the URL itself is checked here too.
    """
    # httpx takes as long to import as Django: only what sends requests pays for it.
    import httpx

    url = url.strip()
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError):
        raise InvalidRequest("A webhook's URL is absolute, such as https://hooks.example.com/studio") from None
    is_whole = parsed.scheme in ("http", "https") and parsed.host and 1 <= (parsed.port or 443) <= 65535
    if not is_whole or len(url) > URL_LENGTH_MAX or not url.isprintable():
        raise InvalidRequest("A webhook's URL is absolute, such as https://hooks.example.com/studio")
    if parsed.userinfo or parsed.fragment:
        raise InvalidRequest("A webhook's URL has neither a password nor a fragment: deliveries are signed instead")
    if parsed.scheme == "http" and not settings.WEBHOOK_ALLOWED_NETWORKS:
        raise InvalidRequest(
            "A webhook's URL begins with https://. Plain http is for networks named in WEBHOOK_ALLOWED_NETWORKS"
        )
    try:
        _require_allowed([ip_address(parsed.host)], parsed.scheme, parsed.host)
    except ValueError:
        pass
    except AddressNotAllowed as refusal:
        raise InvalidRequest(str(refusal)) from None
    return url


@dataclass
class _PartialResponse:
    """What has come so far: a time limit may end the exchange at any moment."""

    status: int | None = None
    body: bytes = b""


def post_event(
    url: str, *, body: bytes, headers: Mapping[str, str], total_seconds: float = TOTAL_SECONDS
) -> DeliveryResponse:
    """Send it once; redirects are not followed, and at most 64 KiB of the response are read.

    Never raises for what the other side does.
    """
    began = time.monotonic()
    heard = _PartialResponse()
    error = ""
    try:
        # In a thread of its own: the caller's may have an event loop already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(_post(url, body, headers, began + total_seconds, heard))).result()
    except AddressNotAllowed as refusal:
        error = str(refusal)
    except TimeoutError:
        error = f"No answer within {total_seconds:g} s"
    except Exception as failure:  # noqa: BLE001 (whatever a hostile response makes it raise is a failed delivery)
        error = f"{type(failure).__name__}: {failure}".rstrip(": ")
    text = heard.body.decode("utf-8", errors="replace").replace("\0", "\ufffd")[:EXCERPT_CHARACTERS_MAX]
    duration_ms = round((time.monotonic() - began) * 1000)
    return DeliveryResponse(heard.status, text, "" if heard.status else error[:500], duration_ms)


async def _post(url: str, body: bytes, headers: Mapping[str, str], deadline: float, heard: _PartialResponse) -> None:
    """One limit around everything: a trickle of bytes would never end."""
    # httpx takes as long to import as Django: only what sends requests pays for it.
    import httpx

    parsed = httpx.URL(url)
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    addresses = resolve(parsed.host, port, min(RESOLVE_SECONDS, deadline - time.monotonic()))
    allowed = _require_allowed(addresses, parsed.scheme, parsed.host)[:_ADDRESSES_TRIED_MAX]
    async with (
        asyncio.timeout(deadline - time.monotonic()),
        # No proxy and no password file out of the environment: the addresses above would mean nothing.
        httpx.AsyncClient(
            verify=tls_context(), trust_env=False, follow_redirects=False, timeout=TOTAL_SECONDS
        ) as client,
    ):
        for address in allowed[:-1]:
            with contextlib.suppress(httpx.ConnectError):
                await _exchange(client, parsed, address, body, headers, heard)
                return
        await _exchange(client, parsed, allowed[-1], body, headers, heard)


async def _exchange(
    client: httpx.AsyncClient,
    url: httpx.URL,
    address: Address,
    body: bytes,
    headers: Mapping[str, str],
    heard: _PartialResponse,
) -> None:
    request = client.build_request(
        "POST",
        url.copy_with(host=str(address)),
        content=body,
        headers={"Host": url.netloc.decode("ascii"), "Accept-Encoding": "identity", **headers},
        extensions={"sni_hostname": url.raw_host.decode("ascii")},
    )
    response = await client.send(request, stream=True)
    heard.status = response.status_code
    try:
        async for chunk in response.aiter_raw():
            heard.body = (heard.body + chunk)[:RESPONSE_BYTES_MAX]
            if len(heard.body) == RESPONSE_BYTES_MAX:
                break
    finally:
        await response.aclose()


def tls_context() -> Any:
    """The system's certificates (`SSL_CERT_FILE` where it is set), or certifi's where the system has none."""
    # A store of certificates is read for it: only what sends requests pays for that.
    import ssl

    import certifi

    paths = ssl.get_default_verify_paths()
    return ssl.create_default_context(cafile=None if paths.cafile or paths.capath else certifi.where())


def _require_allowed(addresses: Sequence[Address], scheme: str, host: str) -> list[Address]:
    """Those that may be contacted; by plain http those of the setting alone. Raises `AddressNotAllowed` for none."""
    networks = settings.WEBHOOK_ALLOWED_NETWORKS
    if scheme == "https":
        return require_allowed(addresses, networks=networks, host=host, setting="WEBHOOK_ALLOWED_NETWORKS")
    allowed = [address for address in addresses if is_in(address, networks)]
    if allowed:
        return allowed
    shown = ", ".join(map(str, addresses[:3]))
    raise AddressNotAllowed(f"'{host}' ({shown}) may be asked by https alone: it is not in WEBHOOK_ALLOWED_NETWORKS")
