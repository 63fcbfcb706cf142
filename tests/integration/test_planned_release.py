"""A planned release, while the worker that was to make it is killed and another one is started."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Site, new_site
from tests.servers import ROOT, keep

pytestmark = pytest.mark.slow

# Long enough for a busy machine to start a worker and kill it before the time comes.
SECONDS = 20


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    return new_site(request.param, request, tmp_path, DJANGO_SETTINGS_MODULE="studio.settings", EMBEDDER="none")


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers that are stopped at the end."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Its keeper kills the worker once nobody holds the keeper's standard input."""
    if process.stdin is not None:
        process.stdin.close()
    process.wait(30)


@pytest.mark.parametrize("site", [pytest.param("sqlite", marks=pytest.mark.rare), "postgresql"], indirect=True)
def test_it_survives_its_worker_and_is_made_once(
    site: Site, tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    def start() -> None:
        log = tmp_path / f"worker {len(started)}.log"
        started.append(
            keep([sys.executable, "manage.py", "worker"], log=log, stop_signal="SIGKILL", env=site.env, cwd=ROOT)
        )

    planned = site.run("release_desk.py", "plan", str(SECONDS))
    assert planned == {"state": "waiting", "why": "", "made": []}
    start()
    time.sleep(2)
    _kill(started[0])
    time.sleep(SECONDS)
    assert site.run("release_desk.py", "state")["state"] == "waiting"
    start()
    start()
    assert _in_the_end(site) == {"state": "done", "why": "", "made": [[1, True]]}


def _in_the_end(site: Site) -> Any:
    deadline = time.monotonic() + 60
    while (found := site.run("release_desk.py", "state"))["state"] == "waiting" and time.monotonic() < deadline:
        time.sleep(0.5)
    return found
