"""Whoever holds a lock for too long makes others fail, with 503 and nothing half done, and not wait for ever."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import psycopg
import pytest

from tests.factories import bundle
from tests.integration.conftest import new_database, on_postgresql
from tests.servers import Studio, start_studio

pytestmark = pytest.mark.slow

HOLD = "SELECT * FROM registry_registrystate FOR UPDATE"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, postgresql_url: str) -> Iterator[Studio]:
    """With limits of a second or two."""
    url = new_database(postgresql_url)
    limits = {"DATABASE_STATEMENT_TIMEOUT_SECONDS": "2", "DATABASE_LOCK_TIMEOUT_SECONDS": "1"}
    studio = start_studio(tmp_path_factory.mktemp("studio"), EXAMPLES="on", **on_postgresql(url), **limits)
    yield studio
    studio.stop()


@contextmanager
def _client(studio: Studio) -> Iterator[httpx2.Client]:
    name = f"pipeline {time.time_ns()}"
    key = studio.manage("agent_key", "create", name, "--scopes", "read,publish").stdout.strip()
    with httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        deadline = time.monotonic() + 10
        while not client.get("/api/v1/operator/bundle_list").is_success:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield client


def _publish(client: httpx2.Client) -> httpx2.Response:
    body = {"bundles": [{"path": "alpha", "files": bundle()}]}
    return client.post("/api/v1/operator/bundle_publish", json=body)


def _busy(response: httpx2.Response) -> None:
    assert (response.status_code, response.json()["error"]["code"]) == (503, "REGISTRY_UNAVAILABLE"), response.text
    assert "busy" in response.json()["error"]["message"]
    assert int(response.headers["Retry-After"]) > 0


def test_a_publish_behind_another_lock_is_refused_whole(studio: Studio) -> None:
    with _client(studio) as client, psycopg.connect(studio.env["DATABASE_URL"]) as holder:
        tables = ("revision", "release", "draft", "auditevent", "job", "capability")
        counts = [f"SELECT count(*) FROM registry_{name}" for name in tables]
        holder.execute(HOLD)
        before = [holder.execute(count.encode()).fetchall() for count in counts]
        began = time.monotonic()
        _busy(_publish(client))
        assert 0.9 < time.monotonic() - began < 5
        assert [holder.execute(count.encode()).fetchall() for count in counts] == before
        # Reads take no lock.
        assert "Warning" not in client.get("/api/v1/capability_registry_list").headers
        holder.rollback()
        assert _publish(client).json()["results"][0]["status"] == "published"


def test_a_read_behind_a_locked_table_is_refused(studio: Studio) -> None:
    with _client(studio) as client, psycopg.connect(studio.env["DATABASE_URL"]) as holder:
        holder.execute("LOCK TABLE registry_capability IN ACCESS EXCLUSIVE MODE")
        _busy(client.get("/api/v1/operator/bundle_list"))
        holder.rollback()
        assert client.get("/api/v1/operator/bundle_list").is_success


def test_a_command_waits(studio: Studio, tmp_path: Path) -> None:
    folder = tmp_path / "beta"
    folder.mkdir()
    for name, text in bundle("beta").items():
        (folder / name).write_text(text)
    with psycopg.connect(studio.env["DATABASE_URL"]) as holder:
        holder.execute(HOLD)
        timer = threading.Timer(5, holder.rollback)
        timer.start()
        done = studio.manage("bundle", "publish", str(folder))
        timer.join()
    assert "published" in done.stdout


def test_listening_is_no_statement(studio: Studio) -> None:
    """Longer than any limit, and what another process publishes is still heard at once."""
    with _client(studio) as client:
        time.sleep(4)
        listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query LIKE '%registrystate%'"
        with psycopg.connect(studio.env["DATABASE_URL"]) as connection:
            assert connection.execute(listening).fetchall()[0][0] >= 1
        assert "Warning" not in client.get("/api/v1/capability_registry_list").headers
    log = studio.server.log.read_text()
    assert "away" not in log, log


def test_a_file_that_another_holds_is_busy(tmp_path: Path) -> None:
    studio = start_studio(tmp_path, EXAMPLES="off")
    try:
        with _client(studio) as client:
            path = tmp_path / "studio.sqlite3"
            with closing(sqlite3.connect(path, isolation_level=None)) as holder:
                holder.execute("BEGIN IMMEDIATE")
                began = time.monotonic()
                _busy(_publish(client))
                print(f"refused after {time.monotonic() - began:.1f} s")
                assert client.get("/api/v1/capability_registry_list").is_success
                holder.execute("ROLLBACK")
            assert _publish(client).json()["results"][0]["status"] == "published"
    finally:
        studio.stop()
