"""`/metrics`: who may read it, and that each figure moves with what it counts."""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from agent_api.fast_path import LIST, SERVED_COUNTS
from agent_api.metrics.exposition import collect_from
from capability_rules.validation import RULES_VERSION
from registry.core.jobs import queue
from registry.core.jobs.run_counts import RUN_COUNTS
from registry.core.transactions import write_transaction
from registry.models import Job, Revision
from registry.operations.worker_metrics import WORKER_REGISTRY
from registry.snapshot import STORE
from tests.factories import bearer, damage, publish
from tests.servers import ROOT

pytestmark = pytest.mark.django_db

LOAD = "/api/v1/capability_skill_load"


def figures(client: Client, **options: Any) -> dict[str, float]:
    """`{name{labels}: value}` of one scrape."""
    answer = client.get("/metrics", **options)
    assert answer.status_code == 200, answer.content
    found = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_it_is_what_prometheus_reads(client: Client) -> None:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "process_resident_memory_bytes" in figures(client)
    assert "_created" not in answer.content.decode()
    assert client.head("/metrics").status_code == 200


def test_names_follow_the_conventions() -> None:
    for family in collect_from().collect():
        if family.name.startswith("studio_"):
            assert re.fullmatch(r"[a-z_]+", family.name), family.name
            assert family.documentation
            assert not family.name.endswith(("_ms", "_milliseconds", "_kb", "_count"))


def test_a_closed_registry_asks_for_a_key(client: Client, closed: None) -> None:
    answer = client.get("/metrics")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert client.get("/metrics", headers=bearer("publish")).status_code == 403
    assert client.get("/metrics", headers=bearer("read")).status_code == 200


def test_a_key_limited_to_groups_gets_no_figures_of_the_rest(client: Client, closed: None) -> None:
    """It read counts of capabilities and jobs, sign-ins and routes of the whole registry."""
    answer = client.get("/metrics", headers=bearer("read", groups=["health"]))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")


def test_other_methods_are_refused(client: Client) -> None:
    answer = client.post("/metrics")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == "GET, HEAD"


def test_any_name_will_do_where_a_key_is_needed(client: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["studio.example.com"]
    settings.AGENT_API_PUBLIC_READ = False
    assert client.get("/metrics", headers={**bearer(), "Host": "10.9.8.7:8000"}).status_code == 200
    settings.AGENT_API_PUBLIC_READ = True
    assert client.get("/metrics", headers={"Host": "10.9.8.7:8000"}).status_code == 400


def test_requests_are_counted_by_route(client: Client) -> None:
    before = figures(client)
    for path in ("/api/v1/capability_registry_list", "/nowhere/<secret>", "/nowhere/2", "/sign-in/", "/api/v1/nothing"):
        client.get(path)
    client.generic("BREW", "/healthz")
    after = figures(client)
    moved = {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}
    requests = {name: value for name, value in moved.items() if name.startswith("studio_http_requests_total")}
    assert requests == {
        'studio_http_requests_total{method="GET",route="capability_registry_list",status="200"}': 1,
        'studio_http_requests_total{method="GET",route="metrics",status="200"}': 1,
        'studio_http_requests_total{method="GET",route="studio:sign_in",status="200"}': 1,
        'studio_http_requests_total{method="GET",route="unknown",status="404"}': 3,
        'studio_http_requests_total{method="other",route="healthz",status="405"}': 1,
    }
    assert moved['studio_http_request_duration_seconds_count{route="capability_registry_list"}'] == 1


def test_loads_misses_and_malformed_answers_are_counted(client: Client) -> None:
    publish()
    publish("beta")
    before = figures(client)
    for _ in range(3):
        assert client.get(LOAD, {"capability_id": "alpha"}).status_code == 200
    for _ in range(2):
        assert client.get(LOAD, {"capability_id": "nobody"}).status_code == 404
    damage(Revision.objects.get(capability__capability_id="beta"), skill_md="# Other")
    for _ in range(2):
        assert client.get(LOAD, {"capability_id": "beta"}).status_code == 422
    after = figures(client)

    def moved(name: str) -> float:
        return after[name] - before[name]

    assert moved("studio_capability_loads_total") == 3
    assert moved("studio_demand_misses_total") == 2
    assert moved("studio_malformed_answers_total") == 2
    assert (moved("studio_bodies_hits_total"), moved("studio_bodies_misses_total")) == (2, 3)
    assert after["studio_bodies_entries"] == 2
    assert 0 < after["studio_bodies_bytes"] < after["studio_bodies_limit_bytes"]
    assert after["studio_open_incidents"] == 1


def test_refused_calls_are_counted(client: Client, settings: Settings, closed: None) -> None:
    from studio.config.parsers import Rate

    key = bearer()
    settings.RATE_LIMITS = {"guess": Rate(1, 60)}
    name = 'studio_rate_limited_total{limit="guess"}'
    before = figures(client, headers=key)[name]
    codes = [client.get(LOAD, headers={"Authorization": "Bearer x"}).status_code for _ in range(3)]
    assert codes == [401, 429, 429]
    assert figures(client, headers=key)[name] == before + 2


def test_the_registry_is_described(client: Client) -> None:
    publish()
    publish("beta")
    bearer()
    found = figures(client)
    assert found["studio_registry_revision"] == 2
    assert found["studio_access_revision"] == STORE.snapshot.access_revision > 0
    assert found["studio_snapshot_stale"] == 0
    assert 0 <= found["studio_snapshot_age_seconds"] < 60
    assert found['studio_capabilities{status="published"}'] == 2
    assert found['studio_capabilities{status="retired"}'] == 0
    assert found["studio_database_up"] == 1
    version = django_settings.STUDIO_VERSION
    assert found[f'studio_build_info{{rules_version="{RULES_VERSION}",version="{version}"}}'] == 1


def test_jobs_are_described(client: Client) -> None:
    with write_transaction():
        queue.enqueue("jobs.prune", {})
        later, _ = queue.enqueue("usage.rollup", {}, run_after=timezone.now() + timedelta(days=1))
    Job.objects.exclude(pk=later.pk).update(run_after=timezone.now() - timedelta(minutes=5))
    found = figures(client)
    assert found['studio_jobs{state="queued"}'] == 2
    assert found['studio_jobs{state="parked"}'] == 0
    assert found["studio_jobs_oldest_due_age_seconds"] == pytest.approx(300, abs=30)


def test_the_database_is_away(client: Client) -> None:
    publish()
    assert figures(client)["studio_database_up"] == 1

    def fail(*args: Any) -> Any:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(fail):
        found = figures(client)
    assert found["studio_database_up"] == 0
    assert found["studio_snapshot_stale"] == 1
    assert found["studio_registry_revision"] == 1
    assert not [name for name in found if name.startswith(("studio_jobs", "studio_capabilities", "studio_open"))]


def test_no_warm_answer_is_lost_among_threads() -> None:
    before = SERVED_COUNTS[LIST, True]

    def answer() -> None:
        for _ in range(50_000):
            SERVED_COUNTS[LIST, True] += 1

    threads = [threading.Thread(target=answer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert SERVED_COUNTS[LIST, True] == before + 200_000


def _families() -> list[Metric]:
    """Of a web process, and what a worker alone has."""
    RUN_COUNTS.add("jobs.prune", "done", 0.1)
    of_worker = [family for family in WORKER_REGISTRY.collect() if family.name.startswith("studio_job_")]
    return [*collect_from().collect(), *of_worker]


def test_the_docs_name_every_metric_and_no_other(client: Client) -> None:
    client.get("/metrics")
    suffix = {"counter": "_total", "info": "_info"}
    exported = {
        family.name + suffix.get(family.type, ""): set().union(*(sample.labels for sample in family.samples)) - {"le"}
        for family in _families()
        if family.name.startswith("studio_")
    }
    text = (ROOT / "docs/operate.md").read_text("utf-8")
    table = re.findall(r"^\| `(studio_\w+)` \| ([^|]*)\|", text, re.MULTILINE)
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in table} == exported


def test_the_docs_ask_for_metrics_that_exist(client: Client) -> None:
    client.get("/metrics")
    samples = {sample.name for family in _families() for sample in family.samples}
    text = (ROOT / "docs/operate.md").read_text("utf-8")
    # The whole document, so that no rule is passed over.
    asked = set(re.findall(r"\b(studio_[a-z_]+[a-z])\b(?!\.)", text))
    families = {"studio_http_request_duration_seconds"}
    assert asked - samples - families == set()


def test_vectors_that_a_job_has_yet_to_make_are_counted(client: Client) -> None:
    assert figures(client)["studio_vectors_missing"] == 0
    Job.objects.create(kind="matching.learn", payload={"made": 64, "total": 100})
    assert figures(client)["studio_vectors_missing"] == 36
