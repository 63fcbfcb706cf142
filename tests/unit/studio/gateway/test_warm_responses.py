"""A response is found by the bytes of a head, as long as it may be sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from studio.gateway.framing import parse_request_head
from studio.gateway.warm_responses import Clock, WarmResponses, read_scope
from studio.server.warm_reads import WarmReads
from tests.rsgi import parse_wire

TRUSTED = (ip_network("10.0.0.0/8"),)
PROXY, STRANGER = "10.0.0.1:4711", "192.0.2.1:4711"
LIST = "/api/v1/capability_registry_list"


@dataclass
class Kept:
    body: bytes
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=lambda: [("ETag", '"x"')])
    wire: bytes = b""
    wire_date: bytes = b""


@dataclass
class EverythingReady:
    """In the place of the fast path; `prepared` counts what was not found."""

    generation: int = 1
    prepared: int = 0
    may_send: bool = True
    kept: dict[Any, Kept] = field(default_factory=dict)

    def find(self, key: Any) -> Kept | None:
        return self.kept.get(key)

    def send_again(self, ready: Any) -> bool:
        return self.may_send

    def prepare(self, environ: dict[str, Any], key: Any) -> Kept:
        self.prepared += 1
        kept = self.kept[key] = Kept(f"{self.prepared} {environ['HTTP_HOST']}".encode())
        return kept

    def learn(self, *_: Any) -> None: ...

    def find_missing(self, _environ: Any) -> None: ...


def _head(*fields: str, line: str = f"GET {LIST} HTTP/1.1") -> bytes:
    return "\r\n".join([line, "Host: a", *fields, "", ""]).encode()


def _responses(ready: EverythingReady, *, is_proxy: bool = False) -> WarmResponses:
    return WarmResponses(ready, WarmReads(ready, TRUSTED), Clock(), is_proxy=is_proxy)


def test_a_head_that_came_before_is_answered_without_being_parsed() -> None:
    ready = EverythingReady()
    responses = _responses(ready)
    assert responses.find(_head()) is None
    first, _ = responses.answer(parse_request_head(_head()), STRANGER)
    assert first is not None
    assert responses.find(_head()) == first
    status, headers, body = parse_wire(first)
    assert (status, body) == (200, b"1 a")
    assert dict(headers) == {"etag": '"x"', "date": responses.clock.date.decode()}


def test_the_date_moves() -> None:
    responses = _responses(EverythingReady())
    responses.answer(parse_request_head(_head()), STRANGER)
    responses.clock.date = b"Thu, 01 Jan 2037 00:00:00 GMT"
    wire = responses.find(_head())
    assert wire is not None
    assert dict(parse_wire(wire)[1])["date"] == "Thu, 01 Jan 2037 00:00:00 GMT"


def test_nothing_of_an_earlier_snapshot_is_sent() -> None:
    ready = EverythingReady()
    responses = _responses(ready)
    responses.answer(parse_request_head(_head()), STRANGER)
    ready.may_send = False
    assert responses.find(_head()) is None
    ready.may_send = True
    ready.generation += 1
    assert responses.find(_head()) is None
    assert responses.find(_head()) is None


def test_the_id_of_a_proxys_request_is_its_own() -> None:
    ready = EverythingReady()
    responses = _responses(ready, is_proxy=True)
    for given in ("one", "two"):
        raw = _head(f"X-Request-ID: {given}", "Accept: */*")
        wire = responses.find(raw) or responses.answer(parse_request_head(raw), PROXY)[0]
        assert wire is not None
        assert dict(parse_wire(wire)[1])["x-request-id"] == given
    assert ready.prepared == 1
    assert responses.find(_head("X-Request-ID: three", "Accept: */*")) is not None
    assert responses.find(_head("X-Request-ID: not sane", "Accept: */*")) is None
    assert responses.find(_head("X-Request-ID: a", "Accept: */*", "x-request-id: b")) is None


def test_a_strangers_id_is_not_sent_back() -> None:
    responses = _responses(EverythingReady())
    raw = _head("X-Request-ID: mine")
    wire, _ = responses.answer(parse_request_head(raw), STRANGER)
    assert wire is not None
    assert b"mine" not in wire


@pytest.mark.parametrize(
    "raw",
    [
        _head(line=f"HEAD {LIST} HTTP/1.1"),
        _head(line=f"GET {LIST} HTTP/1.0"),
        _head(line=f"GET {LIST}/ HTTP/1.1"),
        _head(line=f"GET {LIST}?a#b HTTP/1.1"),
        _head(line=f"GET http://a{LIST} HTTP/1.1"),
        _head(line="GET /api/v1/capability%5Fregistry_list HTTP/1.1"),
        _head("Connection: close"),
        _head("Connection: keep-alive, upgrade"),
        _head("Expect: 100-continue"),
        _head("Content-Length: 0"),
        _head("Content-Length: 4"),
        _head("Transfer-Encoding: chunked"),
        _head("Upgrade: h2c"),
        _head("X: ä"),
    ],
)
def test_what_is_unusual_is_left_to_the_application(raw: bytes) -> None:
    assert read_scope(parse_request_head(raw), STRANGER) is None
