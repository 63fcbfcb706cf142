"""A POST to a stranger: to checked addresses alone, within its time, whatever comes back. Against real sockets."""

from __future__ import annotations

import socket
import threading
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from features.webhooks.webhook_client import DeliveryResponse, check_url, post_event
from tests.event_loop import run_async
from tests.receivers import Receiver, Reply, flood, hang, say, status, trickle

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture(autouse=True)
def loopback(settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK


def test_what_arrives(receiver: Receiver) -> None:
    answer = post_event(receiver.url, body=b'{"a": 1}', headers={"webhook-id": "x"})
    assert (answer.status, answer.excerpt, answer.error, answer.is_success) == (200, "ok", "", True)
    (request,) = receiver.requests
    assert request.line == "POST /hook?x=1 HTTP/1.1"
    assert request.body == b'{"a": 1}'
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["webhook-id"] == "x"


@pytest.mark.parametrize("code", [301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503])
def test_a_redirect_is_not_followed_and_no_other_status_is_success(receiver: Receiver, code: int) -> None:
    receiver.reply = status(code, f"Location: {receiver.url}\r\n")
    answer = post_event(receiver.url, body=b"{}", headers={})
    assert (answer.status, answer.is_success, len(receiver.requests)) == (code, False, 1)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (hang, "No answer within 0.5 s"),
        (trickle(b""), "No answer within 0.5 s"),
        (trickle(b"HTTP/1.1 200 OK\r\nX-A: "), "No answer within 0.5 s"),
        (lambda connection: connection.close(), "without sending a response"),
        (say(b"\x00\xff\xfe garbage\r\n\r\n"), "illegal status line"),
        (say(b"HTTP/1.1 200"), "without sending a response"),
        (say(b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"y" * 200_000 + b"\r\n\r\n"), "too long"),
    ],
    ids=["hangs", "trickles", "trickles headers", "closes", "garbage", "half a line", "huge headers"],
)
def test_what_is_no_answer(receiver: Receiver, reply: Reply, expected: str) -> None:
    receiver.reply = reply
    answer = post_event(receiver.url, body=b"{}", headers={}, total_seconds=0.5)
    assert answer.status is None
    assert expected in answer.error


@pytest.mark.parametrize(
    "reply",
    [
        flood([]),
        trickle(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
        say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"),
        say(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnoop"),
        say(b"HTTP/1.1 204 No Content\r\n\r\n"),
        say(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\x00\xff\xfeabc"),
    ],
    ids=["without end", "trickles", "half a body", "not gzip", "no content", "no text"],
)
def test_the_status_decides_whatever_becomes_of_the_body(receiver: Receiver, reply: Reply) -> None:
    receiver.reply = reply
    # Whatever trickles takes all of it; a busy machine takes half a second to connect.
    answer = post_event(receiver.url, body=b"{}", headers={}, total_seconds=3)
    assert answer.is_success
    assert len(answer.excerpt) <= 1000
    assert "\0" not in answer.excerpt


def test_no_more_is_read_than_a_bound(receiver: Receiver) -> None:
    sent: list[int] = []
    receiver.reply = flood(sent)
    assert post_event(receiver.url, body=b"{}", headers={}).is_success
    # What the system's buffers took, out of more than a thousand MiB.
    assert sum(sent) < 64 * 1024 * 1024


def test_a_receiver_that_is_down(receiver: Receiver) -> None:
    receiver.stop()
    answer = post_event(receiver.url, body=b"{}", headers={})
    assert (answer.status, answer.error) == (None, "All connection attempts failed")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "168.63.129.16",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "224.0.0.1",
        "[ff02::1]",
    ],
)
def test_no_address_of_our_own_is_asked(receiver: Receiver, settings: Any, host: str) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    answer = post_event(f"https://{host}:{receiver.port}/", body=b"{}", headers={})
    assert answer.status is None
    assert (
        "not a public address" in answer.error
        or "could not be resolved" in answer.error
        or "Host not found" in answer.error
    )
    assert receiver.requests == []


def test_plain_http_goes_to_named_networks_alone(settings: Any) -> None:
    answer = post_event("http://1.1.1.1/", body=b"{}", headers={})
    assert "may be asked by https alone" in answer.error


def test_the_address_that_was_checked_is_the_one_that_is_asked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """A name server that answers otherwise a moment later is not asked again; Host stays the name."""
    asked: list[str] = []

    def rebind(host: str, port: int, **_options: Any) -> list[Any]:
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    answer = post_event(f"http://hooks.example.com:{receiver.port}/", body=b"{}", headers={})
    assert answer.is_success
    assert asked == ["hooks.example.com"]
    assert receiver.requests[0].headers["host"] == f"hooks.example.com:{receiver.port}"


def test_another_address_of_the_name_is_tried_and_a_forbidden_one_never(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.1/32"), ip_network("127.0.0.9/32"))
    rows = [(2, 1, 6, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.9", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    assert post_event(f"http://hooks.example.com:{receiver.port}/", body=b"{}", headers={}).is_success
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    assert "127.0.0.2" in post_event("https://hooks.example.com/", body=b"{}", headers={}).error


def test_a_resolver_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()

    def hang(*_arguments: Any, **_options: Any) -> list[Any]:
        is_over.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    assert "could not be resolved" in post_event("https://x.example/", body=b"", headers={}, total_seconds=0.3).error
    is_over.set()


def _resolves_to_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 0))])


def test_tls_asks_for_the_name_and_checks_it(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Receiver(certificate=certificate)
    _resolves_to_loopback(monkeypatch)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    try:
        answer = post_event(f"https://hooks.example.com:{receiver.port}/", body=b"{}", headers={})
        assert answer.is_success, answer
        other = post_event(f"https://other.example.com:{receiver.port}/", body=b"{}", headers={})
        assert "CERTIFICATE_VERIFY_FAILED" in other.error
        monkeypatch.delenv("SSL_CERT_FILE")
        unknown = post_event(f"https://hooks.example.com:{receiver.port}/", body=b"{}", headers={})
        assert "CERTIFICATE_VERIFY_FAILED" in unknown.error
    finally:
        receiver.stop()
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("hooks.example.com", "absolute"),
        ("ftp://x.example/", "absolute"),
        ("https://", "absolute"),
        ("https://x.example/\n", None),
        ("https://x.example/a\nb", "absolute"),
        ("https://" + "x" * 2100, "absolute"),
        ("https://x.example:99999/", "absolute"),
        ("https://u:p@x.example/", "password"),
        ("https://x.example/#a", "fragment"),
        ("http://x.example/", "begins with https"),
        ("https://127.0.0.1/", "not a public address"),
        ("https://[::1]/", "not a public address"),
        ("https://x.example/a?b=c", None),
    ],
)
def test_which_urls_are_taken(settings: Any, url: str, words: str | None) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    if words is None:
        assert check_url(url) == url.strip()
        return
    with pytest.raises(InvalidRequest, match=words):
        check_url(url)


def test_a_caller_with_an_event_loop_of_its_own_may_post(receiver: Receiver) -> None:
    async def call() -> DeliveryResponse:
        return post_event(receiver.url, body=b"{}", headers={})

    assert run_async(call()).is_success
