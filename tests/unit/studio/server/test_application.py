"""What the event loop answers itself, what it gives to a thread, and what it refuses."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from agent_api.fast_path import FastPath
from studio.server import application as server
from studio.server import wsgi_call
from studio.server.application import Application
from studio.server.warm_reads import WarmReads
from tests.event_loop import run_async
from tests.rsgi import MadeHeaders, MadeScope, SentProtocol

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


def _echo(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    start_response("201 Created", [("X-Thread", threading.current_thread().name)])
    return [environ["wsgi.input"].read()]


def _application(wsgi: Wsgi = _echo, *, threads: int = 2) -> Application:
    return Application(wsgi, warm_reads=WarmReads(FastPath(wsgi), ()), threads=threads, on_stop=lambda: None)


def _ask(
    application: Application, path: str = "/x", body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, Any, bytes]:
    sent: tuple[int, Any, bytes] = run_async(_send(application, path, body, headers))
    return sent


async def _send(application: Application, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Any:
    pairs = list(({"host": "testserver", "content-length": str(len(body))} | (headers or {})).items())
    protocol = SentProtocol([body])
    await application.__rsgi__(MadeScope("POST", path, headers=MadeHeaders(pairs)), protocol)
    return protocol.sent


def test_a_request_gets_a_thread_and_its_body() -> None:
    status, headers, body = _ask(_application(), body=b"hello")
    assert (status, body) == (201, b"hello")
    assert headers[0][1].startswith("request_")


def test_probes_wait_for_no_request() -> None:
    """Both threads are busy; the liveness probe needs none, the other one has one of its own."""
    free = threading.Event()

    def slow(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if environ["PATH_INFO"] == "/slow":
            free.wait(20)
        return _echo(environ, start_response)

    async def ask() -> list[str]:
        application = _application(slow)
        waiting = [asyncio.ensure_future(_send(application, "/slow")) for _ in range(4)]
        await asyncio.sleep(0.1)
        probes = [await _send(application, path) for path in ("/healthz", "/readyz")]
        free.set()
        await asyncio.gather(*waiting)
        return [headers[0][1] for _, headers, _ in probes]

    names = run_async(ask())
    assert names == ["event-loop_0", "probe_0"]


def test_a_refusal_is_an_envelope_and_closes() -> None:
    status, headers, body = _ask(_application(), headers={"content-length": "99000000"})
    assert status == 413
    assert orjson.loads(body)["error"]["code"] == "PAYLOAD_TOO_LARGE"
    assert ("Connection", "close") in headers


def test_more_than_can_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_WAITING_MAX", 2)

    def slow(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        time.sleep(0.2)
        return _echo(environ, start_response)

    async def ask() -> list[int]:
        application = _application(slow, threads=1)
        return [sent[0] for sent in await asyncio.gather(*[_send(application, "/x") for _ in range(4)])]

    assert sorted(run_async(ask())) == [201, 201, 503, 503]


def test_publishes_wait_without_a_thread_and_leave_two_to_others() -> None:
    free = threading.Event()
    at_work: list[str] = []

    def slow(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        at_work.append(environ["PATH_INFO"])
        if environ["PATH_INFO"] != "/page":
            free.wait(20)
        return _echo(environ, start_response)

    async def ask() -> list[int]:
        application = _application(slow, threads=4)
        publishes = [asyncio.ensure_future(_send(application, "/api/v1/operator/bundle_publish")) for _ in range(20)]
        await asyncio.sleep(0.1)
        page = await _send(application, "/page")
        assert at_work == ["/api/v1/operator/bundle_publish"] * 2 + ["/page"]
        free.set()
        return [sent[0] for sent in (page, *await asyncio.gather(*publishes))]

    assert run_async(ask()) == [201] * 21


def test_a_publish_without_a_turn_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_TURN_SECONDS_MAX", 0.05)

    async def ask() -> list[int]:
        application = _application(threads=1)
        await application._operator_turns.acquire()
        refused = await _send(application, "/api/v1/operator/bundle_publish")
        application._operator_turns.release()
        return [refused[0], (await _send(application, "/api/v1/operator/bundle_publish"))[0]]

    assert run_async(ask()) == [503, 201]


def test_a_large_response_goes_through_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi_call, "_MEMORY_BYTES", 10)
    closed = []

    class Streamed:
        def __iter__(self) -> Iterator[bytes]:
            yield from [b"12345678"] * 3

        def close(self) -> None:
            closed.append(True)

    def stream(environ: dict[str, Any], start_response: Any) -> Streamed:
        start_response("200 OK", [])
        return Streamed()

    status, _, body = _ask(_application(stream))
    assert (status, body, closed) == (200, b"12345678" * 3, [True])


def test_the_file_of_a_large_response_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi_call, "_MEMORY_BYTES", 1)
    monkeypatch.setattr(server, "_FILE_SECONDS", 0.05)
    files: list[str] = []

    class Protocol(SentProtocol):
        def response_file(self, status: int, headers: Any, file: str) -> None:
            files.append(file)
            # Without it the gateway would not know where the response ends.
            assert ("Content-Length", str(Path(file).stat().st_size)) in headers

    async def ask() -> None:
        await _application().__rsgi__(
            MadeScope("POST", "/x", headers=MadeHeaders([("content-length", "3")])), Protocol([b"abc"])
        )
        assert Path(files[0]).exists()
        await asyncio.sleep(0.2)
        assert not Path(files[0]).exists()

    run_async(ask())


def test_a_request_that_memory_cannot_hold_is_answered() -> None:
    """Granian would close the connection, and the client could not tell it from a crash."""

    def grow(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        raise MemoryError

    status, headers, body = _ask(_application(grow))
    assert status == 503
    assert orjson.loads(body)["error"]["code"] == "REGISTRY_UNAVAILABLE"
    assert ("Retry-After", "5") in headers
