"""SIGTERM: what is being answered is answered, nobody new is let in, and what was counted is handed in."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from studio.launcher.serving import server_command
from tests.factories import bundle
from tests.servers import ROOT, answers, copy_prepared, run_manage, studio_environment

pytestmark = pytest.mark.slow

# The promise, whatever is open; a busy machine gets more.
BOUND_SECONDS = 5.0
MARGIN_SECONDS = 4.0
GRANIAN, LAUNCHER = "granian", "run.py"


@dataclass
class Running:
    """A server that was started as an operator starts it; a signal to `process` is the operator's."""

    process: subprocess.Popen[bytes]
    env: dict[str, str]
    log: Path

    @property
    def port(self) -> int:
        return int(self.env["PORT"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(Path(self.env["DATA_DIR"]) / "studio.sqlite3", timeout=20, isolation_level=None)

    def ask_to_end(self) -> float:
        self.process.send_signal(signal.SIGTERM)
        return time.monotonic()

    def wait_until(self, is_true: Callable[[], bool], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not is_true():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)


@pytest.fixture(params=[GRANIAN, pytest.param(LAUNCHER, marks=pytest.mark.rare)])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    env = studio_environment(tmp_path, EXAMPLES="off")
    copy_prepared(tmp_path, EXAMPLES="off")
    command = [sys.executable, str(ROOT / "tests" / "integration" / "launcher.py")]
    if request.param == GRANIAN:
        command = server_command(Path(sys.executable), address="127.0.0.1", port=int(env["PORT"]))
    log = tmp_path / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    running = Running(process, env, log)
    try:
        running.wait_until(lambda: answers(f"{running.url}/healthz"), 60)
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        process.wait(30)


def _publisher(running: Running) -> dict[str, str]:
    created = run_manage("agent_key", "create", "pipeline", "--scopes", "read,publish", env=running.env)
    headers = {"Authorization": f"Bearer {created.stdout.strip()}"}
    running.wait_until(lambda: httpx2.get(f"{running.url}/api/v1/operator/bundle_list", headers=headers).is_success)
    return headers


def _is_refused(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_write_that_waits_and_a_slow_client_are_answered(running: Running) -> None:
    headers = _publisher(running)
    body = {"bundles": [{"path": "alpha", "files": bundle()}]}
    found: list[httpx2.Response] = []
    slow = json.dumps({"bundles": [{"path": "alpha", "files": bundle(body="x" * 1_500_000)}]}).encode()
    head = f"POST /api/v1/operator/bundle_validate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(slow)}\r\n"
    head += f"Content-Type: application/json\r\nAuthorization: {headers['Authorization']}\r\n\r\n"

    def publish() -> None:
        url = f"{running.url}/api/v1/operator/bundle_publish"
        found.append(httpx2.post(url, json=body, headers=headers, timeout=30))

    with (
        closing(running.database()) as database,
        socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection,
    ):
        connection.sendall(head.encode() + slow[:1000])
        database.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=publish)
        thread.start()
        time.sleep(1)
        asked_at = running.ask_to_end()
        for start in range(1000, len(slow), 500_000):
            time.sleep(0.3)
            connection.sendall(slow[start : start + 500_000])
        answer = connection.recv(65536)
        assert _is_refused(running.port)
        assert running.process.poll() is None
        database.execute("ROLLBACK")
    assert answer.startswith(b"HTTP/1.1 200"), (answer[:200], running.log.read_text())
    thread.join(40)
    code = running.process.wait(40)
    print(f"ended {time.monotonic() - asked_at:.2f} s after SIGTERM")
    assert [row["status"] for row in found[0].json()["results"]] == ["published"]
    assert code == 0, running.log.read_text()
    assert time.monotonic() - asked_at < BOUND_SECONDS + MARGIN_SECONDS


_UNFINISHED = (
    b"",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"POST /api/v1/capability_skill_load HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
    b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n",
)


def test_what_takes_too_long_and_clients_that_never_end_are_left(running: Running) -> None:
    """Of the clients some say nothing, some stop in the middle of a head or a body."""
    headers = _publisher(running)
    body = {"bundles": [{"path": "alpha", "files": bundle()}]}

    def publish() -> None:
        with contextlib.suppress(httpx2.HTTPError):
            httpx2.post(f"{running.url}/api/v1/operator/bundle_publish", json=body, headers=headers, timeout=60)

    with contextlib.ExitStack() as stack:
        for beginning in _UNFINISHED * 20:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=20))
            connection.sendall(beginning)
        database = stack.enter_context(closing(running.database()))
        database.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=publish)
        thread.start()
        time.sleep(1)
        asked_at = running.ask_to_end()
        code = running.process.wait(30)
        seconds = time.monotonic() - asked_at
        database.execute("ROLLBACK")
        (count,) = database.execute("SELECT count(*) FROM registry_revision").fetchone()
    thread.join()
    print(f"ended {seconds:.2f} s after SIGTERM with {code}")
    assert (code, count) == (0, 0), running.log.read_text()
    # Cut at the bound; what else had to end on a busy machine comes on top.
    assert BOUND_SECONDS - 2 < seconds < BOUND_SECONDS + MARGIN_SECONDS


def test_idle_connections_do_not_hold_it_up(running: Running) -> None:
    with httpx2.Client() as client:
        assert client.get(f"{running.url}/healthz").is_success
        asked_at = running.ask_to_end()
        assert running.process.wait(30) == 0
    print(f"ended {time.monotonic() - asked_at:.2f} s after SIGTERM")
    assert time.monotonic() - asked_at < BOUND_SECONDS


def test_what_was_counted_is_handed_in(running: Running) -> None:
    headers = _publisher(running)
    body = {"bundles": [{"path": "alpha", "files": bundle()}]}
    assert httpx2.post(f"{running.url}/api/v1/operator/bundle_publish", json=body, headers=headers).is_success
    with httpx2.Client(base_url=running.url, headers=headers) as client:
        for _ in range(50):
            assert client.get("/api/v1/capability_skill_load?capability_id=alpha").is_success
        # One that cannot be waited for, so that the process is killed in the end.
        with socket.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall(_UNFINISHED[1])
            time.sleep(0.2)
            running.ask_to_end()
            assert running.process.wait(40) == 0
    with closing(running.database()) as database:
        ((count,),) = database.execute("SELECT coalesce(sum(count), 0) FROM registry_loadcount").fetchall()
    assert count == 50
