"""Clients that are slow, or say nothing: they keep nobody else waiting, and they are let go."""

from __future__ import annotations

import contextlib
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from studio.gateway.server import SEND_BUFFER_BYTES
from tests.factories import bundle
from tests.servers import Studio, start_studio

pytestmark = pytest.mark.slow

LOAD = "/api/v1/capability_skill_load?capability_id=weights"
LIST = "/api/v1/capability_registry_list"
# Each of them held a thread: without a body, with a beginning, refused before it is read, of unknown length, on a read.
HEADS = (
    b"POST /api/v1/capability_match HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n",
    b"POST /sign-in/ HTTP/1.1\r\nContent-Length: 2000\r\n",
    b"POST /api/v1/operator/bundle_publish HTTP/1.1\r\nAuthorization: Bearer wrong\r\nContent-Length: 5000\r\n",
    b"POST /api/v1/capability_match HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
    b"GET /api/v1/capability_search?q=x HTTP/1.1\r\nContent-Length: 10\r\n",
    b"POST /nowhere HTTP/1.1\r\nContent-Length: 60000\r\n",
)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(16384, hard), hard))
    studio = start_studio(tmp_path_factory.mktemp("studio"), EXAMPLES="on")
    yield studio
    studio.stop()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def _connections(studio: Studio, count: int, *beginnings: bytes) -> Iterator[list[socket.socket]]:
    """So many connections that have sent one of the beginnings and go on saying nothing."""
    port = int(studio.env["PORT"])
    with contextlib.ExitStack() as stack:
        found = []
        for number in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            if beginnings:
                connection.sendall(beginnings[number % len(beginnings)])
            found.append(connection)
        yield found


def _unfinished(studio: Studio) -> list[bytes]:
    host = f"Host: 127.0.0.1:{studio.env['PORT']}\r\n\r\n".encode()
    return [head + host + body for head in HEADS for body in (b"", b"{" if b"chunked" not in head else b"1\r\n{\r\n")]


def _assert_everything_is_answered(studio: Studio) -> None:
    """Probes, warm reads, and what needs a thread and has a body."""
    with httpx2.Client(base_url=studio.url, timeout=5) as client:
        for path in ("/healthz", "/readyz", LIST, LOAD, "/sign-in/", "/api/v1/capability_search?q=weight"):
            assert client.get(path).status_code == 200, path
        assert client.post("/api/v1/capability_match", json={"message": "my weight"}).status_code == 200


@pytest.mark.parametrize("count", [4, pytest.param(300, marks=pytest.mark.rare)])
def test_unfinished_bodies_keep_nobody_waiting(studio: Studio, count: int) -> None:
    with _connections(studio, count, *_unfinished(studio)):
        time.sleep(0.5)
        for _ in range(3):
            _assert_everything_is_answered(studio)


def test_a_body_that_does_not_come_is_given_up(studio: Studio) -> None:
    began = time.monotonic()
    with _connections(studio, 24, *_unfinished(studio)) as connections:
        for connection in connections:
            assert b"HTTP/1.1 408 " in _read_to_end(connection)
    assert 9 < time.monotonic() - began < 25


def test_a_body_that_trickles_is_given_up(studio: Studio) -> None:
    head = HEADS[0] + b"Host: 127.0.0.1\r\n\r\n"
    with _connections(studio, 1, head) as (connection,):
        began = time.monotonic()
        with contextlib.suppress(OSError):
            while time.monotonic() - began < 25:
                connection.sendall(b" ")
                time.sleep(0.5)
        assert time.monotonic() - began < 20
        assert b"408" in _read_to_end(connection)


def test_a_slow_body_that_keeps_its_pace_is_accepted(studio: Studio) -> None:
    """Longer than the first ten seconds, at 24 KiB a second."""
    body = b'{"message": "my weight"' + b" " * (300 * 1024) + b"}"
    head = (
        f"POST /api/v1/capability_match HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    with _connections(studio, 1, head.encode() + b"Host: 127.0.0.1\r\n\r\n") as (connection,):
        for start in range(0, len(body), 12 * 1024):
            connection.sendall(body[start : start + 12 * 1024])
            time.sleep(0.5)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.rare
def test_two_thousand_idle_connections_leave_room(studio: Studio) -> None:
    with httpx2.Client(base_url=studio.url) as client:
        assert client.get("/healthz").is_success
        with _connections(studio, 1000), _connections(studio, 1000, b"GET /healthz HT"):
            _assert_everything_is_answered(studio)


def test_a_connection_that_says_nothing_is_closed(studio: Studio) -> None:
    with _connections(studio, 100) as connections:
        began = time.monotonic()
        for connection in connections:
            connection.settimeout(60)
            _read_to_end(connection)
        assert time.monotonic() - began < 45


def test_what_is_too_large_is_refused_at_once(studio: Studio) -> None:
    head = b"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000000\r\n\r\n"
    with _connections(studio, 1, head) as (connection,):
        began = time.monotonic()
        assert b"413" in _read_to_end(connection)
        assert time.monotonic() - began < 5


def _read_to_end(connection: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            found += piece
    return found


def _queued_bytes(port: int) -> list[int]:
    """What the kernel holds of responses on the connections of a port, for clients that do not read (proc(5))."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].partition(":")[0], 16) for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "01"]


@pytest.mark.rare
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux says what the kernel holds")
def test_a_client_that_does_not_read_holds_little(tmp_path: Path) -> None:
    """Its whole response was kept in the kernel, megabytes for each connection."""
    studio = start_studio(tmp_path, EXAMPLES="on")
    try:
        created = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
        files = bundle("long", body="A sentence of some words. " * 36_000)
        headers = {"Authorization": f"Bearer {created}"}
        with httpx2.Client(base_url=studio.url, headers=headers, timeout=60) as client:
            body = {"bundles": [{"path": "long", "files": files}]}
            (result,) = client.post("/api/v1/operator/bundle_publish", json=body).json()["results"]
            assert result["status"] == "published", result
            load = "/api/v1/capability_skill_load?capability_id=long"
            size = len(client.get(load, headers={"Accept-Encoding": "identity"}).content)
        assert size > 900_000
        asking = f"GET {load} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {created}\r\n\r\n".encode()
        port = int(studio.env["PORT"])
        with _connections(studio, 20, asking) as connections:
            # All of them have their first bytes; what is queued then stays.
            for connection in connections:
                assert connection.recv(1, socket.MSG_PEEK)
            queued = _queued_bytes(port)
            assert len(queued) >= 20
            # Half of what the kernel counts is for its own bookkeeping, and a segment may go over.
            assert max(queued) <= 3 * SEND_BUFFER_BYTES
            # Nothing of it is lost.
            read = b""
            while len(read) < size:
                read += connections[0].recv(1 << 20)
            assert read.startswith(b"HTTP/1.1 200 ")
    finally:
        studio.stop()


@pytest.mark.parametrize("trusted", ["", "127.0.0.1/32"])
def test_connections_of_one_address_are_bounded_unless_it_is_a_trusted_proxy(tmp_path: Path, trusted: str) -> None:
    studio = start_studio(tmp_path, CONNECTIONS_PER_ADDRESS="30", TRUSTED_PROXIES=trusted)
    try:
        with _connections(studio, 25):
            assert httpx2.get(f"{studio.url}/healthz").status_code == 200
            with _connections(studio, 20) as more:
                for connection in more:
                    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                received = {connection.recv(12) for connection in more}
                assert received == ({b"HTTP/1.1 200"} if trusted else {b"HTTP/1.1 200", b"HTTP/1.1 429"})
        # Their ends make room.
        deadline = time.monotonic() + 20
        while httpx2.get(f"{studio.url}/healthz").status_code != 200:
            assert time.monotonic() < deadline
    finally:
        studio.stop()
