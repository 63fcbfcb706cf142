"""Two readers of a head must see its end, and its body's end, in the same place; what is doubtful is refused."""

from __future__ import annotations

import pytest

from studio.gateway.framing import MalformedMessage, parse_request_head, parse_response_head


@pytest.mark.parametrize(
    ("fields", "body_bytes"),
    [
        ("", 0),
        ("Content-Length: 0\r\n", 0),
        ("content-length:17 \r\n", 17),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", 5),
        ("Transfer-Encoding: chunked\r\n", None),
    ],
)
def test_the_length_of_a_request(fields: str, body_bytes: int | None) -> None:
    raw = f"POST /x?y=1 HTTP/1.1\r\nHost: a\r\n{fields}\r\n".encode()
    head = parse_request_head(raw)
    assert (head.method, head.target, head.is_http_11, head.body_bytes) == (b"POST", b"/x?y=1", True, body_bytes)


@pytest.mark.parametrize(
    "raw",
    [
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\n\nGET /b HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\r\n more\r\n\r\n",
        b"GET / HTTP/1.1\r\nX : a\r\n\r\n",
        b"GET / HTTP/1.1\r\n: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\rContent-Length: 5\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_a_doubtful_head_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        parse_request_head(raw)


@pytest.mark.parametrize(
    ("method", "line", "body_bytes"),
    [
        (b"GET", b"HTTP/1.1 200 OK", 5),
        (b"HEAD", b"HTTP/1.1 200 OK", 0),
        (b"GET", b"HTTP/1.1 304 Not Modified", 0),
        (b"DELETE", b"HTTP/1.1 204 No Content", 0),
        (b"POST", b"HTTP/1.1 100 Continue", 0),
    ],
)
def test_the_length_of_a_response(method: bytes, line: bytes, body_bytes: int) -> None:
    head = parse_response_head(line + b"\r\ncontent-length: 5\r\n\r\n", method)
    assert head.body_bytes == body_bytes
    assert not head.closes


def test_a_response_without_a_length_ends_with_the_connection() -> None:
    head = parse_response_head(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", b"GET")
    assert head.body_bytes is None
    assert head.closes
    with pytest.raises(MalformedMessage):
        parse_response_head(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"GET")
