"""The environ that the WSGI application gets."""

from __future__ import annotations

from typing import Any

import pytest

from studio.server.environ import build_environ
from tests.rsgi import MadeHeaders, MadeScope


def _environ(*headers: tuple[str, str], **scope: Any) -> dict[str, Any]:
    return build_environ(MadeScope(headers=MadeHeaders(list(headers)), **scope))


def test_a_request_line() -> None:
    found = _environ(method="POST", path="/a b", query_string="x=%20", http_version="1.0", scheme="https")
    names = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL", "wsgi.url_scheme")
    assert [found[name] for name in names] == ["POST", "/a b", "x=%20", "HTTP/1.0", "https"]


def test_text_outside_ascii_is_its_bytes() -> None:
    found = _environ(path="/é\ufffd", query_string="q=é")
    assert (found["PATH_INFO"], found["QUERY_STRING"]) == ("/Ã©ï¿½", "q=Ã©")


@pytest.mark.parametrize(
    ("client", "address"), [("127.0.0.1:80", "127.0.0.1"), ("[::1]:80", "::1"), ("[2001:db8::7]:65535", "2001:db8::7")]
)
def test_the_peer(client: str, address: str) -> None:
    assert _environ(client=client)["REMOTE_ADDR"] == address


def test_headers() -> None:
    found = _environ(("host", "a"), ("content-type", "text/plain"), ("content-length", "3"), ("accept-encoding", "x"))
    assert found["HTTP_HOST"] == "a"
    assert (found["CONTENT_TYPE"], found["CONTENT_LENGTH"], found["HTTP_ACCEPT_ENCODING"]) == ("text/plain", "3", "x")
    assert not [name for name in found if name.startswith("HTTP_CONTENT")]


def test_a_header_that_came_twice() -> None:
    found = _environ(("host", "a"), ("host", "b"), ("cookie", "a=1"), ("cookie", "b=2"))
    found |= _environ(("content-length", "3"), ("content-length", "3"))
    assert (found["HTTP_HOST"], found["HTTP_COOKIE"], found["CONTENT_LENGTH"]) == ("a,b", "a=1;b=2", "3")


def test_a_name_with_an_underscore_takes_nobodys_place() -> None:
    found = _environ(("x-forwarded-for", "203.0.113.7"), ("x_forwarded_for", "6.6.6.6"), ("x_other", "1"))
    assert found["HTTP_X_FORWARDED_FOR"] == "203.0.113.7"
    assert "HTTP_X_OTHER" not in found


@pytest.mark.parametrize(("headers", "host"), [([], "b:90"), ([("host", "a")], "a")])
def test_the_host_of_an_absolute_address(headers: list[tuple[str, str]], host: str) -> None:
    assert _environ(*headers, authority="b:90")["HTTP_HOST"] == host


def test_a_header_that_cannot_be_read_is_empty() -> None:
    found = _environ(("idempotency-key", "ä"), ("content-type", "ä"), ("x-a", "ä"), ("x-a", "1"), ("x_b", "ä"))
    assert (found["HTTP_IDEMPOTENCY_KEY"], found["CONTENT_TYPE"], found["HTTP_X_A"]) == ("", "", "1")
    assert "HTTP_X_B" not in found
