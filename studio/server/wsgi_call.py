"""One call of a WSGI application (PEP 3333), with its response taken whole."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from studio.server.environ import Environ
from studio.server.rsgi import HeaderList

WsgiApplication = Callable[[Environ, Any], Iterable[bytes]]

# A larger response goes through a file: the server reads it at the client's pace, and memory stays flat.
_MEMORY_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WsgiResponse:
    """A response: `body` is bytes, or the path of a temporary file that the caller removes."""

    status: int
    headers: HeaderList
    body: bytes | Path


class _Started:
    """What the application passes to `start_response`."""

    __slots__ = ("headers", "status")

    def __call__(self, status: str, headers: HeaderList, exc_info: Any = None) -> None:  # noqa: ARG002 (PEP 3333)
        self.status = int(status[:3])
        self.headers = headers


def call_wsgi(application: WsgiApplication, environ: Environ) -> WsgiResponse:
    """Call the application and read its response to the end, in this thread."""
    started = _Started()
    result = application(environ, started)
    try:
        body = _join(iter(result))
    finally:
        if hasattr(result, "close"):
            result.close()
    return WsgiResponse(started.status, _with_length(started.headers, body), body)


def _with_length(headers: HeaderList, body: bytes | Path) -> HeaderList:
    """A file would be sent in chunks of unknown number otherwise, which the gateway does not read."""
    if isinstance(body, bytes) or any(name.lower() == "content-length" for name, _ in headers):
        return headers
    return [*headers, ("Content-Length", str(body.stat().st_size))]


def _join(chunks: Iterator[bytes]) -> bytes | Path:
    """All of it as bytes where it fits into memory, else in a temporary file."""
    held: list[bytes] = []
    length = 0
    for chunk in chunks:
        held.append(chunk)
        length += len(chunk)
        if length > _MEMORY_BYTES:
            return _write_file(itertools.chain(held, chunks))
    return held[0] if len(held) == 1 else b"".join(held)


def _write_file(chunks: Iterable[bytes]) -> Path:
    with tempfile.NamedTemporaryFile(prefix="studio-response-", delete=False) as file:
        file.writelines(chunks)
    return Path(file.name)
