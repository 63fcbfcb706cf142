"""The body of a request, received in the event loop: a client that sends slowly, or nothing, holds no thread."""

from __future__ import annotations

import asyncio
import math
import tempfile
from typing import IO, Final

from studio.server.environ import Environ
from studio.server.refusals import BodyIncomplete, BodyTimeout, BodyTooLarge, ServerStopping, TooManyBodies
from studio.server.rsgi import HttpProtocol

# A body may take this long; each byte that has arrived earns more time, at the slowest rate that is accepted.
GRACE_SECONDS: Final = 10.0
RATE_BYTES_PER_SECOND: Final = 16 * 1024
# An archive has at most 64 MiB; the rest is for a form around it.
BODY_BYTES_MAX: Final = 65 * 1024 * 1024
# Of all bodies that this process is receiving or holds.
HELD_BYTES_MAX: Final = 256 * 1024 * 1024
# Past this a body is kept in a temporary file.
_MEMORY_BYTES: Final = 1024 * 1024


class BodyReceiver:
    """Receives the bodies of one process, within a bound for all of them together.

    Used in the event loop alone, so that it needs no lock.
    """

    def __init__(self) -> None:
        self._held_bytes = 0
        self._waiting: set[asyncio.Timeout] = set()
        # By the loop's clock.
        self._stops_at = math.inf

    def stop(self, *, after_seconds: float) -> None:
        """Refuse what has not arrived by then."""
        self._stops_at = asyncio.get_running_loop().time() + after_seconds
        for timeout in self._waiting:
            timeout.reschedule(min(timeout.when() or math.inf, self._stops_at))

    async def receive(self, environ: Environ, protocol: HttpProtocol) -> None:
        """Put the whole body into `wsgi.input` and its true length into CONTENT_LENGTH.

        Raises RequestRefused. Call `release` in either case.
        """
        announced = _announced_bytes(environ)
        if announced == 0:
            return
        if announced is not None and announced > BODY_BYTES_MAX:
            raise BodyTooLarge(BODY_BYTES_MAX)
        body: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_MEMORY_BYTES)  # noqa: SIM115 (`release` closes it)
        environ["wsgi.input"] = body
        length = await self._receive_in_time(environ, protocol, body)
        if announced is not None and length != announced:
            raise BodyIncomplete
        environ["CONTENT_LENGTH"] = str(length)
        body.seek(0)

    def release(self, environ: Environ) -> None:
        """Forget the body of a request that has been answered."""
        self._held_bytes -= environ.pop(_HELD, 0)
        environ["wsgi.input"].close()

    async def _receive_in_time(self, environ: Environ, protocol: HttpProtocol, body: IO[bytes]) -> int:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout_at(min(began + GRACE_SECONDS, self._stops_at)) as timeout:
                self._waiting.add(timeout)
                try:
                    return await self._receive_pieces(environ, protocol, body, timeout, began)
                finally:
                    self._waiting.discard(timeout)
        except TimeoutError:
            raise (ServerStopping() if loop.time() >= self._stops_at else BodyTimeout()) from None

    async def _receive_pieces(
        self, environ: Environ, protocol: HttpProtocol, body: IO[bytes], timeout: asyncio.Timeout, began: float
    ) -> int:
        length = 0
        # An empty piece is the last one.
        async for piece in protocol:
            length += len(piece)
            if length > BODY_BYTES_MAX:
                raise BodyTooLarge(BODY_BYTES_MAX)
            self._hold(environ, len(piece))
            body.write(piece)
            timeout.reschedule(min(began + GRACE_SECONDS + length / RATE_BYTES_PER_SECOND, self._stops_at))
        return length

    def _hold(self, environ: Environ, count: int) -> None:
        if self._held_bytes + count > HELD_BYTES_MAX:
            raise TooManyBodies
        self._held_bytes += count
        environ[_HELD] = environ.get(_HELD, 0) + count


_HELD: Final = "studio.held_bytes"


def _announced_bytes(environ: Environ) -> int | None:
    """The announced length in bytes; None where it is chunked. The server has refused what is not a number."""
    if length := environ.get("CONTENT_LENGTH"):
        return int(length)
    return None if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower() else 0
