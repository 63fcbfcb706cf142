"""What neither a webhook's receiver nor another registry can make the server do. Against real sockets."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from capability_rules.errors import SourceUnreadable
from features.webhooks.webhook_client import post_event
from registry.common.errors import SourceMisconfigured
from registry.common.net import registry_client
from registry.common.net.registry_client import RegistryClient
from tests.receivers import Receiver, Reply, flood, hang, say, status, trickle

SECONDS = 1.0
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"


@dataclass(frozen=True)
class Outcome:
    """The same of both: no status where the request failed."""

    status: int | None
    error: str = ""
    raised: type[Exception] | None = None


def _post_event(url: str) -> Outcome:
    response = post_event(f"{url}/list", body=b"{}", headers={}, total_seconds=SECONDS * 3)
    return Outcome(response.status, response.error)


def _get(url: str) -> Outcome:
    try:
        return Outcome(RegistryClient(url).get("/list", {}, also=range(600)).status)
    except SourceUnreadable as error:
        return Outcome(None, str(error), type(error))


Ask = Callable[[str], Outcome]


@pytest.fixture(params=[_post_event, _get], ids=["webhook", "registry"])
def ask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Ask:
    """Either user; both may reach loopback."""
    monkeypatch.setattr(registry_client, "RESPONSE_SECONDS", SECONDS * 3)
    _allow(settings, "127.0.0.0/8")
    made: Ask = request.param
    return made


def _allow(settings: Any, *networks: str) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = settings.IMPORT_ALLOWED_NETWORKS = tuple(map(ip_network, networks))


def _resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """The names that are looked up from here on."""
    names: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        names.append(host)
        return [(2, 1, 6, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return names


def test_the_name_is_looked_up_once_and_stays_the_host(
    ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = _resolve_to(monkeypatch, "127.0.0.1")
    assert ask(f"http://x.example:{receiver.port}").status == 200
    assert names == ["x.example"]
    assert receiver.requests[0].headers["host"] == f"x.example:{receiver.port}"
    assert receiver.requests[0].headers["accept-encoding"] == "identity"


def test_one_look_at_a_registry_resolves_its_name_once(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    _allow(settings, "127.0.0.0/8")
    names = _resolve_to(monkeypatch, "127.0.0.1")
    client = RegistryClient(f"http://x.example:{receiver.port}")
    assert [client.get("/list", {}).status, client.get("/list", {"cursor": "a b"}).status] == [200, 200]
    assert names == ["x.example"]
    assert receiver.requests[1].line in ("GET /list?cursor=a+b HTTP/1.1", "GET /list?cursor=a%20b HTTP/1.1")


def test_another_address_of_the_name_is_tried(
    ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    _allow(settings, "127.0.0.1/32", "127.0.0.8/31")
    _resolve_to(monkeypatch, "127.0.0.2", "127.0.0.8", "127.0.0.9", "127.0.0.1")
    assert ask(f"http://x.example:{receiver.port}").status == 200


def test_no_more_than_three_addresses_are_tried(ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    _resolve_to(monkeypatch, "127.0.0.7", "127.0.0.8", "127.0.0.9", "127.0.0.1")
    assert "connection attempts failed" in ask(f"http://x.example:{receiver.port}").error
    assert receiver.requests == []


def test_a_forbidden_address_beside_an_allowed_one_is_never_asked(
    ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    _allow(settings, "127.0.0.9/32")
    _resolve_to(monkeypatch, "127.0.0.1", "127.0.0.9", "::ffff:127.0.0.1", "127.0.0.1")
    assert "connection attempts failed" in ask(f"http://x.example:{receiver.port}").error
    assert receiver.requests == []


@pytest.mark.parametrize("scheme", ["https", "http"])
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.0", "10.0.0.1", "100.64.0.1", "169.254.169.254", "168.63.129.16", "224.0.0.1",
        "::1", "::", "fe80::1%1", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:168.63.129.16", "64:ff9b::7f00:1", "2002:7f00:1::",
        # Public by `is_global` of one Python 3.11 or another.
        "64:ff9b:1::a00:1", "fec0::1", "::127.0.0.1", "::ffff:0:7f00:1", "192.0.0.192", "5f00::1", "3fff::1", "2001::1",
    ],
)  # fmt: skip
def test_a_name_of_a_private_address_is_refused(
    ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any, address: str, scheme: str
) -> None:
    _allow(settings, "192.0.2.0/24")
    _resolve_to(monkeypatch, address)
    outcome = ask(f"{scheme}://x.example:{receiver.port}")
    assert outcome.status is None
    assert ("is not a public address" if scheme == "https" else "may be asked by https alone") in outcome.error
    assert outcome.raised in (None, SourceMisconfigured)
    assert receiver.requests == []


def test_plain_http_to_a_public_address_is_refused(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    _resolve_to(monkeypatch, "1.1.1.1")
    assert "may be asked by https alone" in ask("http://x.example").error


def test_what_a_refusal_says(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    _allow(settings)
    _resolve_to(monkeypatch, "10.0.0.1", "::1")
    assert _post_event("https://x.example").error == (
        "'x.example' (10.0.0.1, ::1) is not a public address, and not in WEBHOOK_ALLOWED_NETWORKS"
    )
    assert _post_event("http://x.example").error == (
        "'x.example' (10.0.0.1, ::1) may be asked by https alone: it is not in WEBHOOK_ALLOWED_NETWORKS"
    )
    assert _get("https://x.example").error == (
        "https://x.example: 'x.example' (10.0.0.1, ::1) is not a public address, and not in IMPORT_ALLOWED_NETWORKS"
    )
    assert _get("http://x.example").error == (
        "http://x.example: 'x.example' may be asked by https alone: it is not in IMPORT_ALLOWED_NETWORKS"
    )
    _resolve_to(monkeypatch)
    assert _post_event("https://x.example").error == "'x.example' could not be resolved: no answer within 3 s"
    assert _get("https://x.example") == Outcome(
        None, "https://x.example: 'x.example' could not be resolved: no answer within 5 s", SourceUnreadable
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (socket.EAI_NONAME, "https://x.example: Host not found: x.example"),
        (socket.EAI_AGAIN, "https://x.example: 'x.example' could not be resolved: Try again later"),
    ],
)
def test_a_name_that_does_not_exist_is_said_without_the_number_of_the_error(
    monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(code, "Try again later")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    assert _get("https://x.example").error == words


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(ask: Ask, receiver: Receiver, code: int) -> None:
    receiver.reply = status(code, f"Location: {receiver.url}\r\n")
    assert ask(f"http://127.0.0.1:{receiver.port}").status == code
    assert len(receiver.requests) == 1


def _endless(piece: bytes, head: bytes = b"") -> Reply:
    def reply(connection: socket.socket) -> None:
        until = time.monotonic() + 30
        connection.sendall(head)
        while time.monotonic() < until:
            connection.sendall(piece)

    return reply


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        hang,
        trickle(b""),
        trickle(b"HTTP/1.1 200 OK\r\nX-A: "),
        _endless(b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["hangs", "trickles a status", "trickles a header", "continues"],
)
def test_a_response_that_does_not_come_ends_in_time(ask: Ask, receiver: Receiver, reply: Reply) -> None:
    receiver.reply = reply
    outcome = ask(f"http://127.0.0.1:{receiver.port}")
    assert outcome in (
        Outcome(None, "No answer within 3 s"),
        Outcome(None, f"http://127.0.0.1:{receiver.port}: an answer took more than 3 s", SourceUnreadable),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        trickle(HEAD + b"\r\n"),
        _endless(b"1\r\nx\r\n" * 10_000, HEAD + b"Transfer-Encoding: chunked\r\n\r\n"),
    ],
    ids=["trickles", "tiny chunks"],
)
def test_a_body_that_does_not_end_ends_in_time(ask: Ask, receiver: Receiver, reply: Reply) -> None:
    """A webhook is delivered then: its status decides."""
    receiver.reply = reply
    outcome = ask(f"http://127.0.0.1:{receiver.port}")
    assert outcome.status == (200 if ask is _post_event else None)
    assert outcome.error.endswith("" if ask is _post_event else "an answer took more than 3 s")


def test_a_response_without_an_end_is_not_read_to_its_end(
    ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_client, "RESPONSE_SECONDS", 30.0)
    sent: list[int] = []
    receiver.reply = flood(sent)
    outcome = ask(f"http://127.0.0.1:{receiver.port}")
    assert outcome.status == (200 if ask is _post_event else None)
    assert outcome.error.endswith("" if ask is _post_event else "an answer has more than 16 MiB")
    assert sum(sent) < 64 * 1024 * 1024


def test_a_response_of_just_the_size_is_taken_and_a_byte_more_is_not(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    _allow(settings, "127.0.0.0/8")
    monkeypatch.setattr(registry_client, "RESPONSE_BYTES_MAX", 1000)
    receiver.replies = [status(200, body=b"x" * 1000), status(200, body=b"x" * 1001)]
    client = RegistryClient(f"http://127.0.0.1:{receiver.port}")
    assert client.get("/list", {}).body == b"x" * 1000
    with pytest.raises(SourceMisconfigured, match="an answer has more than"):
        client.get("/list", {})


def test_compressed_bytes_are_never_unpacked(receiver: Receiver, settings: Any) -> None:
    _allow(settings, "127.0.0.0/8")
    receiver.reply = say(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnoop")
    assert RegistryClient(f"http://127.0.0.1:{receiver.port}").get("/list", {}).body == b"noop"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_no_proxy_of_the_environment_is_asked(
    ask: Ask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert ask(f"http://127.0.0.1:{receiver.port}").status == 200


def test_tls_asks_for_the_name_and_checks_it(
    ask: Ask, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate is for hooks.example.com alone."""
    receiver = Receiver(certificate=certificate)
    _resolve_to(monkeypatch, "127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    try:
        assert ask(f"https://hooks.example.com:{receiver.port}").status == 200
        assert "CERTIFICATE_VERIFY_FAILED" in ask(f"https://other.example.com:{receiver.port}").error
        monkeypatch.delenv("SSL_CERT_FILE")
        assert "CERTIFICATE_VERIFY_FAILED" in ask(f"https://hooks.example.com:{receiver.port}").error
    finally:
        receiver.stop()
    assert len(receiver.requests) == 1
