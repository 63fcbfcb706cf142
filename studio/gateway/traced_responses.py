"""Warm reads with a span for each: the gateway uses these in place of `WarmResponses` only where traces are sent."""

from __future__ import annotations

import re
import time
from typing import Final

from capability_kit import tracing
from studio.gateway.framing import END, RequestHead
from studio.gateway.warm_responses import WarmResponses
from studio.server.environ import Environ
from studio.server.traced_reads import describe_read

_TARGET: Final = re.compile(rb"GET ([^ ?]+)(?:\?(?:[^ ]*&)?capability_id=([a-z0-9_]{1,64})(?=[& ])| |\?)")
_LINE: Final = re.compile(rb"\r\ntrace(parent|state): *([^\r\n]*)", re.IGNORECASE)


class TracedResponses(WarmResponses):
    """As `WarmResponses`. Heads that differ in their trace context alone are remembered as one."""

    def find(self, head: bytes) -> bytes | None:
        began_ns = time.time_ns()
        parent, plain = _read_parent(head)
        wire = super().find(plain)
        return None if wire is None else _record(plain, wire, parent, began_ns)

    def answer(self, head: RequestHead, client: str) -> tuple[bytes | None, Environ | None]:
        began_ns = time.time_ns()
        wire, environ = super().answer(head, client)
        if wire is None:
            return None, environ
        parent, plain = _read_parent(head.raw)
        return _record(plain, wire, parent, began_ns), None

    def _key(self, raw: bytes) -> bytes:
        return _read_parent(raw)[1]


def _read_parent(head: bytes) -> tuple[dict[str, str], bytes]:
    """The caller's trace context, and the head without it."""
    found = _LINE.findall(head)
    # What follows the end of a head is another message.
    if not found or head.find(END) != len(head) - len(END):
        return {}, head
    parent = {f"trace{name.decode().lower()}": value.decode("latin-1") for name, value in found}
    return parent, _LINE.sub(b"", head)


def _record(head: bytes, wire: bytes, parent: dict[str, str], began_ns: int) -> bytes:
    """Record the span of a response, and name it in the response."""
    match = _TARGET.match(head)
    route = match[1].decode() if match else ""
    capability_id = match[2].decode() if match and match[2] else ""
    # The status is behind `HTTP/1.1 `.
    attributes = describe_read("GET", route, "http", int(wire[9:12]), capability_id)
    traceparent = tracing.record(f"GET {route}", attributes, parent=parent, began_ns=began_ns)
    end = wire.index(b"\r\n") + 2
    return b"".join((wire[:end], b"traceresponse: ", traceparent.encode(), b"\r\n", memoryview(wire)[end:]))
