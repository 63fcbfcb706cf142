"""Warm reads with spans: a caller's trace context is read, named in the response, and changes nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from capability_kit import tracing
from studio.gateway.framing import parse_request_head
from studio.gateway.traced_responses import TracedResponses
from studio.gateway.warm_responses import Clock, WarmResponses
from studio.server.warm_reads import WarmReads
from tests.unit.registry.common.test_tracing import Sent
from tests.unit.studio.gateway.test_warm_responses import LIST, STRANGER, TRUSTED, EverythingReady, _head, _responses

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def parent(number: int) -> str:
    return f"traceparent: 00-{TRACE}-{number:016x}-01"


@pytest.fixture
def sent() -> Iterator[Sent]:
    yield Sent()
    tracing.install(None)


def _traced(ready: EverythingReady) -> TracedResponses:
    return TracedResponses(ready, WarmReads(ready, TRUSTED), Clock(), is_proxy=False)


def test_heads_that_differ_in_their_trace_alone_are_found_as_one(sent: Sent) -> None:
    ready = EverythingReady()
    responses = _traced(ready)
    line = f"GET {LIST}?x=1&capability_id=weights HTTP/1.1"
    wire, _ = responses.answer(parse_request_head(_head(parent(1), line=line)), STRANGER)
    assert wire is not None
    for number in (2, 3):
        head = _head(parent(number).replace("traceparent", "Traceparent"), "tracestate: a=b", line=line)
        found = responses.find(head)
        assert found is not None
        assert b"\r\ntraceresponse: 00-" + TRACE.encode() in found.partition(b"\r\n\r\n")[0]
    assert responses.find(_head(line=line)) is not None
    assert ready.prepared == 1
    tracing.flush(5)
    spans = sent.exporter.get_finished_spans()
    assert [span.parent.span_id if span.parent else None for span in spans] == [1, 2, 3, None]
    assert {span.name for span in spans} == {f"GET {LIST}"}
    assert spans[0].attributes is not None
    assert spans[0].attributes["studio.capability_id"] == "weights"
    assert spans[0].attributes["http.response.status_code"] == 200


def test_what_follows_a_head_is_not_part_of_it(sent: Sent) -> None:
    """Else a line behind the head, which is the beginning of another message, would be swallowed."""
    responses = _traced(EverythingReady())
    responses.answer(parse_request_head(_head()), STRANGER)
    assert responses.find(_head()) is not None
    assert responses.find(_head() + parent(1).encode() + b"\r\n") is None
    assert responses.find(_head() + b"\r\n" + parent(1).encode()) is None


def test_without_traces_a_head_with_a_trace_context_takes_the_place_of_no_other() -> None:
    ready = EverythingReady()
    responses: WarmResponses = _responses(ready)
    for number in range(1, 50):
        wire, _ = responses.answer(parse_request_head(_head(parent(number))), STRANGER)
        assert wire is not None
        assert b"traceresponse" not in wire
    assert not responses._remembered
