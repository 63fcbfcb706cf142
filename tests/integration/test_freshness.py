"""What another process publishes or revokes is seen over HTTP within a second, on both databases."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.integration.conftest import Site, new_database, on_postgresql
from tests.servers import Studio, start_studio

pytestmark = pytest.mark.slow

# The promise is 1 s; a busy machine is given time, since a clock must not decide a test. The delays are printed.
BOUND_SECONDS = 10.0
PUBLISHES = 8


# Within one process of SQLite, which every other test has, there is less to hear of.
@pytest.fixture(scope="module", params=[pytest.param("sqlite", marks=pytest.mark.rare), "postgresql"])
def studio(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    settings = {}
    if request.param == "postgresql":
        template = request.getfixturevalue("migrated_postgresql")
        settings = on_postgresql(new_database(request.getfixturevalue("postgresql_url"), template))
    studio = start_studio(tmp_path_factory.mktemp("studio"), EXAMPLES="off", **settings)
    yield studio
    studio.stop()


def _elsewhere(studio: Studio, *arguments: str) -> tuple[threading.Thread, dict[str, Any]]:
    """Run publisher.py in a process of its own; its document is there when the thread has ended."""
    found: dict[str, Any] = {}
    site = Site("", studio.env)
    thread = threading.Thread(target=lambda: found.update(site.run("publisher.py", *arguments)))
    thread.start()
    return thread, found


def test_a_publish_is_seen_within_a_second(studio: Studio, record_property: Any) -> None:
    thread, committed = _elsewhere(studio, "publish", str(PUBLISHES))
    seen: dict[str, float] = {}
    with httpx2.Client(base_url=studio.url) as client:
        while thread.is_alive():
            response = client.get("/api/v1/capability_skill_load?capability_id=fresh")
            if response.status_code == 200:
                seen.setdefault(str(response.json()["revision"]), time.time())
            time.sleep(0.005)
    thread.join()
    delays = sorted(seen[revision] - at for revision, at in committed.items())
    record_property("delays_seconds", [round(delay, 3) for delay in delays])
    print("publish seen after", [round(delay, 3) for delay in delays])
    assert len(delays) == PUBLISHES
    assert delays[-1] < BOUND_SECONDS


def test_a_revoked_key_is_refused_within_a_second(studio: Studio) -> None:
    key = studio.manage("agent_key", "create", "agent").stdout.strip()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=studio.url, headers=headers) as client:
        deadline = time.monotonic() + 5
        while client.get("/api/v1/capability_registry_list").status_code != 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert client.get("/api/v1/capability_registry_list").status_code == 200
        thread, found = _elsewhere(studio, "revoke", "agent")
        refused = None
        while thread.is_alive() or (refused is None and time.time() < found["revoked"] + 5):
            if client.get("/api/v1/capability_registry_list").status_code == 401:
                refused = refused or time.time()
                break
            time.sleep(0.005)
        thread.join()
    assert refused is not None
    print("revocation seen after", round(refused - found["revoked"], 3))
    assert refused - found["revoked"] < BOUND_SECONDS


@pytest.mark.parametrize("studio", ["sqlite", "postgresql"], indirect=True)
def test_whoever_publishes_over_http_reads_it_at_once(studio: Studio) -> None:
    from tests.factories import bundle

    key = studio.manage("agent_key", "create", "pipeline", "--scopes", "publish,read").stdout.strip()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=f"{studio.url}/api/v1", headers=headers, timeout=30) as client:
        time.sleep(1.2)
        for number in range(5):
            body = {"bundles": [{"path": "x", "files": bundle("fresh", body=f"Number {number}.")}]}
            (row,) = client.post("/operator/bundle_publish", json=body).json()["results"]
            loaded = client.get("/capability_skill_load?capability_id=fresh").json()
            assert (row["status"], loaded["revision"]) == ("published", row["revision"])


@pytest.mark.parametrize("studio", ["postgresql"], indirect=True)
def test_it_hears_again_after_its_connections_were_cut(studio: Studio) -> None:
    import psycopg

    with psycopg.connect(studio.env["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with httpx2.Client(base_url=studio.url) as client:
        assert client.get("/api/v1/capability_registry_list").status_code == 200
        thread, committed = _elsewhere(studio, "publish", "1")
        thread.join()
        ((revision, at),) = committed.items()
        while True:
            response = client.get("/api/v1/capability_skill_load?capability_id=fresh")
            if response.status_code == 200 and str(response.json()["revision"]) == revision:
                break
            assert time.time() < at + BOUND_SECONDS
            time.sleep(0.01)
        assert "Warning" not in response.headers
