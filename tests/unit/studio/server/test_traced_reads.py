"""Warm reads that the application sends itself have a span, and name it."""

from __future__ import annotations

from capability_kit import tracing
from studio.server.environ import build_environ
from studio.server.traced_reads import TracedReads
from tests.rsgi import MadeHeaders, MadeScope, SentProtocol
from tests.unit.registry.common.test_tracing import PARENT, Sent
from tests.unit.studio.server.test_warm_reads import TRUSTED, EverythingReady


def test_each_has_a_span_of_its_callers_trace() -> None:
    sent = Sent()
    try:
        reads, path = TracedReads(EverythingReady(), TRUSTED), "/api/v1/capability_skill_load"
        headers = MadeHeaders([("host", "a"), *PARENT.items()])
        scope = MadeScope(path=path, query_string="capability_id=weights", headers=headers)
        first, second = SentProtocol(), SentProtocol()
        assert not reads.send_ready(scope, first)
        assert reads.send_prepared(scope, build_environ(scope), first)
        assert reads.send_ready(scope, second)
        tracing.flush(5)
        spans = sent.exporter.get_finished_spans()
    finally:
        tracing.install(None)
    assert [span.name for span in spans] == [f"GET {path}"] * 2
    for span, protocol in zip(spans, (first, second), strict=True):
        assert span.context is not None
        assert span.attributes is not None
        assert span.attributes["studio.capability_id"] == "weights"
        _, found, _ = protocol.sent
        trace = PARENT["traceparent"][:36]
        assert dict(found)["traceresponse"] == f"{trace}{span.context.span_id:016x}-01"
