"""A client's connection, with a transport that keeps what is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from studio.gateway.client_addresses import ClientAddresses
from studio.gateway.connection import PIECE_BYTES, ClientConnection
from studio.gateway.warm_responses import Clock, WarmResponses
from studio.server.warm_reads import WarmReads
from tests.unit.studio.gateway.test_warm_responses import EverythingReady

HEAD = b"GET /api/v1/capability_registry_list HTTP/1.1\r\nHost: a\r\n\r\n"


@dataclass
class Transport:
    """Holds one response, as a client that does not read leaves it; `connection` is then asked to stop."""

    connection: Any = None
    written: list[bytes] = field(default_factory=list)
    is_reading: bool = True
    is_closed: bool = False
    # How much it takes before it asks to wait.
    room: int = 0

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))
        self.room -= len(data)
        if self.room < 0:
            self.connection.pause_writing()

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return "192.0.2.1", 4711

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True


class Host:
    """A gateway in which everything is warm."""

    now = 0.0
    is_stopping = False

    def opened(self, _connection: ClientConnection) -> bool:
        return True

    def __init__(self, most: int = 0) -> None:
        self.addresses = ClientAddresses((), most)
        self.response: bytes = b""

    def closed(self, _connection: ClientConnection) -> None: ...

    def admit(self, host: str) -> bool:
        return self.addresses.admit(host)

    def release(self, host: str) -> None:
        self.addresses.release(host)

    def responses_for(self, _host: str) -> Any:
        if self.response:
            return SimpleNamespace(find=lambda _head: self.response)
        ready = EverythingReady()
        return WarmResponses(ready, WarmReads(ready, ()), Clock(), is_proxy=False)


def test_a_client_that_asks_and_does_not_read_gets_no_more() -> None:
    connection = ClientConnection(Host())  # type: ignore[arg-type]
    transport = Transport(connection)
    connection.connection_made(transport)
    connection.data_received(HEAD * 3)
    assert (len(transport.written), transport.is_reading) == (1, False)
    for count in (2, 3):
        connection.resume_writing()
        assert len(transport.written) == count
    connection.resume_writing()
    assert (len(transport.written), transport.is_reading) == (3, True)


def _reading(response: bytes, room: int) -> tuple[Host, ClientConnection, Transport]:
    host = Host()
    host.response = response
    connection = ClientConnection(host)  # type: ignore[arg-type]
    transport = Transport(connection, room=room)
    connection.connection_made(transport)
    connection.data_received(HEAD)
    return host, connection, transport


def test_a_large_response_is_written_by_pieces_as_the_client_reads() -> None:
    """What it does not take is not copied for it."""
    response = bytes(range(256)) * 2048
    _, connection, transport = _reading(response, 0)
    assert [len(piece) for piece in transport.written] == [PIECE_BYTES]
    assert not connection.is_idle
    for count in range(2, len(response) // PIECE_BYTES + 1):
        assert not transport.is_reading
        connection.resume_writing()
        assert len(transport.written) == count
    assert b"".join(transport.written) == response
    connection.resume_writing()
    assert (connection.is_idle, transport.is_reading, transport.is_closed) == (True, True, False)


def test_a_client_that_reads_gets_a_large_response_at_once() -> None:
    response = b"x" * (PIECE_BYTES * 3 + 1)
    _, connection, transport = _reading(response, len(response))
    assert b"".join(transport.written) == response
    assert connection.is_idle


def test_a_connection_that_is_to_end_ends_behind_its_response() -> None:
    response = b"x" * (PIECE_BYTES * 2)
    for end in ("close", "stop"):
        host, connection, transport = _reading(response, 0)
        if end == "close":
            connection.close()
        else:
            host.is_stopping = True
        assert not transport.is_closed
        connection.resume_writing()
        assert b"".join(transport.written) == response
        assert transport.is_closed


def test_one_connection_too_many_of_an_address_is_refused_in_words() -> None:
    host = Host(most=1)
    first, second, third = (ClientConnection(host) for _ in range(3))  # type: ignore[arg-type]
    transports = [Transport(each, room=10_000) for each in (first, second, third)]
    first.connection_made(transports[0])
    second.connection_made(transports[1])
    assert (transports[0].written, transports[0].is_closed) == ([], False)
    assert transports[1].written[0].startswith(b"HTTP/1.1 429 ")
    assert b"RATE_LIMITED" in transports[1].written[0]
    assert b"retry-after" in transports[1].written[0]
    assert transports[1].is_closed
    # One that was refused leaves no room, one that was admitted does.
    second.connection_lost(None)
    assert not host.addresses.admit("192.0.2.1")
    first.connection_lost(None)
    third.connection_made(transports[2])
    assert transports[2].written == []
