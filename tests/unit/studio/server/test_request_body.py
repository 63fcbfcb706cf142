"""A body is received whole, in time and within bounds, or refused."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from typing import Any

import pytest

from studio.server import request_body
from studio.server.refusals import (
    BodyIncomplete,
    BodyTimeout,
    BodyTooLarge,
    RequestRefused,
    ServerStopping,
    TooManyBodies,
)
from studio.server.request_body import BodyReceiver
from tests.event_loop import run_async
from tests.rsgi import SentProtocol


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "GRACE_SECONDS", 0.3)
    monkeypatch.setattr(request_body, "RATE_BYTES_PER_SECOND", 100)
    monkeypatch.setattr(request_body, "BODY_BYTES_MAX", 1000)
    monkeypatch.setattr(request_body, "HELD_BYTES_MAX", 1500)


def _receive(
    pieces: Sequence[bytes | float], head: dict[str, str], receiver: BodyReceiver | None = None
) -> tuple[str, bytes]:
    """The length and the bytes that the application gets."""
    receiver = receiver or BodyReceiver()
    environ: dict[str, Any] = {**head, "wsgi.input": io.BytesIO()}
    try:
        run_async(receiver.receive(environ, SentProtocol(pieces)))
        return environ.get("CONTENT_LENGTH", ""), environ["wsgi.input"].read()
    finally:
        receiver.release(environ)
        assert environ["wsgi.input"].closed


@pytest.mark.parametrize("pieces", [[b"abcdef"], [b"abc", 0.05, b"def"]])
@pytest.mark.parametrize("head", [{"CONTENT_LENGTH": "6"}, {"HTTP_TRANSFER_ENCODING": "gzip, Chunked"}])
def test_a_body_is_received_whole(pieces: list[bytes | float], head: dict[str, str]) -> None:
    assert _receive(pieces, head) == ("6", b"abcdef")


@pytest.mark.parametrize("head", [{}, {"CONTENT_LENGTH": "0"}, {"CONTENT_LENGTH": ""}])
def test_without_a_body_nothing_is_waited_for(head: dict[str, str]) -> None:
    assert _receive([9.0], head) == (head.get("CONTENT_LENGTH", ""), b"")


@pytest.mark.parametrize(
    ("pieces", "head", "refusal"),
    [
        ([b"ab"], {"CONTENT_LENGTH": "3"}, BodyIncomplete),
        ([], {"CONTENT_LENGTH": "1001"}, BodyTooLarge),
        ([b"x" * 600, b"x" * 600], {"HTTP_TRANSFER_ENCODING": "chunked"}, BodyTooLarge),
        ([5.0], {"CONTENT_LENGTH": "3"}, BodyTimeout),
        ([b"x", 0.2, b"x", 0.2, b"x", 0.2], {"CONTENT_LENGTH": "900"}, BodyTimeout),
    ],
)
def test_what_is_refused(pieces: list[bytes | float], head: dict[str, str], refusal: type[RequestRefused]) -> None:
    with pytest.raises(refusal):
        _receive(pieces, head)


def test_what_arrives_earns_time() -> None:
    pieces: list[bytes | float] = [b"x" * 50, 0.2, b"x" * 50, 0.2, b"x" * 50, 0.2, b"x" * 50]
    assert _receive(pieces, {"CONTENT_LENGTH": "200"}) == ("200", b"x" * 200)


def test_all_bodies_together_have_a_bound() -> None:
    receiver = BodyReceiver()
    first = {"CONTENT_LENGTH": "900"}
    run_async(receiver.receive(first, SentProtocol([b"x" * 900])))
    with pytest.raises(TooManyBodies):
        _receive([b"x" * 900], {"CONTENT_LENGTH": "900"}, receiver)
    receiver.release(first)
    assert _receive([b"x" * 900], {"CONTENT_LENGTH": "900"}, receiver)[0] == "900"


def test_a_refused_body_gives_its_room_back() -> None:
    receiver = BodyReceiver()
    for _ in range(5):
        with pytest.raises(BodyTooLarge):
            _receive([b"x" * 900, b"x" * 900], {"HTTP_TRANSFER_ENCODING": "chunked"}, receiver)


def test_a_stop_ends_the_waiting() -> None:
    async def receive() -> None:
        receiver = BodyReceiver()
        early, late = {"CONTENT_LENGTH": "3"}, {"CONTENT_LENGTH": "3"}
        waiting = asyncio.ensure_future(receiver.receive(early, SentProtocol([5.0])))
        await asyncio.sleep(0.05)
        receiver.stop(after_seconds=0.05)
        with pytest.raises(ServerStopping):
            await waiting
        with pytest.raises(ServerStopping):
            await receiver.receive(late, SentProtocol([5.0]))
        receiver.release(early)
        receiver.release(late)

    run_async(receive())
