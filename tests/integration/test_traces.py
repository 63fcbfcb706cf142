"""Real processes send their spans to a real collector over OTLP/HTTP, and do without it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.collectors import Collector, Span
from tests.factories import bundle
from tests.integration.test_worker import CELERY, _desk
from tests.receivers import Receiver, hang
from tests.servers import Studio, free_port, start_studio

pytestmark = pytest.mark.slow

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = f"00-{TRACE}-00f067aa0ba902b7-01"
SECRET_WORDS = "my-secret-medical-question"
LOAD = "/api/v1/capability_skill_load?capability_id=introduction"
# Spans are sent each second.
QUICK = {"OTEL_BSP_SCHEDULE_DELAY": "300", "OTEL_METRIC_EXPORT_INTERVAL": "300"}


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.stop()


def await_spans(collector: Collector, name: str, matches: Callable[[Span], bool] = lambda _: True) -> list[Span]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if found := collector.find(name, matches):
            return found
        time.sleep(0.05)
    raise AssertionError(f"no span {name}; there are {sorted({span.name for span in collector.spans})}")


def serve(folder: Path, endpoint: str, **settings: str) -> tuple[Studio, httpx2.Client]:
    studio = start_studio(
        folder, LOG_FORMAT="json", WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8", EMBEDDER="none",
        OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, **QUICK, **settings,
    )  # fmt: skip
    key = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
    client = httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    deadline = time.monotonic() + 10
    while client.get(LOAD).status_code == 401 and time.monotonic() < deadline:
        time.sleep(0.1)
    return studio, client


def mcp(client: httpx2.Client, name: str, arguments: dict[str, Any], **more: Any) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments, **more},
    }
    assert client.post("/mcp", json=message, headers={"Accept": "application/json"}).status_code == 200


def test_every_kind_of_work_is_a_span_of_its_callers_trace(tmp_path: Path, collector: Collector) -> None:
    receiver = Receiver()
    studio, client = serve(tmp_path, collector.url)
    try:
        studio.manage("webhook", "create", "chat", "--url", receiver.url)
        _check_warm_reads(client, collector)
        _check_application(client, collector)
        _check_mcp(client, collector)
        _check_publish_and_its_jobs(studio, client, collector, receiver)
        _check_metrics(collector)
        _check_logs(studio)
        _check_what_is_not_sent(client, collector)
    finally:
        client.close()
        studio.stop()
        receiver.stop()


def _check_warm_reads(client: httpx2.Client, collector: Collector) -> None:
    answers = [client.get(LOAD, headers={"traceparent": f"00-{TRACE}-00f067aa0ba90{n:03x}-01"}) for n in range(1, 30)]
    spans = await_spans(collector, "GET /api/v1/capability_skill_load", lambda span: span.parent == "00f067aa0ba9001d")
    assert {answer.status_code for answer in answers} == {200}
    (span,) = spans
    assert answers[-1].headers["traceresponse"] == f"00-{TRACE}-{span.id}-01"
    assert span.resource["service.name"] == "capability-studio"
    assert span.resource["service.version"]
    assert span.resource["studio.process.role"] == "gateway"
    assert (span.kind, span.trace, span.is_error) == ("server", TRACE, False)
    assert span.attributes == {
        "http.request.method": "GET",
        "http.route": "/api/v1/capability_skill_load",
        "url.path": "/api/v1/capability_skill_load",
        "url.scheme": "http",
        "http.response.status_code": 200,
        "studio.warm_read": True,
        "studio.capability_id": "introduction",
    }
    # Each of them, and each once.
    wanted = {f"00f067aa0ba90{n:03x}" for n in range(1, 30)}
    deadline = time.monotonic() + 10
    while not wanted <= {one.parent for one in collector.spans} and time.monotonic() < deadline:
        time.sleep(0.1)
    parents = [one.parent for one in collector.spans if one.parent in wanted]
    assert sorted(parents) == sorted(wanted)
    # Without a trace of the caller's, each begins one.
    assert client.get(LOAD).headers["traceresponse"][3:35] not in (TRACE, "0" * 32)


def _check_application(client: httpx2.Client, collector: Collector) -> None:
    answer = client.post(
        "/api/v1/capability_match", json={"message": SECRET_WORDS}, headers={"traceparent": CALLER, "tracestate": "a=b"}
    )
    (server,) = await_spans(collector, "POST /api/v1/capability_match")
    (match,) = await_spans(collector, "match message")
    assert answer.headers["traceresponse"] == f"00-{TRACE}-{server.id}-01"
    assert (server.trace, server.parent, server.kind) == (TRACE, "00f067aa0ba902b7", "server")
    assert server.resource["studio.process.role"] == "web"
    assert server.attributes["http.response.status_code"] == 200
    assert (match.trace, match.parent) == (TRACE, server.id)
    assert match.attributes == {"studio.match.decision": "none", "studio.match.characters": len(SECRET_WORDS)}
    # A route with a token has no path, and a refusal is not an error of the server.
    client.get("/welcome/1/hush-hush/", headers={"traceparent": CALLER})
    (welcome,) = await_spans(collector, "GET /welcome/<int:number>/<str:token>/")
    assert "url.path" not in welcome.attributes
    assert not welcome.is_error
    queries = [span for span in collector.spans if span.parent == welcome.id and span.kind == "client"]
    assert queries
    assert all(span.attributes["db.system.name"] == "sqlite" for span in queries)


def _check_mcp(client: httpx2.Client, collector: Collector) -> None:
    mcp(client, "capability_skill_load", {"capability_id": "introduction"})
    mcp(client, "capability_skill_load", {"capability_id": "nothing_of_this_name"})
    name = "tools/call capability_skill_load"
    (good,) = await_spans(collector, name, lambda span: span.attributes.get("studio.capability_id") == "introduction")
    (bad,) = await_spans(collector, name, lambda span: span.is_error)
    assert good.attributes["gen_ai.tool.name"] == "capability_skill_load"
    assert good.attributes["gen_ai.operation.name"] == "execute_tool"
    assert good.attributes["mcp.method.name"] == "tools/call"
    assert "error.type" not in good.attributes
    assert (bad.attributes["error.type"], bad.attributes["studio.error.code"]) == ("tool_error", "CAPABILITY_NOT_FOUND")
    # Below the span of its request; where the message names a span, below that one, with a link.
    posts = {span.id for span in await_spans(collector, "POST /mcp")}
    assert good.parent in posts
    mcp(client, "capability_skill_load", {"capability_id": "introduction"}, _meta={"traceparent": CALLER})
    (told,) = await_spans(collector, name, lambda span: span.parent == "00f067aa0ba902b7")
    (post,) = await_spans(collector, "POST /mcp", lambda span: span.id in told.links)
    assert post.trace != told.trace


def _check_publish_and_its_jobs(
    studio: Studio, client: httpx2.Client, collector: Collector, receiver: Receiver
) -> None:
    body = {"bundles": [{"path": "alpha", "files": bundle("alpha")}]}
    answer = client.post("/api/v1/operator/bundle_publish", json=body, headers={"traceparent": CALLER})
    assert answer.json()["results"][0]["status"] == "published", answer.text
    (publish,) = await_spans(collector, "publish capability")
    (server,) = await_spans(collector, "POST /api/v1/operator/bundle_publish")
    assert (publish.trace, publish.parent) == (TRACE, server.id)
    assert publish.attributes["studio.capability_id"] == "alpha"
    assert publish.attributes["studio.publish.status"] == "published"
    for name in ("evaluate gate", "sign revision", "commit"):
        (below,) = await_spans(collector, name, lambda span: span.parent == publish.id)
        assert (below.trace, below.is_error) == (TRACE, False), name
    (check,) = await_spans(collector, "validate bundle", lambda span: span.parent == server.id)
    assert check.attributes == {"studio.capability_id": "alpha", "studio.errors": 0, "studio.warnings": 0}
    studio.manage("worker", "--once")
    (job,) = await_spans(collector, "job webhook.deliver")
    assert job.resource["studio.process.role"] == "worker"
    assert (job.kind, job.trace, job.attributes["studio.job.result"]) == ("consumer", TRACE, "done")
    assert job.parent in {span.id for span in collector.spans}
    (post,) = await_spans(collector, "POST", lambda span: span.parent == job.id)
    assert receiver.requests[0].headers["traceparent"] == f"00-{TRACE}-{post.id}-01"
    assert post.attributes == {
        "http.request.method": "POST",
        "server.address": "127.0.0.1",
        "server.port": receiver.port,
        "http.response.status_code": 200,
    }


def _check_logs(studio: Studio) -> None:
    lines = [json.loads(line) for line in studio.server.log.read_text().splitlines()]
    traced = [
        line for line in lines if line.get("route") == "operator:bundle_publish" or "publish" in str(line.get("route"))
    ]
    assert {line["trace_id"] for line in traced} == {TRACE}


def _check_metrics(collector: Collector) -> None:
    """Of each role what `/metrics` shows there, of the same kind."""
    wanted = {
        ("web", "studio_http_requests", "sum"),
        ("web", "studio_http_request_duration_seconds", "histogram"),
        ("web", "studio_jobs", "gauge"),
        ("worker", "studio_job_runs", "sum"),
    }
    deadline = time.monotonic() + 20
    while not wanted <= collector.metrics and time.monotonic() < deadline:
        time.sleep(0.1)
    assert wanted <= collector.metrics, wanted - collector.metrics


def _check_what_is_not_sent(client: httpx2.Client, collector: Collector) -> None:
    sent = b"".join(collector.bodies)
    key = client.headers["Authorization"].removeprefix("Bearer ")
    for secret in (SECRET_WORDS, "hush-hush", key, "hook?x=1", "Answer in one sentence"):
        assert secret.encode() not in sent, secret


def test_nothing_is_sent_and_nothing_added_when_it_is_off(tmp_path: Path, collector: Collector) -> None:
    studio, client = serve(tmp_path, collector.url, OTEL_SDK_DISABLED="true")
    try:
        warm = page = client.get(LOAD)
        for _ in range(5):
            warm = client.get(LOAD, headers={"traceparent": CALLER})
            page = client.post("/api/v1/capability_match", json={"message": "x"}, headers={"traceparent": CALLER})
        body = {"bundles": [{"path": "alpha", "files": bundle("alpha")}]}
        assert client.post("/api/v1/operator/bundle_publish", json=body).status_code == 200
        studio.manage("worker", "--once")
        time.sleep(1)
    finally:
        client.close()
        studio.stop()
    assert "traceresponse" not in warm.headers
    assert "traceresponse" not in page.headers
    assert "trace_id" not in studio.server.log.read_text()
    assert collector.bodies == []


@pytest.mark.parametrize("is_silent", [True, pytest.param(False, marks=pytest.mark.rare)], ids=["silent", "away"])
def test_a_dead_collector_delays_nothing_and_loses_no_request(tmp_path: Path, is_silent: bool) -> None:
    silent = Receiver(reply=hang)
    studio, client = serve(tmp_path, f"http://127.0.0.1:{silent.port if is_silent else free_port()}")
    seconds = []
    try:
        for number in range(600):
            began = time.monotonic()
            answer = (
                client.get(LOAD) if number % 4 else client.post("/api/v1/capability_match", json={"message": "hello"})
            )
            seconds.append(time.monotonic() - began)
            assert answer.status_code in (200, 429), answer.text
        body = {"bundles": [{"path": "alpha", "files": bundle("alpha")}]}
        assert client.post("/api/v1/operator/bundle_publish", json=body).json()["results"][0]["status"] == "published"
        client.close()
        began = time.monotonic()
        studio.server.end()
        end_seconds = time.monotonic() - began
    finally:
        studio.stop()
        silent.stop()
    # An export waits for 10 s; no request does, and neither does the end of the process.
    assert sorted(seconds)[590] < 0.5
    assert end_seconds < 6
    # One line says that nothing arrives.
    said = [line for line in studio.server.log.read_text().splitlines() if "opentelemetry" in line]
    assert len(said) <= 2


@pytest.mark.rare
def test_a_worker_of_celery_sends_its_own(
    request: pytest.FixtureRequest, tmp_path: Path, collector: Collector, redis_url: str
) -> None:
    """In the process that does the job, which was forked from the one that was started."""
    settings = {"REDIS_URL": redis_url, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **QUICK}
    for desk in _desk("postgresql", request, tmp_path, **settings):
        desk.start(*CELERY)
        job_id = desk.enqueue()
        desk.wait_for(job_id, "done")
        (job,) = await_spans(collector, "job slow")
        assert job.resource["studio.process.role"] == "celery"
        assert (job.attributes["studio.job.id"], job.attributes["studio.job.result"]) == (job_id, "done")
        assert [span for span in collector.spans if span.parent == job.id and span.name == "commit"]
