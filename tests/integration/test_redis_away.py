"""Redis is killed, brought back, made to hang and let go again, while reads, publishes and limits go on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import redis

from tests.factories import bundle
from tests.servers import Server, Studio, descendants, start_redis, start_studio

pytestmark = [pytest.mark.redis, pytest.mark.slow]

# The first publish that finds Redis hanging waits a second for it; for ten seconds nobody asks again.
PUBLISH_SECONDS = 5.0
PAUSE_SECONDS = 10.0
GUESSES = 5


@dataclass
class Case:
    server: Server
    studio: Studio
    client: httpx2.Client
    key: dict[str, str]
    published: int = 0

    def messages(self) -> int:
        with redis.Redis.from_url(self.server.url) as client:
            return int(client.llen("studio"))

    def publish(self) -> float:
        """How long it took."""
        self.published += 1
        body = {"bundles": [{"path": "alpha", "files": bundle(body=f"Number {self.published}.")}]}
        began = time.monotonic()
        answer = self.client.post("/api/v1/operator/bundle_publish", json=body, headers=self.key)
        assert [row["status"] for row in answer.json()["results"]] == ["published"]
        return time.monotonic() - began

    def goes_on(self, *, redis_state: str) -> float:
        """Reads, publishes and limits as ever; `/readyz` tells the truth. Answers the slowest publish."""
        ready = self.client.get("/readyz")
        assert ready.json() == {"ready": redis_state == "ok", "database": "ok", "redis": redis_state}
        seconds = max(self.publish() for _ in range(3))
        load = self.client.get("/api/v1/capability_skill_load?capability_id=alpha")
        assert (load.status_code, load.json()["revision"]) == (200, self.published)
        guess = self.client.get("/api/v1/capability_registry_list", headers={"Authorization": "Bearer guess"})
        assert guess.status_code == 401
        assert self.client.get("/healthz").status_code == 200
        print(f"redis {redis_state}: slowest publish {seconds:.2f} s")
        assert seconds < PUBLISH_SECONDS
        return seconds

    def flows_again(self) -> None:
        deadline, before = time.monotonic() + PAUSE_SECONDS + 5, self.messages()
        while self.messages() == before:
            assert time.monotonic() < deadline
            self.publish()
            time.sleep(0.5)


@pytest.fixture
def case(tmp_path: Path, redis_server: Server) -> Iterator[Case]:
    server = start_redis()
    studio = None
    try:
        settings = {"REDIS_URL": server.url, "RATE_LIMITS": f"guess={GUESSES}/hour", "EXAMPLES": "off"}
        studio = start_studio(tmp_path, DJANGO_SETTINGS_MODULE="tests.integration.telling_settings", **settings)
        key = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
        with httpx2.Client(base_url=studio.url, timeout=60) as client:
            headers = {"Authorization": f"Bearer {key}"}
            deadline = time.monotonic() + 10
            while not client.get("/api/v1/operator/bundle_list", headers=headers).is_success:
                assert time.monotonic() < deadline
                # A key that is not known yet is a guess.
                time.sleep(1.5)
            yield Case(server, studio, client, headers)
    finally:
        server.resume()
        if studio is not None:
            studio.stop()
        server.stop()


def test_no_read_no_publish_and_no_limit_depends_on_redis(case: Case) -> None:
    case.goes_on(redis_state="ok")
    assert case.messages() == 3
    for pid in descendants(case.server.process.pid):
        os.kill(pid, signal.SIGKILL)
    case.server.end()
    case.goes_on(redis_state="away")
    case.server.start_again()
    case.server.wait_until(lambda: httpx2.get(f"{case.studio.url}/readyz").is_success)
    case.flows_again()
    case.goes_on(redis_state="ok")
    case.server.pause()
    case.goes_on(redis_state="away")
    case.server.resume()
    case.flows_again()
    spent = [
        case.client.get("/api/v1/capability_registry_list", headers={"Authorization": "Bearer guess"}).status_code
        for _ in range(GUESSES)
    ]
    # Four were spent above, and none was forgotten.
    assert spent[-3:] == [429, 429, 429]
