"""A client's connection, with a transport that keeps what is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.gateway.connection import ClientConnection
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

    def write(self, data: bytes) -> None:
        self.written.append(data)
        self.connection.pause_writing()

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return "192.0.2.1", 4711

    def is_closing(self) -> bool:
        return False

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

    def responses_for(self, _address: str) -> WarmResponses:
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
