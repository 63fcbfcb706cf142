"""PostgreSQL is taken away from a running product and brought back: what is held goes on being served, everything else
is a 503, and afterwards all is well within seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import psycopg
import pytest

from tests.factories import bundle
from tests.integration.conftest import on_postgresql
from tests.servers import Server, Studio, start_postgresql, start_studio

pytestmark = pytest.mark.slow

# From the moment at which the server takes connections again.
RECOVERY_SECONDS = 10.0
# A server that refuses is noticed within a second, one that hangs after five of silence and five for a new connection.
NOTICE_SECONDS = 30.0


@dataclass
class Case:
    """A product on a PostgreSQL of its own, with one capability held in memory and a key that may write."""

    database: Server
    studio: Studio
    client: httpx2.Client
    key: dict[str, str]
    held: bytes
    paused: bool

    def take_away(self) -> None:
        if self.paused:
            self.database.pause()
        else:
            self.database.end()

    def bring_back(self) -> None:
        """Returns once the server takes connections."""
        if self.paused:
            self.database.resume()
        else:
            self.database.start_again()
        wait_until(self.accepts, 30)

    def accepts(self) -> bool:
        try:
            psycopg.connect(self.database.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def publish(self, name: str) -> httpx2.Response:
        body = {"bundles": [{"path": name, "files": bundle(name)}]}
        return self.client.post("/api/v1/operator/bundle_publish", json=body, headers=self.key)

    def is_stale(self) -> bool:
        return "Warning" in self.client.get("/api/v1/capability_registry_list").headers


def wait_until(is_true: Callable[[], bool], seconds: float) -> float:
    """How long it took."""
    began = time.monotonic()
    while not is_true():
        assert time.monotonic() - began < seconds
        time.sleep(0.02)
    return time.monotonic() - began


@pytest.fixture(scope="module", params=["stopped", pytest.param("paused", marks=pytest.mark.rare)])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    """One for each way: what has recovered is like new."""
    database = start_postgresql()
    studio = None
    try:
        folder = tmp_path_factory.mktemp("studio")
        studio = start_studio(folder, EXAMPLES="on", **on_postgresql(database.url))
        key = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
        with httpx2.Client(base_url=studio.url, timeout=60) as client:
            held = client.get("/api/v1/capability_skill_load?capability_id=weights").content
            headers = {"Authorization": f"Bearer {key}"}
            yield Case(database, studio, client, headers, held, request.param == "paused")
            database.resume()
    finally:
        if studio is not None:
            studio.stop()
        database.stop()


def _refused(response: httpx2.Response) -> None:
    assert (response.status_code, response.json()["error"]["code"]) == (503, "REGISTRY_UNAVAILABLE")
    assert int(response.headers["Retry-After"]) > 0


def test_it_serves_what_it_holds_and_recovers_within_seconds(case: Case) -> None:
    wait_until(lambda: case.publish("before").is_success, 10)
    case.take_away()
    noticed = wait_until(case.is_stale, NOTICE_SECONDS)
    print(f"noticed after {noticed:.1f} s")
    _serves_what_it_holds(case)
    time.sleep(3)
    case.bring_back()
    began = time.monotonic()
    fresh = wait_until(lambda: not case.is_stale(), RECOVERY_SECONDS)
    wait_until(lambda: case.client.get("/readyz").status_code == 200, RECOVERY_SECONDS)
    wait_until(lambda: case.publish("after").is_success, RECOVERY_SECONDS)
    seconds = time.monotonic() - began
    print(f"fresh after {fresh:.2f} s, written after {seconds:.2f} s")
    assert seconds <= RECOVERY_SECONDS
    load = case.client.get("/api/v1/capability_skill_load?capability_id=after")
    assert (load.status_code, "Warning" in load.headers) == (200, False)


def _serves_what_it_holds(case: Case) -> None:
    client = case.client
    began = time.monotonic()
    load = client.get("/api/v1/capability_skill_load?capability_id=weights")
    assert (load.status_code, load.content) == (200, case.held)
    assert load.headers["Warning"].startswith("110")
    reload = client.post("/api/v1/capability_skill_reload", json={"capability_id": "weights"})
    assert (reload.status_code, reload.content) == (200, case.held)
    _refused(client.get("/api/v1/capability_skill_load?capability_id=workouts"))
    _refused(client.get("/api/v1/capability_skill_load?capability_id=nobody"))
    _refused(client.post("/api/v1/operator/capability_retire", json={"capability_id": "weights"}, headers=case.key))
    _refused(case.publish("away"))
    assert client.get("/healthz").status_code == 200
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (503, {"ready": False, "database": "away"})
    scrape = client.get("/metrics")
    assert (scrape.status_code, "studio_database_up 0.0" in scrape.text) == (200, True)
    port = case.studio.env["PORT"]
    page = client.get("/capabilities/", headers={"Cookie": f"studio_session_{port}={'x' * 32}"})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    print(f"twelve answers took {time.monotonic() - began:.2f} s")
    # Known to be away, it is not waited for: twelve waits of five seconds would be far beyond.
    assert time.monotonic() - began < 20


def test_nobody_is_kept_waiting_by_what_was_under_way(case: Case) -> None:
    """More writes than threads, begun before anybody knows."""
    answers: list[httpx2.Response] = []
    wait_until(lambda: case.publish("before_loss").is_success, 10)
    case.take_away()
    began = time.monotonic()
    threads = [threading.Thread(target=lambda n=n: answers.append(case.publish(f"lost_{n}"))) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    print(f"six writes were refused after {time.monotonic() - began:.1f} s")
    assert len(answers) == 6
    # The threads were joined with a bound: nobody hung.
    for answer in answers:
        _refused(answer)
    case.bring_back()
    wait_until(lambda: case.publish("after_loss").is_success, RECOVERY_SECONDS)
    listed: list[dict[str, Any]] = case.client.get("/api/v1/capability_registry_list").json()["capabilities"]
    assert not [entry for entry in listed if entry["capability_id"].startswith("lost_")]
