"""A receiver of webhooks on loopback that answers as a test wants: raw bytes on a socket, not a mock."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Reply = Callable[[socket.socket], object]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@dataclass(frozen=True)
class Request:
    """What came: header names in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Serves until `stop`; `replies` are used up first, then `reply` for all that comes."""

    reply: Reply = field(default_factory=lambda: say(OK))
    replies: list[Reply] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    certificate: tuple[Path, Path] | None = None
    port: int = 0

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        self._is_stopped = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?x=1"

    def _accept(self) -> None:
        while not self._is_stopped:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                with self._secured(connection) as wire:
                    self.requests.append(_read(wire))
                    reply = self.replies.pop(0) if self.replies else self.reply
                    reply(wire)
            except OSError:
                return

    def _secured(self, connection: socket.socket) -> socket.socket:
        if self.certificate is None:
            return connection
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate)
        return context.wrap_socket(connection, server_side=True)

    def stop(self) -> None:
        self._is_stopped = True
        # A thread that waits in accept() keeps the port until it is woken up.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _read(connection: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rows = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (row.partition(":") for row in rows)}
    while len(body) < int(headers.get("content-length", 0)):
        body += _some(connection)
    return Request(line, headers, body)


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError
    return data


def say(data: bytes) -> Reply:
    return lambda connection: connection.sendall(data)


def status(code: int, headers: str = "", body: bytes = b"no") -> Reply:
    head = f"HTTP/1.1 {code} Odd\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n"
    return say(head.encode() + body)


def hang(connection: Any) -> None:
    """Says nothing until the other side has gone."""
    connection.settimeout(30)
    connection.recv(1)


def trickle(head: bytes) -> Reply:
    """The head, then a byte now and then, for ever."""

    def reply(connection: socket.socket) -> None:
        connection.sendall(head)
        for _ in range(600):
            connection.sendall(b"x")
            time.sleep(0.05)

    return reply


def flood(sent: list[int]) -> Reply:
    """200 and bytes without an end; `sent` gets the length of each piece that was taken."""

    def reply(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        for _ in range(20_000):
            connection.sendall(b"y" * 65536)
            sent.append(65536)

    return reply
