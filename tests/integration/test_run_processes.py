"""When a process that `run.py` started ends by itself: it is started again, and the others go on."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.integration.launch import Launch
from tests.servers import descendants, studio_environment

pytestmark = pytest.mark.slow


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    launch = Launch(studio_environment(tmp_path / "data", EXAMPLES="off"), tmp_path / "out")
    launch.wait_until(lambda: launch.is_answering() and launch.child("worker") != 0)
    yield launch
    if launch.process.poll() is None:
        launch.end(signal.SIGTERM)


def _is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_that_is_killed_is_started_again_and_the_server_goes_on(launch: Launch) -> None:
    server = launch.child("studio.gateway")
    pauses: list[float] = []
    for _ in range(3):
        worker = launch.child("worker")
        os.kill(worker, signal.SIGKILL)
        killed_at = time.monotonic()
        while launch.child("worker") in (0, worker):
            assert httpx2.get(f"{launch.url}/healthz").status_code == 200
            assert launch.process.poll() is None
            assert time.monotonic() - killed_at < 30, launch.text
            time.sleep(0.05)
        pauses.append(time.monotonic() - killed_at)
    assert launch.child("studio.gateway") == server
    assert re.findall(r"The worker was ended by signal 9\. It is started again in (\d+) s", launch.text) == [
        "1",
        "2",
        "4",
    ]
    assert 1 <= pauses[0] < pauses[1] < pauses[2]
    children = descendants(launch.process.pid)
    assert launch.end(signal.SIGTERM) == 0
    assert not [pid for pid in children if _is_there(pid)]


def test_a_stop_between_two_workers_ends_everything(launch: Launch) -> None:
    for _ in range(2):
        launch.wait_until(lambda: launch.child("worker") != 0)
        ends = launch.text.count("was ended by signal 9")
        os.kill(launch.child("worker"), signal.SIGKILL)
        launch.wait_until(lambda ends=ends: launch.text.count("was ended by signal 9") > ends)  # type: ignore[misc]
    children = descendants(launch.process.pid)
    assert launch.end(signal.SIGTERM) == 0
    assert not [pid for pid in children if _is_there(pid)]


def test_a_server_that_is_killed_is_started_again_at_once_and_the_worker_goes_on(launch: Launch) -> None:
    server, worker = launch.child("studio.gateway"), launch.child("worker")
    os.kill(server, signal.SIGKILL)
    launch.wait_until(lambda: launch.child("studio.gateway") not in (0, server) and launch.is_answering())
    assert "The server was ended by signal 9. It is started again in 0 s" in launch.text
    assert launch.child("worker") == worker
    children = descendants(launch.process.pid)
    assert launch.end(signal.SIGTERM) == 0
    # The application ends what it has under way.
    deadline = time.monotonic() + 10
    while any(_is_there(pid) for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)
