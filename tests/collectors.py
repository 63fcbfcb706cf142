"""A collector on loopback: it takes OTLP over HTTP as collectors do, and keeps spans and metrics."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage


@dataclass(frozen=True)
class Span:
    """One span as it arrived: ids in hex, `parent` empty for a root, `resource` of the process that sent it."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str
    links: tuple[str, ...]
    is_error: bool
    attributes: dict[str, Any]
    resource: dict[str, Any]
    nanoseconds: int


@dataclass
class Collector:
    """Serves until `stop`."""

    spans: list[Span] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    # `(role, name of the metric, kind of its data)`.
    metrics: set[tuple[str, str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.bodies.append(body)
                if self.path == "/v1/traces":
                    collector.spans += _read(body)
                elif self.path == "/v1/metrics":
                    collector.metrics |= _read_metrics(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def find(self, name: str, matches: Callable[[Span], bool] = lambda _: True) -> list[Span]:
        return [span for span in list(self.spans) if span.name == name and matches(span)]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _read(body: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(body)
    found = []
    for group in request.resource_spans:
        resource = _values(group.resource.attributes)
        found += [_span(span, resource) for scope in group.scope_spans for span in scope.spans]
    return found


def _read_metrics(body: bytes) -> set[tuple[str, str, str]]:
    request = ExportMetricsServiceRequest.FromString(body)
    return {
        (_values(group.resource.attributes)["studio.process.role"], metric.name, str(metric.WhichOneof("data")))
        for group in request.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    }


def _span(span: SpanMessage, resource: dict[str, Any]) -> Span:
    return Span(
        name=span.name,
        kind=SpanMessage.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        links=tuple(link.span_id.hex() for link in span.links),
        is_error=span.status.code == 2,
        attributes=_values(span.attributes),
        resource=resource,
        nanoseconds=span.end_time_unix_nano - span.start_time_unix_nano,
    )


def _values(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
