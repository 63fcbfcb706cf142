"""The tracer of a process: OpenTelemetry's SDK, which sends spans to a collector over OTLP/HTTP.

It sends from a thread of its own, from a queue that drops spans when it is full: a collector that is slow or away
delays and refuses no request.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.db.backends.signals import connection_created
from opentelemetry import context as contexts
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import INVALID_SPAN, Link, SpanKind, StatusCode, get_current_span, set_span_in_context
from opentelemetry.trace import Span as SdkSpan
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from capability_kit import tracing
from capability_kit.tracing import Attributes, Carrier, Kind, Value
from capability_rules.errors import RegistryError

_W3C: Final = TraceContextTextMapPropagator()
FLUSH_SECONDS: Final = 1.0
# Of one query's text.
_QUERY_LENGTH_MAX: Final = 2000
_OPERATION: Final = re.compile(r"\s*(\w+)")
_TABLE: Final = re.compile(r'(?:FROM|INTO|UPDATE)\s+"?(\w+)"?')
# A line for each batch that could not be sent would fill the log. A filter holds for one logger, not for those below.
_EXPORT_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk._shared_internal",
)
_QUIET_SECONDS: Final = 300.0


class SpanHandle:
    """One span, as `capability_kit.tracing` describes it."""

    __slots__ = ("_span",)

    def __init__(self, span: SdkSpan) -> None:
        self._span = span

    @property
    def trace_id(self) -> str:
        return f"{self._span.get_span_context().trace_id:032x}"

    @property
    def traceparent(self) -> str:
        """As W3C Trace Context writes it: version, trace, span, flags."""
        found = self._span.get_span_context()
        return f"00-{found.trace_id:032x}-{found.span_id:016x}-{found.trace_flags:02x}"

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, name: str, value: Value) -> None:
        self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(StatusCode.ERROR)

    def note_exception(self, error: BaseException) -> None:
        """Its code or class, never its message, which may quote a text or a secret. A refusal is not a failure."""
        if isinstance(error, RegistryError):
            self._span.set_attribute("error.type", error.code)
        else:
            self.fail(type(error).__qualname__)


class OtlpTracer:
    """The tracer of this process; `role` says which of the product's processes it is."""

    def __init__(self, role: str, exporter: SpanExporter | None = None) -> None:
        self._provider = TracerProvider(resource=build_resource(role), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("capability-studio", settings.STUDIO_VERSION)
        self._flushing: threading.Thread | None = None

    @contextmanager
    def span(
        self, name: str, attributes: Attributes, *, kind: Kind, parent: Carrier | None, is_linked: bool
    ) -> Iterator[SpanHandle]:
        if kind == "internal" and not get_current_span().is_recording():
            # A step of something that is not traced, such as a count that is stored every few seconds.
            yield SpanHandle(INVALID_SPAN)
            return
        came_from = _W3C.extract(parent) if parent else None
        links = [Link(get_current_span().get_span_context())] if is_linked and parent else None
        begun = self._tracer.start_span(name, came_from, SpanKind[kind.upper()], attributes, links)
        token = contexts.attach(set_span_in_context(begun))
        handle = SpanHandle(begun)
        try:
            yield handle
        except Exception as error:
            handle.note_exception(error)
            raise
        finally:
            contexts.detach(token)
            begun.end()

    def record(self, name: str, attributes: Attributes, *, parent: Carrier, began_ns: int) -> str:
        came_from = _W3C.extract(parent) if parent else None
        begun = self._tracer.start_span(name, came_from, SpanKind.SERVER, attributes, start_time=began_ns)
        begun.end()
        return SpanHandle(begun).traceparent

    def annotate(self, name: str, value: Value) -> None:
        get_current_span().set_attribute(name, value)

    def carrier(self) -> dict[str, str]:
        found: dict[str, str] = {}
        _W3C.inject(found)
        return found

    def flush(self, seconds: float) -> None:
        """See `tracing.flush`. In a thread, since the SDK waits for a collector that does not answer."""
        thread = self._flushing
        if thread is None or not thread.is_alive():
            thread = self._flushing = threading.Thread(target=self._provider.force_flush, daemon=True)
            thread.start()
        thread.join(seconds)


def start(role: str) -> None:
    """Trace this process where the settings ask for it; at most once in a process. Never raises for the collector."""
    if not settings.IS_TRACED or tracing.is_on():
        return
    for name in _EXPORT_LOGGERS:
        logging.getLogger(name).addFilter(ONCE_PER_PERIOD)
    tracing.install(OtlpTracer(role))
    connection_created.connect(_watch_connection, dispatch_uid="tracing")
    atexit.register(tracing.flush, FLUSH_SECONDS)


def flush_until_exit() -> None:
    """Send at once whatever ends from now on: for a process that is stopped, and never gets as far as `atexit`."""

    def flush() -> None:
        while True:
            tracing.flush(FLUSH_SECONDS)
            time.sleep(0.1)

    if tracing.is_on():
        threading.Thread(target=flush, daemon=True, name="tracing").start()


def build_resource(role: str) -> Resource:
    """What the operator says in OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES wins."""
    ours: dict[str, Value] = {
        "service.name": "capability-studio",
        "service.version": settings.STUDIO_VERSION,
        "studio.process.role": role,
        "process.pid": os.getpid(),
        # In containers each process has the number 1.
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    }
    return Resource.create().merge(Resource(ours)).merge(OTELResourceDetector().detect())


def _watch_connection(connection: Any, **_: Any) -> None:
    if _trace_query not in connection.execute_wrappers:
        connection.execute_wrappers.append(_trace_query)


def _trace_query(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:  # noqa: FBT001 (Django's signature)
    """A span for each query that is part of a trace. Its text has placeholders; the values are left out."""
    if not get_current_span().is_recording():
        return execute(sql, params, many, context)
    found, table = _OPERATION.match(sql), _TABLE.search(sql)
    operation = found[1].upper() if found else "SQL"
    attributes: dict[str, Value] = {
        "db.system.name": context["connection"].vendor,
        "db.operation.name": operation,
        "db.query.text": sql[:_QUERY_LENGTH_MAX],
    }
    if table:
        attributes["db.collection.name"] = table[1]
    with tracing.span(f"{operation} {table[1]}" if table else operation, attributes, kind="client"):
        return execute(sql, params, many, context)


class _OncePerPeriod(logging.Filter):
    """Lets one line through every five minutes."""

    def __init__(self) -> None:
        super().__init__()
        self._until = 0.0

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 (logging's signature)
        now = time.monotonic()
        if now < self._until:
            return False
        self._until = now + _QUIET_SECONDS
        return True


# One line, whether it is about traces or metrics: both go to the same collector.
ONCE_PER_PERIOD: Final = _OncePerPeriod()
