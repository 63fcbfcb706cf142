"""Two readers of a head must see its end, and its body's end, in the same place; what is doubtful is refused."""

from __future__ import annotations

import pytest

from studio.gateway.framing import (
    MalformedMessage,
    UnsupportedCoding,
    has_odd_line_end,
    parse_request_head,
    parse_response_head,
)


@pytest.mark.parametrize(
    ("fields", "body_bytes"),
    [
        ("", 0),
        ("Content-Length: 0\r\n", 0),
        ("content-length:17 \r\n", 17),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", 5),
        ("Transfer-Encoding: chunked\r\n", None),
        ("Transfer-Encoding: Chunked \r\n", None),
    ],
)
def test_the_length_of_a_request(fields: str, body_bytes: int | None) -> None:
    raw = f"POST /x?y=1 HTTP/1.1\r\nHost: a\r\n{fields}\r\n".encode()
    head = parse_request_head(raw)
    assert (head.method, head.target, head.is_http_11, head.body_bytes) == (b"POST", b"/x?y=1", True, body_bytes)


@pytest.mark.parametrize(
    "raw",
    [
        b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\n\nGET /b HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rContent-Length: 5\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n more\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        # One host, and one name for it.
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://b@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://a/ HTTP/1.0\r\n\r\n",
        b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
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


@pytest.mark.parametrize(
    "coding",
    ["gzip, chunked", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked", "gzip", "identity", "", "x"],
)
def test_another_coding_than_chunked_alone_is_not_supported(coding: str) -> None:
    with pytest.raises(UnsupportedCoding):
        parse_request_head(f"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n".encode())


@pytest.mark.parametrize(
    ("target", "host"),
    [
        ("http://a/x", "a"),
        ("HTTP://A/x?y", "a"),
        ("http://a:80", "A"),
        ("http://a?x", "a:80"),
        ("https://a:443/", "a"),
        ("http://[::1]:8000/", "[::1]:8000"),
        ("*", "b"),
        ("/http://b/", "a"),
        ("//b/", "a"),
    ],
)
def test_an_absolute_target_names_the_host_that_is_asked(target: str, host: str) -> None:
    raw = f"OPTIONS {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    assert parse_request_head(raw).target == target.encode()


@pytest.mark.parametrize(
    ("version", "fields", "persists"),
    [
        ("1.1", "", True),
        ("1.1", "Connection: close\r\n", False),
        ("1.1", "Connection: TE, Close\r\n", False),
        ("1.1", "Connection: TE\r\nConnection: close\r\n", False),
        ("1.1", "Connection: Upgrade\r\n", True),
        ("1.0", "", False),
        ("1.0", "Connection: Keep-Alive\r\n", True),
        ("1.0", "Connection: keep-alive, close\r\n", False),
    ],
)
def test_a_connection_goes_on_where_the_client_expects_it(version: str, fields: str, persists: bool) -> None:
    assert parse_request_head(f"GET / HTTP/{version}\r\nHost: a\r\n{fields}\r\n".encode()).persists is persists


@pytest.mark.parametrize(
    ("received", "is_odd"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r", False),
        (b"GET / HTTP/1.1\r", False),
        (b"", False),
        (b"\r", False),
        (b"GET / HTTP/1.1\nHost: a\n\n", True),
        (b"GET / HTTP/1.1\r\nHost: a\n", True),
        (b"GET / HTTP/1.1\rHost: a", True),
        (b"GET / HTTP/1.1\r\r", True),
        (b"\n", True),
    ],
)
def test_a_line_that_ends_otherwise_is_seen_before_the_end(received: bytes, is_odd: bool) -> None:
    assert has_odd_line_end(received) is is_odd
