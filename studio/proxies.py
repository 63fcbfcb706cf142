"""Forwarding headers, which count only when a trusted proxy sent them.

Works on a WSGI environ, so that what runs before Django and Django itself see the same client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from studio.values import Network

Address = IPv4Address | IPv6Address
FORWARDING_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
    "HTTP_X_REQUEST_ID",
)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
# Their answers hold nothing that depends on the name under which they were asked.
PROBES = frozenset({"/healthz", "/readyz"})
METRICS = "/metrics"
_DONE = "studio.forwarding"


class ForwardingMiddleware:
    """Put the client's own address, scheme and host into each request before anything reads them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        apply_forwarding(request.META, settings.TRUSTED_PROXIES)
        return self.get_response(request)


class ProbeMiddleware:
    """Let health probes in under any name: they ask by an address that no operator lists in ALLOWED_HOSTS.

    So does Prometheus. Where no key is asked for, its page keeps the check: with a name that was made to lead to this
    machine, a page in the operator's browser could read it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_metrics = request.path_info == METRICS and not settings.AGENT_API_PUBLIC_READ
        if is_metrics or request.path_info in PROBES:
            name = settings.ALLOWED_HOSTS[0]
            request.META["HTTP_HOST"] = "localhost" if name == "*" else name.removeprefix(".")
        return self.get_response(request)


def apply_forwarding(environ: dict[str, Any], trusted: Sequence[Network]) -> None:
    """Rewrite `environ` in place: REMOTE_ADDR, wsgi.url_scheme and HTTP_HOST as the outermost trusted proxy saw them.

    Forwarding headers are removed either way, so that nothing behind can mistake a stranger's word for a proxy's; a
    trusted proxy's X-Request-ID stays. A second call changes nothing.
    """
    if environ.get(_DONE):
        return
    environ[_DONE] = True
    headers = {name: environ.pop(name) for name in FORWARDING_HEADERS if name in environ}
    if not headers or not _is_trusted(_address(environ.get("REMOTE_ADDR", "")), trusted):
        return
    client, hops = _client(_items(headers.get("HTTP_X_FORWARDED_FOR", "")), trusted)
    if client is not None:
        environ["REMOTE_ADDR"] = str(client)
    scheme = _seen_by_outermost(_items(headers.get("HTTP_X_FORWARDED_PROTO", "")), hops).lower()
    if scheme in {"http", "https"}:
        environ["wsgi.url_scheme"] = scheme
    if host := _seen_by_outermost(_items(headers.get("HTTP_X_FORWARDED_HOST", "")), hops):
        # Django checks it against ALLOWED_HOSTS like any other.
        environ["HTTP_HOST"] = host
    if _REQUEST_ID.fullmatch(headers.get("HTTP_X_REQUEST_ID", "")):
        environ["HTTP_X_REQUEST_ID"] = headers["HTTP_X_REQUEST_ID"]


def _client(forwarded_for: list[str], trusted: Sequence[Network]) -> tuple[Address | None, int]:
    """The nearest address that is no trusted proxy, and how many trusted proxies stand between it and us.

    Each proxy appends whom it heard, so the list is believed from its right end, as far as trust goes. An entry that
    is no address ends the walk: what stands left of it is worth nothing. Where all are trusted, the leftmost is it.
    """
    client: Address | None = None
    hops = 0
    for text in reversed(forwarded_for):
        hops += 1
        address = _address(text)
        if address is None:
            break
        client = address
        if not _is_trusted(address, trusted):
            break
    return client, max(hops, 1)


def _seen_by_outermost(values: list[str], hops: int) -> str:
    """Proxies either append to such a header or replace it: count from the right, stop at the first."""
    return values[max(-hops, -len(values))] if values else ""


def _is_trusted(address: Address | None, trusted: Sequence[Network]) -> bool:
    return address is not None and any(address in network for network in trusted)


def _address(text: str) -> Address | None:
    """An address with or without a port; IPv4 within IPv6 is IPv4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _items(header: str) -> list[str]:
    return [item.strip() for item in header.split(",") if item.strip()]
