"""Without a tracer nothing happens; with one, what is sent is names and counts, and never a text."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.db import connection
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from capability_kit import tracing
from capability_rules.errors import InvalidRequest
from registry.common import tracing_sdk
from registry.models import RegistryState

PARENT = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=b"}


class Sent:
    """What has arrived at the collector."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        tracing.install(tracing_sdk.OtlpTracer("web", self.exporter))

    def spans(self) -> dict[str, ReadableSpan]:
        tracing.flush(5)
        return {span.name: span for span in self.exporter.get_finished_spans()}


@pytest.fixture
def sent() -> Iterator[Sent]:
    yield Sent()
    tracing.install(None)


def test_without_a_tracer_each_call_does_nothing() -> None:
    assert not tracing.is_on()
    with tracing.span("a", {"b": 1}, kind="server", parent=PARENT) as span:
        span.set("c", 1)
        span.rename("d")
        span.fail("e")
        tracing.annotate("f", 1)
        assert (span.trace_id, span.traceparent, tracing.carrier()) == ("", "", {})
    assert tracing.record("a", {}, parent={}, began_ns=0) == ""
    assert tracing.traced("a")(lambda number: number + 1)(1) == 2
    tracing.flush(1)


def test_spans_have_parents_attributes_and_a_resource(sent: Sent) -> None:
    with tracing.span("request", {"a": 1}, kind="server", parent=PARENT) as request:
        assert request.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"
        assert tracing.carrier() == {"traceparent": request.traceparent, "tracestate": "a=b"}
        assert tracing.traced("step")(lambda: 5)() == 5
        with tracing.span("message", kind="server", parent={"traceparent": PARENT["traceparent"]}, is_linked=True):
            tracing.annotate("b", 2)
    found = sent.spans()
    assert found["request"].parent is not None
    assert found["request"].attributes == {"a": 1}
    assert found["request"].resource.attributes["service.name"] == "capability-studio"
    assert found["request"].resource.attributes["studio.process.role"] == "web"
    assert found["step"].parent == found["request"].context
    assert found["message"].attributes == {"b": 2}
    assert found["message"].links[0].context == found["request"].context


def test_a_step_of_nothing_is_no_trace(sent: Sent) -> None:
    with tracing.span("commit") as span:
        span.set("a", 1)
    assert sent.spans() == {}


def test_an_exception_is_noted_without_its_message(sent: Sent) -> None:
    for name, error in (("refused", InvalidRequest("a secret")), ("failed", ValueError("a secret"))):
        with pytest.raises(type(error)), tracing.span(name, kind="server"):
            raise error
    found = sent.spans()
    assert found["refused"].attributes == {"error.type": "INVALID_REQUEST"}
    assert found["refused"].status.is_unset
    assert found["failed"].attributes == {"error.type": "ValueError"}
    assert not found["failed"].status.is_ok
    assert not any(span.events for span in found.values())
    assert "a secret" not in "".join(span.to_json() for span in found.values())


def test_what_a_caller_says_of_its_trace_may_be_anything(sent: Sent) -> None:
    for odd in ("", "x", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "00-zz", "é", "00-" + "a" * 5000):
        with tracing.span("odd", kind="server", parent=tracing.read_carrier({"traceparent": odd, "tracestate": "=,="})):
            pass
    assert sent.spans()["odd"].parent is None
    assert tracing.read_carrier({"traceparent": 5, "tracestate": None, "other": "x"}) == {}


@pytest.mark.django_db
def test_queries_are_spans_of_a_trace_without_their_values(sent: Sent) -> None:
    with connection.execute_wrapper(tracing_sdk._trace_query):
        RegistryState.objects.filter(registry_revision=4711).exists()
        assert sent.spans() == {}
        with tracing.span("request", kind="server"):
            RegistryState.objects.filter(registry_revision=4711).exists()
    query = sent.spans()["SELECT registry_registrystate"]
    assert query.attributes is not None
    assert query.attributes["db.system.name"] == connection.vendor
    assert query.attributes["db.operation.name"] == "SELECT"
    assert "registry_registrystate" in str(query.attributes["db.query.text"])
    assert "4711" not in query.to_json()


def test_only_one_line_in_five_minutes_says_that_nothing_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("registry.common.tracing_sdk.time", SimpleNamespace(monotonic=lambda: now[0]))
    quiet = tracing_sdk._OncePerPeriod()
    assert [quiet.filter(None) for _ in range(3)] == [True, False, False]  # type: ignore[arg-type] # it reads nothing
    now[0] += 301
    assert quiet.filter(None)  # type: ignore[arg-type] # as above
