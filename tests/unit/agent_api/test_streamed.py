"""Bodies without a length are read, up to a limit."""

from __future__ import annotations

import io
from typing import Any

import pytest

from agent_api.fast_path import FastPath
from agent_api.streamed import measure_body
from registry.imports.archives import ARCHIVE_BYTES_MAX


class _Slow(io.BytesIO):
    """Hands out a few bytes at a time, as a socket does."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size, 3) if size and size > 0 else 3)


def _measured(body: io.BytesIO, **environ: Any) -> dict[str, Any]:
    environ = {"wsgi.input": body, "HTTP_TRANSFER_ENCODING": "chunked"} | environ
    measure_body(environ)
    return environ


def test_a_chunked_body_gets_its_length() -> None:
    environ = _measured(_Slow(b'{"capability_id": "alpha"}'))
    assert environ["CONTENT_LENGTH"] == "26"
    assert environ["wsgi.input"].read() == b'{"capability_id": "alpha"}'


@pytest.mark.parametrize("more", [{"CONTENT_LENGTH": "3"}, {"HTTP_TRANSFER_ENCODING": "identity"}])
def test_every_other_body_is_left_alone(more: dict[str, str]) -> None:
    body = io.BytesIO(b"abc")
    environ = _measured(body, **more)
    assert environ["wsgi.input"] is body
    assert environ.get("CONTENT_LENGTH") == more.get("CONTENT_LENGTH")


def test_nothing_is_read_past_the_limit() -> None:
    body = io.BytesIO(bytes(ARCHIVE_BYTES_MAX + 1000))
    environ = _measured(body)
    assert environ["CONTENT_LENGTH"] == str(ARCHIVE_BYTES_MAX + 1)
    assert body.tell() == ARCHIVE_BYTES_MAX + 1


@pytest.mark.parametrize(("size", "read"), [(0, 0), (1, 1), (64 * 1024, 64 * 1024), (64 * 1024 + 1, 0)])
def test_what_a_refusal_left_unread_of_a_small_body_is_read(size: int, read: int) -> None:
    """Else the server closes a connection that the client goes on with."""

    def refuses(_environ: Any, _start_response: Any) -> list[bytes]:
        return [b"no"]

    body = _Slow(bytes(size))
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/", "CONTENT_LENGTH": str(size), "wsgi.input": body}
    assert FastPath(refuses)(environ, list) == [b"no"]
    assert body.tell() == read


@pytest.mark.parametrize("length", ["", "-1", "x", "\u0663"])
def test_an_odd_length_is_not_waited_for(length: str) -> None:
    body = io.BytesIO(b"abc")
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/", "CONTENT_LENGTH": length, "wsgi.input": body}
    FastPath(lambda *_: [])(environ, list)
    assert body.tell() == 0
