"""Whole processes under `LOG_FORMAT=json`: every line on stderr is an object, and none holds a secret."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from tests.servers import start_studio

pytestmark = pytest.mark.slow


def test_every_line_is_an_object(tmp_path: Path) -> None:
    studio = start_studio(tmp_path, LOG_FORMAT="json", TRUSTED_PROXIES="127.0.0.1")
    try:
        key = studio.manage("agent_key", "create", "pipeline").stdout.strip()
        headers = {"Authorization": f"Bearer {key}", "X-Request-ID": "from-the-proxy"}
        with httpx2.Client(base_url=studio.url, headers=headers) as client:
            # Refused or answered: the key may not be known yet.
            warm = [client.get("/api/v1/capability_registry_list?fields=minimal") for _ in range(5)]
            client.get("/capabilities/?code=hush-hush")
        worker = studio.manage("worker", "--once").stderr
    finally:
        studio.stop()
    text = studio.server.log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert {answer.headers["X-Request-ID"] for answer in warm} == {"from-the-proxy"}
    assert "studio:capability_list" in {line.get("route") for line in lines}
    assert {line["request_id"] for line in lines if line.get("route") == "capability_registry_list"} == {
        "from-the-proxy"
    }
    # The fast path leaves no line.
    assert len([line for line in lines if line.get("route") == "capability_registry_list"]) < 5
    jobs = [json.loads(line) for line in worker.splitlines()]
    assert jobs
    assert all(line["job_id"] and line["logger"] == "registry.core.jobs.queue" for line in jobs)
    for secret in (key, "hush-hush"):
        assert secret not in text + worker
