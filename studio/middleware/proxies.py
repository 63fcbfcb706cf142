"""Forwarding headers, which count only when a trusted proxy sent them.

Works on a WSGI environ, so that what runs before Django and Django itself see the same client.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from registry.core import chosen_settings
from studio.config.parsers import Network

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
# The same in a head that has not been decoded.
REQUEST_ID_BYTES = re.compile(_REQUEST_ID.pattern.encode())
# Their answers hold nothing that depends on the name under which they were asked.
PROBES = frozenset({"/healthz", "/readyz"})
METRICS = "/metrics"
_DONE = "studio.forwarding"


class ForwardingMiddleware(MiddlewareMixin):
    """Put the client's own address, scheme and host into each request before anything reads them."""

    def process_request(self, request: HttpRequest) -> None:
        apply_forwarding(request.META, settings.TRUSTED_PROXIES)


class ProbeMiddleware(MiddlewareMixin):
    """Let health probes in under any name: they ask by an address that no operator lists in ALLOWED_HOSTS.

    So does Prometheus. Where no key is asked for, its page keeps the check: with a name that was made to lead to this
    machine, a page in the operator's browser could read it.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Before anything asks for the host."""
        is_metrics = request.path_info == METRICS and not chosen_settings.is_public_read()
        if is_metrics or request.path_info in PROBES:
            name = settings.ALLOWED_HOSTS[0]
            request.META["HTTP_HOST"] = "localhost" if name == "*" else name.removeprefix(".")


def apply_forwarding(environ: dict[str, Any], trusted: Sequence[Network]) -> None:
    """Rewrite `environ` in place: REMOTE_ADDR, wsgi.url_scheme and HTTP_HOST as the outermost trusted proxy saw them.

    Forwarding headers are removed either way, so that nothing behind can mistake a stranger's word for a proxy's; a
    trusted proxy's X-Request-ID stays. A second call changes nothing.
    """
    if environ.get(_DONE):
        return
    environ[_DONE] = True
    headers = {name: environ.pop(name) for name in FORWARDING_HEADERS if name in environ}
    if not headers:
        return
    found = forwarded(
        environ.get("REMOTE_ADDR", ""),
        headers.get("HTTP_X_FORWARDED_FOR", ""),
        headers.get("HTTP_X_FORWARDED_PROTO", ""),
        headers.get("HTTP_X_FORWARDED_HOST", ""),
        tuple(trusted),
    )
    if found is None:
        return
    if found.client:
        environ["REMOTE_ADDR"] = found.client
    if found.scheme:
        environ["wsgi.url_scheme"] = found.scheme
    if found.host:
        # Django checks it against ALLOWED_HOSTS like any other.
        environ["HTTP_HOST"] = found.host
    if is_request_id(headers.get("HTTP_X_REQUEST_ID", "")):
        environ["HTTP_X_REQUEST_ID"] = headers["HTTP_X_REQUEST_ID"]


class Forwarded(NamedTuple):
    """Client address, scheme and host as the outermost trusted proxy saw them; empty where it did not say."""

    client: str
    scheme: str
    host: str


@lru_cache(maxsize=4096)
def forwarded(peer: str, forwarded_for: str, proto: str, host: str, trusted: tuple[Network, ...]) -> Forwarded | None:
    """What the forwarding headers of a request from `peer` say; None where it is not a trusted proxy."""
    if not _is_trusted(_address(peer), trusted):
        return None
    client, hops = _client(_items(forwarded_for), trusted)
    scheme = _seen_by_outermost(_items(proto), hops).lower()
    return Forwarded(
        str(client) if client is not None else "",
        scheme if scheme in {"http", "https"} else "",
        _seen_by_outermost(_items(host), hops),
    )


def is_request_id(text: str) -> bool:
    """Whether a proxy's X-Request-ID is one that logs and answers may carry."""
    return _REQUEST_ID.fullmatch(text) is not None


def _client(forwarded_for: list[str], trusted: Sequence[Network]) -> tuple[Address | None, int]:
    """The nearest address that is not a trusted proxy, and how many trusted proxies are between it and us.

    Each proxy appends its peer's address, so the list is read from its right end, as far as proxies are trusted. An
    entry that is not an address ends the walk: entries left of it are ignored. If all are trusted, it is the leftmost.
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
