"""PostgreSQL is stopped under a running product: what is held goes on being served, everything else is a 503."""

from __future__ import annotations

import time
from pathlib import Path

import httpx

from tests.integration.conftest import on_postgresql
from tests.servers import start_postgresql, start_studio


def test_postgresql_is_stopped(tmp_path: Path) -> None:
    database = start_postgresql()
    studio = start_studio(tmp_path, EXAMPLES="on", **on_postgresql(database.url))
    try:
        key = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
        with httpx.Client(base_url=f"{studio.url}/api/v1", timeout=30) as client:
            held = client.get("/capability_skill_load?capability_id=weights")
            assert held.status_code == 200
            database.stop()
            deadline = time.monotonic() + 10
            while "Warning" not in client.get("/capability_registry_list").headers:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            load = client.get("/capability_skill_load?capability_id=weights")
            assert (load.status_code, load.content) == (200, held.content)
            assert load.headers["Warning"].startswith("110")
            reload = client.post("/capability_skill_reload", json={"capability_id": "weights"})
            assert (reload.status_code, reload.content) == (200, held.content)
            cold = client.get("/capability_skill_load?capability_id=workouts")
            assert (cold.status_code, cold.json()["error"]["code"]) == (503, "REGISTRY_UNAVAILABLE")
            headers = {"Authorization": f"Bearer {key}"}
            body = {"capability_id": "weights"}
            write = client.post("/operator/capability_retire", json=body, headers=headers)
            assert (write.status_code, write.json()["error"]["code"]) == (503, "REGISTRY_UNAVAILABLE")
            assert client.get(f"{studio.url}/healthz").status_code == 200
    finally:
        studio.stop()
        database.stop()
