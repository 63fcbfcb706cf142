"""Requests as granian gives them to an RSGI application, without granian."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.server.rsgi import HeaderList


@dataclass
class MadeHeaders:
    """`pairs` whose values are ASCII are readable; of the others there is only the name, as with granian."""

    pairs: HeaderList = field(default_factory=list)

    def items(self) -> HeaderList:
        return [pair for pair in self.pairs if pair[1].isascii()]

    def keys(self) -> list[str]:
        return list({name: None for name, _ in self.pairs})

    def __contains__(self, name: str) -> bool:
        return name in self.keys()


@dataclass
class MadeScope:
    """A request without its body."""

    method: str = "GET"
    path: str = "/"
    query_string: str = ""
    headers: MadeHeaders = field(default_factory=MadeHeaders)
    client: str = "127.0.0.1:4711"
    server: str = "127.0.0.1:8000"
    scheme: str = "http"
    authority: str | None = None
    http_version: str = "1.1"


@dataclass
class SentProtocol:
    """Hands out the pieces of a body (a number is a pause in seconds) and keeps what was sent."""

    pieces: Sequence[bytes | float] = ()
    sent: Any = None

    async def __call__(self) -> bytes:
        return b"".join([piece async for piece in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                await asyncio.sleep(piece)
        yield b""

    def response_bytes(self, status: int, headers: HeaderList, body: bytes) -> None:
        assert self.sent is None
        self.sent = (status, headers, body)

    def response_file(self, status: int, headers: HeaderList, file: str) -> None:
        self.response_bytes(status, headers, Path(file).read_bytes())


def scope_of(environ: dict[str, Any]) -> MadeScope:
    """The scope of the request that a WSGI environ describes."""
    names = {"CONTENT_TYPE": "content-type", "CONTENT_LENGTH": "content-length"}
    names |= {key: key[5:].lower().replace("_", "-") for key in environ if key.startswith("HTTP_")}
    pairs = [(name, environ[key]) for key, name in names.items() if environ.get(key)]
    return MadeScope(
        method=environ["REQUEST_METHOD"],
        path=environ["PATH_INFO"].encode("latin-1").decode(),
        query_string=environ["QUERY_STRING"],
        headers=MadeHeaders(pairs),
        client=f"{environ['REMOTE_ADDR']}:4711",
        scheme=environ["wsgi.url_scheme"],
    )


def raw_head(scope: MadeScope) -> bytes:
    """The head of the request as a client sends it."""
    target = scope.path + (f"?{scope.query_string}" if scope.query_string else "")
    lines = [f"{scope.method} {target} HTTP/{scope.http_version}"]
    lines += [f"{name}: {value}" for name, value in scope.headers.pairs]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def parse_wire(wire: bytes) -> tuple[int, HeaderList, bytes]:
    """Status, headers and body of a whole response."""
    head, _, body = wire.partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    pairs = [(name, value) for name, _, value in (field.partition(": ") for field in fields)]
    return int(line.split()[1]), pairs, body
