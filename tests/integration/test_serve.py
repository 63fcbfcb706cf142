"""`manage.py serve`: refuses with a sentence what it cannot do, and keeps what it has started running."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.servers import ROOT, answers, descendants, free_port, lay_out, run_manage, studio_environment

pytestmark = pytest.mark.slow


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        env = studio_environment(tmp_path, PORT=str(taken.getsockname()[1]))
        lay_out(env)
        run_manage("prepare_site", env=env)
        done = run_manage("serve", env=env, check=False, fresh=True)
    assert done.returncode == 1
    assert f"Port {env['PORT']} on 127.0.0.1 is taken by another program" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a system unit starts it, and its address."""
    port = free_port()
    env = studio_environment(tmp_path / "data", PORT=str(port))
    lay_out(env)
    run_manage("prepare_site", env=env)
    with (tmp_path / "log").open("w") as log:
        command = [sys.executable, "manage.py", "serve"]
        process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=log, stderr=log, text=True)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until(lambda: answers(f"{url}/readyz"))
        yield process, url
    finally:
        process.terminate()
        process.wait(30)


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _are_gone(pids: Iterable[int]) -> bool:
    return all(map(_is_gone, pids))


def _children_with(process: subprocess.Popen[str], word: str) -> list[int]:
    """The first is the one that started the others."""
    found = []
    for pid in descendants(process.pid):
        with contextlib.suppress(OSError):
            if word in Path(f"/proc/{pid}/cmdline").read_text().split("\0"):
                found.append(pid)
    return found


def test_a_gateway_or_an_application_that_dies_is_started_again(served: tuple[subprocess.Popen[str], str]) -> None:
    process, url = served

    def is_another(name: str, before: list[int]) -> bool:
        now = _children_with(process, name)
        # A worker may be seen, and respond, for a moment after the one that started it was killed.
        return bool(now) and set(now).isdisjoint(before) and answers(f"{url}/readyz")

    for name in ("studio.gateway", "granian", "studio.gateway"):
        before = _children_with(process, name)
        os.kill(before[0], signal.SIGKILL)
        _wait_until(partial(is_another, name, before))
        _wait_until(partial(_are_gone, before))
    children = descendants(process.pid)
    process.terminate()
    assert process.wait(30) == 0
    _wait_until(partial(_are_gone, children))


def test_a_gateway_whose_keeper_is_killed_ends(served: tuple[subprocess.Popen[str], str]) -> None:
    process, _ = served
    children = descendants(process.pid)
    assert len(children) >= 3
    process.kill()
    _wait_until(partial(_are_gone, children))


def test_what_cannot_start_ends_with_its_own_exit_code(tmp_path: Path) -> None:
    """A platform starts it again, and shows that it fails."""
    command = [sys.executable, "-m", "studio.launcher.supervisor", "127.0.0.1", str(free_port())]
    for code in (1, 7):
        done = subprocess.run([*command, sys.executable, "-c", f"raise SystemExit({code})"], check=False, cwd=ROOT)
        assert done.returncode == code
