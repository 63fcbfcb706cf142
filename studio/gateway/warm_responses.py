"""Responses that the gateway sends itself, found by the bytes of the request's head."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final, Protocol

from studio.gateway.framing import RequestHead
from studio.middleware.proxies import REQUEST_ID_BYTES
from studio.server.environ import Environ, build_environ
from studio.server.rsgi import HeaderList
from studio.server.warm_reads import WarmReads

PATHS: Final = frozenset({"/api/v1/capability_registry_list", "/api/v1/capability_skill_load"})
# A head may be this long to be remembered, and so many are: they are a few MB.
_REMEMBERED_BYTES: Final = 2048
_REMEMBERED_MAX: Final = 10_000
# As nginx sends it; another spelling takes the longer way.
_REQUEST_ID: Final = b"\r\nX-Request-ID: "
# With one of these a request is not a plain read; the application decides.
_UNUSUAL: Final = frozenset({b"expect", b"upgrade", b"content-length", b"transfer-encoding"})


class Sendable(Protocol):
    """A whole response, with room for its form on the wire."""

    status: int
    headers: HeaderList
    body: bytes
    wire: bytes
    wire_date: bytes


class Responses(Protocol):
    """What `agent_api.fast_path.FastPath` does for the gateway."""

    generation: int

    def find(self, key: Hashable) -> Sendable | None: ...

    def send_again(self, ready: Any) -> bool: ...

    def prepare(self, environ: Environ, key: Hashable) -> Sendable | None: ...

    def learn(self, environ: Environ, status: int, headers: HeaderList) -> None: ...

    def find_missing(self, environ: Environ) -> Callable[[], object] | None: ...


class Clock:
    """The value of the Date header: made once a second by the gateway, not for each response."""

    def __init__(self) -> None:
        self.tick()

    def tick(self) -> None:
        self.date = formatdate(usegmt=True).encode()


@dataclass
class WarmResponses:
    """For clients of one kind: trusted proxies, whose forwarding headers count, or all others.

    A head that came before, byte for byte, is found without being parsed. Everything else about a response (which
    snapshot, until when, how often) is known to `responses` alone.
    """

    responses: Responses
    warm_reads: WarmReads
    clock: Clock
    is_proxy: bool
    _remembered: dict[bytes, Sendable] = field(default_factory=dict)
    _generation: int = -1

    def find(self, head: bytes) -> bytes | None:
        """What to send in answer to a head that is remembered; None for any other bytes."""
        if self.is_proxy and (at := head.find(_REQUEST_ID)) > 0:
            return self._find_with_id(head, at)
        ready = self._remembered.get(head)
        if ready is None or not self._is_current(ready):
            return None
        return ready.wire if ready.wire_date is self.clock.date else _wire(ready, self.clock.date)

    def _find_with_id(self, head: bytes, at: int) -> bytes | None:
        """As `find`, for a request whose id is its own: what is remembered has none."""
        end = head.find(b"\r\n", at + 2)
        ready = self._remembered.get(head[:at] + head[end:])
        start = at + len(_REQUEST_ID)
        if ready is None or not REQUEST_ID_BYTES.fullmatch(head, start, end) or not self._is_current(ready):
            return None
        return _wire_with_id(ready, self.clock.date, head[start:end])

    def _is_current(self, ready: Sendable) -> bool:
        if self._generation != self.responses.generation:
            self._remembered.clear()
            self._generation = self.responses.generation
            return False
        return self.responses.send_again(ready)

    def answer(self, head: RequestHead, client: str) -> tuple[bytes | None, Environ | None]:
        """What to send in answer to a warm read, and the environ of one that has to be passed on.

        Both are None for what is not a read of a list or a load.
        """
        scope = read_scope(head, client)
        if scope is None:
            return None, None
        ready, request_id = self.warm_reads.find(scope)
        environ = None
        if ready is None:
            environ = build_environ(scope)
            ready, request_id = self.warm_reads.prepare(scope, environ)
        if ready is None:
            return None, environ
        self._remember(self._key(head.raw), ready)
        if request_id:
            return _wire_with_id(ready, self.clock.date, request_id.encode()), None
        return _wire(ready, self.clock.date), None

    def _key(self, raw: bytes) -> bytes:
        """What a head is remembered by; a caller's trace context is another one with each request."""
        return b"" if b"\r\ntraceparent:" in raw.lower() else raw

    def _remember(self, raw: bytes, ready: Sendable) -> None:
        if not raw:
            return
        if self.is_proxy:
            at = raw.find(_REQUEST_ID)
            if at >= 0:
                raw = raw[:at] + raw[raw.find(b"\r\n", at + 2) :]
            if b"x-request-id" in raw.lower():
                return
        if len(raw) > _REMEMBERED_BYTES:
            return
        if len(self._remembered) >= _REMEMBERED_MAX or self._generation != self.responses.generation:
            self._remembered.clear()
            self._generation = self.responses.generation
        self._remembered[raw] = ready


@dataclass
class ReadHeaders:
    """The headers of a scope, all of them readable."""

    pairs: HeaderList

    def items(self) -> HeaderList:
        return self.pairs

    def keys(self) -> list[str]:
        return [name for name, _ in self.pairs]

    def __contains__(self, name: str) -> bool:
        return any(found == name for found, _ in self.pairs)


@dataclass
class ReadScope:
    """A request as granian would describe it, where nothing about it is unusual."""

    method: str
    path: str
    query_string: str
    headers: ReadHeaders
    client: str
    server: str = "gateway:0"
    scheme: str = "http"
    authority: str | None = None
    http_version: str = "1.1"


def read_scope(head: RequestHead, client: str) -> ReadScope | None:
    """The request, if it is a plain GET of a list or a load; None for all else, which the application decides."""
    if head.method != b"GET" or not head.is_http_11 or head.body_bytes != 0 or not head.raw.isascii():
        return None
    path, _, query = head.target.decode().partition("?")
    if path not in PATHS or "#" in query or any(name in _UNUSUAL for name, _ in head.fields):
        return None
    if any(value.lower() != b"keep-alive" for value in head.values(b"connection")):
        return None
    pairs = [(name.decode(), value.decode()) for name, value in head.fields]
    return ReadScope("GET", path, query, ReadHeaders(pairs), client)


def _wire(ready: Sendable, date: bytes) -> bytes:
    ready.wire_date = date
    ready.wire = b"".join((head_bytes(ready.status, ready.headers, date), b"\r\n", ready.body))
    return ready.wire


def _wire_with_id(ready: Sendable, date: bytes, request_id: bytes) -> bytes:
    wire = ready.wire if ready.wire_date is date else _wire(ready, date)
    # Behind the status line.
    end = wire.index(b"\r\n") + 2
    return b"".join((wire[:end], b"x-request-id: ", request_id, b"\r\n", memoryview(wire)[end:]))


def head_bytes(status: int, headers: HeaderList, date: bytes) -> bytes:
    """Status line and headers, without the empty line that ends them."""
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n",
        *(f"{name.lower()}: {value}\r\n" for name, value in headers),
    ]
    return "".join(lines).encode("latin-1") + b"date: " + date + b"\r\n"
