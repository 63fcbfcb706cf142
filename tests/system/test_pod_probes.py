"""What the probes of the manifests say of their pods while PostgreSQL goes away and comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.factories import bundle
from tests.servers import ROOT, Server, start_postgresql
from tests.system.chart_values import SECRETS
from tests.system.cluster import Cluster

pytestmark = [pytest.mark.rare, pytest.mark.system]

LOAD = "/api/v1/capability_skill_load?capability_id="


@pytest.fixture
def database() -> Iterator[Server]:
    """Of this test alone, which takes it away."""
    server = start_postgresql()
    yield server
    server.stop()


@pytest.fixture
def pods(database: Server, redis_url: str, examined: dict[str, Any], tmp_path: Path) -> Iterator[Cluster]:
    secrets = {"SECRET_KEY": SECRETS["SECRET_KEY"], "DATABASE_URL": database.url, "REDIS_URL": redis_url}
    manifests = examined["sets"]["a secret of one's own"]["manifests"]
    found = Cluster(manifests, tmp_path, secrets, EMBEDDER="none")
    try:
        found.build()
        assert found.start("migrate", "migrate").wait(120) == 0, found.logs()
        for name, kind in (("agents-0", "web-agents"), ("worker", "worker"), ("celery", "celery-main")):
            found.start(name, kind)
        found.await_ready("agents-0")
        found.wait(lambda: found.is_well("worker", "liveness"))
        found.wait(lambda: found.is_well("celery", "liveness"))
        yield found
    finally:
        found.stop()


def _publish(client: httpx2.Client, name: str) -> bool:
    body = {"bundles": [{"path": name, "files": bundle(name)}]}
    return bool(client.post("/api/v1/operator/bundle_publish", json=body).status_code == 200)


def _is_stale(client: httpx2.Client) -> bool:
    return "Warning" in client.get("/api/v1/capability_registry_list").headers


def test_pods_outlive_an_outage_of_the_database_and_go_on_serving_what_they_hold(
    pods: Cluster, database: Server
) -> None:
    key = pods.run(ROOT, "agent_key", "create", "all", "--scopes", "read,publish")
    with pods.client("agents-0", key) as client:
        pods.wait(lambda: _publish(client, "alpha"))
        pods.wait(lambda: client.get(LOAD + "alpha").status_code == 200)
        held = client.get(LOAD + "alpha").content
        database.end()
        pods.wait(lambda: _is_stale(client))
        _assert_they_stay(pods, client, held)
        # One that starts now holds nothing: it gets no requests before it has reached the database.
        pods.start("agents-1", "web-agents")
        pods.wait(lambda: httpx2.get(f"http://127.0.0.1:{pods.ports['agents-1']}/healthz").status_code == 200)
        assert not pods.is_well("agents-1", "startup")

        seen = (pods.folder / "worker" / "alive").stat().st_mtime
        database.start_again()
        pods.await_ready("agents-0", "agents-1")
        pods.wait(lambda: not _is_stale(client))
        pods.wait(lambda: _publish(client, "beta"))
        with pods.client("agents-1", key) as other:
            for name in ("alpha", "beta"):
                pods.wait(lambda name=name: other.get(LOAD + name).status_code == 200)  # type: ignore[misc]
        # The worker has found it again by itself, and jobs are done.
        pods.wait(lambda: (pods.folder / "worker" / "alive").stat().st_mtime > seen)
        pods.wait(lambda: 'studio_jobs{state="queued"} 0.0' in client.get("/metrics").text, seconds=90)
    running = {name: pods.running[name].poll() for name in ("agents-0", "agents-1", "worker", "celery")}
    assert set(running.values()) == {None}, running
    assert pods.is_well("worker", "liveness")
    assert pods.is_well("celery", "liveness")


def _assert_they_stay(pods: Cluster, client: httpx2.Client, held: bytes) -> None:
    """For longer than it takes to be called not ready."""
    asked = pods.containers["web-agents"]["readinessProbe"]
    ends = time.monotonic() + asked["periodSeconds"] * (asked["failureThreshold"] + 1)
    while time.monotonic() < ends:
        assert pods.is_well("agents-0", "liveness")
        assert pods.is_well("agents-0", "readiness")
        load = client.get(LOAD + "alpha")
        assert (load.status_code, load.content, load.headers["Warning"][:3]) == (200, held, "110")
        time.sleep(1)
    assert pods.is_well("worker", "liveness")
    assert pods.is_well("celery", "liveness")
