"""Spans of OpenTelemetry, for all code below: without a tracer, which is the default, each call does nothing.

No package of OpenTelemetry is imported here. `registry.common.tracing_sdk` starts the tracer of a process where the
settings ask for one (docs/operate.md, Traces). Attributes are names, ids, counts and codes: never a text that somebody
wrote, a key or an address with a token.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, Literal, ParamSpec, Protocol, TypeVar

Value = str | int | float | bool
Attributes = Mapping[str, Value]
# What names a span to another process: `traceparent` and perhaps `tracestate` (W3C Trace Context).
Carrier = Mapping[str, str]
Kind = Literal["internal", "server", "client", "producer", "consumer"]
P = ParamSpec("P")
R = TypeVar("R")


class TraceSpan(Protocol):
    """A span that is under way; `trace_id` is 32 hex digits, empty where tracing is off."""

    @property
    def trace_id(self) -> str:
        """32 hex digits; empty where tracing is off."""

    @property
    def traceparent(self) -> str:
        """What names the span to another process."""

    def rename(self, name: str) -> None:
        """What it is called from now on."""

    def set(self, name: str, value: Value) -> None:
        """Set an attribute of the span."""

    def fail(self, error_type: str) -> None:
        """Note that it ended in an error of this type."""


class Tracer(Protocol):
    """What makes spans and sends them."""

    def span(
        self, name: str, attributes: Attributes, *, kind: Kind, parent: Carrier | None, is_linked: bool
    ) -> AbstractContextManager[TraceSpan]:
        """A span for as long as the block runs."""

    def record(self, name: str, attributes: Attributes, *, parent: Carrier, began_ns: int) -> str:
        """Send a span that has ended; the trace's id."""

    def annotate(self, name: str, value: Value) -> None:
        """Add an attribute to the span that is under way."""

    def carrier(self) -> dict[str, str]:
        """What names the span that is under way to another process."""

    def flush(self, seconds: float) -> None:
        """Send what is waiting, within this time."""


class _NoSpan:
    trace_id = traceparent = ""

    def rename(self, name: str) -> None: ...

    def set(self, name: str, value: Value) -> None: ...

    def fail(self, error_type: str) -> None: ...


_OFF: Final[AbstractContextManager[TraceSpan]] = nullcontext(_NoSpan())
_NOTHING: Final[Attributes] = {}
_tracer: Tracer | None = None


def install(tracer: Tracer | None) -> None:
    """Use this tracer in this process from now on; None switches tracing off."""
    global _tracer
    _tracer = tracer


def is_on() -> bool:
    """Whether this process has a tracer."""
    return _tracer is not None


def span(
    name: str,
    attributes: Attributes = _NOTHING,
    *,
    kind: Kind = "internal",
    parent: Carrier | None = None,
    is_linked: bool = False,
) -> AbstractContextManager[TraceSpan]:
    """A span around the block, below the current one of this thread, or below `parent`, which came from elsewhere.

    With `is_linked` a span that has a `parent` links to the current one. An exception that leaves the block is noted by
    its code or class, without its message.
    """
    if _tracer is None:
        return _OFF
    return _tracer.span(name, attributes, kind=kind, parent=parent, is_linked=is_linked)


def traced(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose calls are spans of this name."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if _tracer is None:
                return function(*args, **kwargs)
            with _tracer.span(name, _NOTHING, kind="internal", parent=None, is_linked=False):
                return function(*args, **kwargs)

        return call

    return decorate


def record(name: str, attributes: Attributes, *, parent: Carrier, began_ns: int) -> str:
    """Record a server's span that has just ended, begun at `began_ns` (`time.time_ns()`); its `traceparent`."""
    return _tracer.record(name, attributes, parent=parent, began_ns=began_ns) if _tracer is not None else ""


def annotate(name: str, value: Value) -> None:
    """Set an attribute of the current span, where there is one."""
    if _tracer is not None:
        _tracer.annotate(name, value)


def carrier() -> dict[str, str]:
    """What names the current span to another process; empty where there is none."""
    return _tracer.carrier() if _tracer is not None else {}


def flush(seconds: float) -> None:
    """Send what is waiting to be sent, for at most so long. Never raises."""
    if _tracer is not None:
        _tracer.flush(seconds)


def read_carrier(fields: Mapping[str, Any]) -> dict[str, str]:
    """The carrier among the headers of a request, or the `_meta` of an MCP message; what is not text is left out."""
    found = {name: fields.get(name) for name in ("traceparent", "tracestate")}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}
