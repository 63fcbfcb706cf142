"""The gateway in front of the application: what it passes on arrives whole, and reads go on without the application."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.factories import bundle
from tests.servers import Studio, descendants, run_manage, start_studio

pytestmark = pytest.mark.slow

LOAD = "/api/v1/capability_skill_load?capability_id=weights"
LIST = "/api/v1/capability_registry_list"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = start_studio(tmp_path_factory.mktemp("studio"), EXAMPLES="on")
    yield studio
    studio.stop()


@pytest.fixture
def publisher(studio: Studio) -> Iterator[httpx2.Client]:
    name = f"pipeline-{time.monotonic_ns()}"
    created = run_manage("agent_key", "create", name, "--scopes", "read,publish", env=studio.env)
    headers = {"Authorization": f"Bearer {created.stdout.strip()}"}
    with httpx2.Client(base_url=studio.url, headers=headers, timeout=30) as client:
        yield client


def _port(studio: Studio) -> int:
    return int(studio.env["PORT"])


def _exchange(studio: Studio, sent: bytes) -> bytes:
    """Everything that comes back until the other end closes."""
    with socket.create_connection(("127.0.0.1", _port(studio)), timeout=20) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def _request(path: str, *fields: str, method: str = "GET", body: bytes = b"") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *fields, "", ""]).encode() + body


def _warm(studio: Studio) -> None:
    for _ in range(4):
        assert httpx2.get(studio.url + LOAD).status_code == 200
        time.sleep(0.1)


def _application_pids(studio: Studio) -> list[int]:
    pids = descendants(studio.server.process.pid)
    return [pid for pid in pids if b"granian" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_pipelined_requests_are_answered_in_order(studio: Studio) -> None:
    _warm(studio)
    match = b'{"message": "my weight"}'
    posted = _request(
        "/api/v1/capability_match",
        *("Content-Type: application/json", f"Content-Length: {len(match)}"),
        method="POST",
        body=match,
    )
    sent = _request(LOAD) + _request("/nowhere") + posted + _request(LOAD) + _request("/healthz", "Connection: close")
    received = _exchange(studio, sent)
    assert re.findall(rb"HTTP/1\.1 (\d+)", received) == [b"200", b"404", b"200", b"200", b"200"]


def test_a_request_in_single_bytes_is_answered(studio: Studio) -> None:
    with socket.create_connection(("127.0.0.1", _port(studio)), timeout=20) as connection:
        for byte in _request(LOAD):
            connection.sendall(bytes([byte]))
        assert connection.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: a\n\nGET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Gateway-Client: x 10.0.0.1:1 a:1\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 70_000,
        # At once, though no end of a head comes.
        b"GET /healthz HTTP/1.1\nHost: a\n\n",
        b"GET /healthz HTTP/1.1\rHost: a\r\r",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET http://b/healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_what_is_doubtful_is_refused_and_closed(studio: Studio, sent: bytes) -> None:
    received = _exchange(studio, sent)
    assert received.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
    assert received.count(b"HTTP/1.1 ") == 1


def test_a_coding_that_is_not_read_is_501(studio: Studio) -> None:
    body = b"3\r\nabc\r\n0\r\n\r\n" + _request("/healthz")
    received = _exchange(studio, _request("/mcp", "Transfer-Encoding: gzip, chunked", method="POST", body=body))
    assert received.startswith(b"HTTP/1.1 501 ")
    assert received.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("path", ["/healthz", LOAD, "/nowhere"])
def test_a_connection_that_is_not_to_persist_is_closed_after_the_response(studio: Studio, path: str) -> None:
    """`_exchange` returns when the other end closes; a probe that reads to the end hung for half a minute."""
    _warm(studio)
    for line, fields in (("HTTP/1.0", ""), ("HTTP/1.0", "Host: 127.0.0.1\r\n"), ("HTTP/1.1", "Host: 127.0.0.1\r\n")):
        close = "Connection: close\r\n" if line == "HTTP/1.1" else ""
        received = _exchange(studio, f"GET {path} {line}\r\n{fields}{close}\r\n".encode() + _request("/healthz"))
        assert re.findall(rb"HTTP/1\.[01] (\d+)", received) in ([b"200"], [b"404"], [b"400"]), received[:300]


def test_an_older_client_that_asks_for_it_keeps_its_connection(studio: Studio) -> None:
    kept = b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n"
    received = _exchange(studio, kept + kept + _request("/healthz", "Connection: close"))
    assert len(re.findall(rb"HTTP/1\.[01] 200", received)) == 3


def test_an_absolute_target_is_answered_for_its_own_host(studio: Studio) -> None:
    sent = _request("http://127.0.0.1/healthz", "Connection: close")
    assert _exchange(studio, sent).startswith(b"HTTP/1.1 200 ")


def test_a_chunked_body_arrives_and_ends_the_connection(studio: Studio) -> None:
    chunks = b'b\r\n{"message":\r\nc\r\n "my weight"\r\n1\r\n}\r\n0\r\n\r\n'
    fields = ("Content-Type: application/json", "Transfer-Encoding: chunked")
    hidden = _request("/healthz")
    received = _exchange(studio, _request("/api/v1/capability_match", *fields, method="POST", body=chunks + hidden))
    assert received.startswith(b"HTTP/1.1 200 ")
    assert received.count(b"HTTP/1.1 ") == 1


def test_a_body_that_is_announced_too_large_is_refused_while_it_is_sent(studio: Studio) -> None:
    for _ in range(5):
        assert _answer_while_sending(studio, "Content-Length: 99000000", b" " * 65536) == b"413"


def test_a_refusal_in_the_middle_of_a_body_arrives(studio: Studio) -> None:
    """The application closes at once; a client that is still sending used to lose the answer with the connection."""
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    statuses = {_answer_while_sending(studio, "Transfer-Encoding: chunked", chunk) for _ in range(10)}
    # 503 where the gateway wrote into the closed end before it read the refusal.
    assert statuses <= {b"413", b"503"}


def _answer_while_sending(studio: Studio, field: str, piece: bytes) -> bytes:
    """The status that a client gets which sends 78 MB, more than a body may have, before it reads."""
    head = _request("/api/v1/operator/bundle_publish", field, "Content-Type: application/json", method="POST")
    with socket.create_connection(("127.0.0.1", _port(studio)), timeout=20) as connection:
        connection.sendall(head)
        with contextlib.suppress(OSError):
            for _ in range(1200):
                connection.sendall(piece)
        return connection.recv(65536).split(b" ")[1]


def test_who_has_published_reads_it_at_once(studio: Studio, publisher: httpx2.Client) -> None:
    for number in range(5):
        path = f"at_once_{number}"
        body = {"bundles": [{"path": path, "files": bundle(capability_id=path)}]}
        [row] = publisher.post("/api/v1/operator/bundle_publish", json=body).json()["results"]
        assert row["status"] == "published", row
        assert path in publisher.get(LIST).text


def test_warm_reads_are_counted_in_a_scrape(studio: Studio) -> None:
    _warm(studio)

    def count() -> float:
        page = httpx2.get(studio.url + "/metrics").text
        found = re.search(r'fast_path_responses_total\{route="capability_skill_load",status="200"\} (\S+)', page)
        assert found is not None
        return float(found[1])

    before = count()
    for _ in range(7):
        httpx2.get(studio.url + LOAD)
    assert count() == before + 7


def test_reads_do_not_wait_for_the_application_and_probes_notice_that_it_is_silent(studio: Studio) -> None:
    _warm(studio)
    pids = _application_pids(studio)
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        with httpx2.Client(base_url=studio.url, timeout=5) as client:
            for path in (LOAD, "/healthz"):
                assert client.get(path).status_code == 200, path
            studio.server.wait_until(lambda: client.get("/healthz").status_code == 503)
            assert client.get(LOAD).status_code == 200
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    studio.server.wait_until(lambda: httpx2.get(studio.url + "/healthz").status_code == 200)


def test_an_application_that_is_killed_is_started_again_and_reads_go_on(studio: Studio) -> None:
    _warm(studio)
    stop, failures = threading.Event(), []

    def read() -> None:
        with httpx2.Client(base_url=studio.url, timeout=5) as client:
            while not stop.is_set():
                if client.get(LOAD).status_code != 200:
                    failures.append(time.monotonic())
                time.sleep(0.005)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for pid in _application_pids(studio):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        answer = httpx2.get(studio.url + "/api/v1/capability_search?q=weight", timeout=10)
        assert answer.status_code == 503
        assert answer.headers["Retry-After"]
        studio.server.wait_until(lambda: httpx2.get(studio.url + "/readyz", timeout=10).status_code == 200)
        assert httpx2.get(studio.url + "/api/v1/capability_search?q=weight", timeout=10).status_code == 200
    finally:
        stop.set()
        reader.join()
    assert failures == []
