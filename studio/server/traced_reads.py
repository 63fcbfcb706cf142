"""Warm reads of the application with a span for each, where traces are sent: most are sent by the gateway in front."""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import parse_qs

from capability_kit import tracing
from studio.server.environ import Environ
from studio.server.rsgi import HttpProtocol, RequestScope
from studio.server.warm_reads import ReadyResponse, WarmReads

_CAPABILITY_ID_MAX: Final = 64


class TracedReads(WarmReads):
    """`WarmReads` that records a span for each response."""

    def send_ready(self, scope: RequestScope, protocol: HttpProtocol) -> bool:
        began_ns = time.time_ns()
        return _send(scope, protocol, *self.find(scope), began_ns)

    def send_prepared(self, scope: RequestScope, environ: Environ, protocol: HttpProtocol) -> bool:
        began_ns = time.time_ns()
        return _send(scope, protocol, *self.prepare(scope, environ), began_ns)


def describe_read(method: str, path: str, scheme: str, status: int, capability_id: str) -> dict[str, tracing.Value]:
    """The attributes of the span of a warm read; the id of no capability is empty."""
    attributes: dict[str, tracing.Value] = {
        "http.request.method": method,
        "http.route": path,
        "url.path": path,
        "url.scheme": scheme,
        "http.response.status_code": status,
        "studio.warm_read": True,
    }
    return attributes | {"studio.capability_id": capability_id} if capability_id else attributes


def _send(
    scope: RequestScope, protocol: HttpProtocol, ready: ReadyResponse | None, request_id: str | None, began_ns: int
) -> bool:
    if ready is None:
        return False
    capability_id = parse_qs(scope.query_string).get("capability_id", [""])[0][:_CAPABILITY_ID_MAX]
    attributes = describe_read(scope.method, scope.path, scope.scheme, ready.status, capability_id)
    parent = tracing.read_carrier(dict(scope.headers.items()))
    name = f"{scope.method} {scope.path}"
    headers = [*ready.headers, ("traceresponse", tracing.record(name, attributes, parent=parent, began_ns=began_ns))]
    if request_id:
        headers.append(("X-Request-ID", request_id))
    protocol.response_bytes(ready.status, headers, ready.body)
    return True
