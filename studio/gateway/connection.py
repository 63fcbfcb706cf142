"""A client's connection, and the application's end of it.

Each client has a connection to the application of its own. Bytes of two clients never share one, so that a message
whose end the two sides saw in different places could only ever harm who sent it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from studio.gateway import framing, refusals
from studio.gateway.framing import RequestHead, ResponseHead
from studio.server.environ import Environ
from studio.server.refusals import BodyTooLarge, RequestRefused
from studio.server.request_body import BODY_BYTES_MAX

if TYPE_CHECKING:
    from studio.gateway.server import Gateway

# What a client that is refused may still send before its connection is cut.
_LINGER_SECONDS: Final = 2.0
# So much of a response is given to the transport at once; it asks to wait above half of it.
PIECE_BYTES: Final = 128 * 1024
# Of all bytes in one header that only the gateway may set.
RESERVED: Final = b"x-gateway-"


@dataclass
class Relayed:
    """A request that was passed on, and its response has not ended: `left` bytes of its body are still to come, None
    where only the application knows."""

    head: RequestHead
    environ: Environ | None
    message: bytes
    left: int | None
    has_response: bool = False
    is_repeated: bool = False


# What was received is taken out of it in the same call, so that all connections share one. `asyncio.Protocol` would get
# a new one of 256 KiB for each piece, which is a call to the kernel with the allocator's settings that we serve with.
_RECEIVED: Final = bytearray(64 * 1024)


class BufferedConnection(asyncio.BufferedProtocol):
    """A protocol with `data_received`, without an allocation for each piece."""

    def get_buffer(self, _sizehint: int) -> bytearray:
        return _RECEIVED

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(memoryview(_RECEIVED)[:nbytes]))

    def data_received(self, data: bytes) -> None:
        raise NotImplementedError


# Idle: nothing is under way, what comes next is a head. Head: a part of one is there. Relayed: a request was passed on,
# and its response has not ended. Closing: nothing that comes is read any more; what is unsent is still written.
ClientState = Enum("ClientState", ["IDLE", "HEAD", "RELAYED", "CLOSING"])
# Of a response: its head is waited for; held: it was seen and has to wait for something, until it is released; then its
# body, or one that goes on to the end of the connection.
UpstreamState = Enum("UpstreamState", ["IDLE", "HEAD", "HELD", "RELEASED", "BODY", "ENDLESS"])
_IDLE: Final = ClientState.IDLE


class ClientConnection(BufferedConnection):
    """Answers what is warm, relays the rest, one request at a time."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._buffer = b""
        self._upstream: Upstream | None = None
        self._relayed: Relayed | None = None
        self._state = _IDLE
        self._is_admitted = False
        # Of a warm response to a client that reads slowly: what is still to be written.
        self._unsent: memoryview | None = None
        # Since when a head is waited for, and since when the client has not read.
        self.idle_since = gateway.now
        self.stalled_since: float | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport: asyncio.Transport = transport
        self._host = str(transport.get_extra_info("peername")[0])
        self._client = _address(transport.get_extra_info("peername"))
        self._server = _address(transport.get_extra_info("sockname"))
        self._responses = self._gateway.responses_for(self._host)
        if not self._gateway.opened(self):
            transport.abort()
            return
        self._is_admitted = self._gateway.admit(self._host)
        if not self._is_admitted:
            # Without waiting for what it sends, which is how it could keep others out all the same.
            transport.write(refusals.wire(refusals.TooManyConnections()))
            self.close()

    def connection_lost(self, _error: Exception | None) -> None:
        self._state = ClientState.CLOSING
        self._unsent = None
        self._gateway.closed(self)
        if self._is_admitted:
            self._is_admitted = False
            self._gateway.release(self._host)
        if self._upstream is not None:
            self._upstream.close()

    def data_received(self, data: bytes) -> None:
        if self._state is _IDLE:
            self.idle_since = self._gateway.now
            ready = self._responses.find(data)
            if ready is not None:
                self._send(ready)
                return
        if self._state is not ClientState.CLOSING:
            self._buffer += data
            self._advance()

    def _send(self, response: bytes) -> None:
        """Write a response that is in memory already, by pieces: a transport copies what the client does not take at
        once, and a client that does not read would have a copy of all of it."""
        if len(response) <= PIECE_BYTES:
            self.transport.write(response)
            return
        self._unsent = memoryview(response)
        self._write_pieces()

    def _write_pieces(self) -> bool:
        """Go on with a response; whether all of it is written."""
        if self._unsent is None:
            return True
        while self._unsent is not None and self.stalled_since is None:
            piece, rest = self._unsent[:PIECE_BYTES], self._unsent[PIECE_BYTES:]
            self._unsent = rest if len(rest) else None
            self.transport.write(piece)
        if self._unsent is None and self._is_ending():
            self.close()
        return self._unsent is None

    def pause_writing(self) -> None:
        """The client does not read: nobody makes more for it."""
        self.stalled_since = self._gateway.now
        if self._upstream is not None:
            self._upstream.pause()
        self._pause_reading()

    def resume_writing(self) -> None:
        self.stalled_since = None
        if not self._write_pieces():
            return
        if self._upstream is not None:
            self._upstream.resume()
        self.resume_reading()
        self._advance()

    def _pause_reading(self) -> None:
        if not self.transport.is_closing():
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Go on with what the client sends, unless it is in the way still."""
        if not self.transport.is_closing() and self.stalled_since is None:
            self.transport.resume_reading()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return self._relayed is None and self._unsent is None

    def close_idle_upstream(self) -> None:
        """The application would close it by itself soon, perhaps while a request is on its way."""
        if self._relayed is None and self._upstream is not None:
            self._upstream.close()
            self._upstream = None

    def close(self) -> None:
        """At the end of what was sent."""
        self._state = ClientState.CLOSING
        if self._unsent is None:
            self.transport.close()

    # The request

    def _advance(self) -> None:
        """Take what has been received as far as it goes."""
        while self._state is not ClientState.CLOSING:
            if self._relayed is not None:
                self._relay_body(self._relayed)
                return
            if self.stalled_since is not None:
                # What was asked for is not read: no more is made.
                return
            if self._buffer.startswith(b"\r\n"):
                self._buffer = self._buffer[2:]
            end = self._buffer.find(framing.END)
            if end < 0 and framing.has_odd_line_end(self._buffer):
                self._refuse(refusals.BadRequest())
                return
            if end < 0 and len(self._buffer) <= framing.HEAD_BYTES_MAX:
                self._await_head()
                return
            if not 0 <= end <= framing.HEAD_BYTES_MAX:
                self._refuse(refusals.HeadTooLarge())
                return
            raw, self._buffer = self._buffer[: end + 4], self._buffer[end + 4 :]
            self._begin(raw)

    def _begin(self, raw: bytes) -> None:
        try:
            head = framing.parse_request_head(raw)
        except framing.UnsupportedCoding:
            self._refuse(refusals.CodingNotSupported())
            return
        except framing.MalformedMessage:
            self._refuse(refusals.BadRequest())
            return
        if any(name.startswith(RESERVED) for name, _ in head.fields):
            self._refuse(refusals.BadRequest())
            return
        if head.body_bytes and head.body_bytes > BODY_BYTES_MAX:
            # Here, where a client that sends on regardless still gets to read why.
            self._refuse(BodyTooLarge(BODY_BYTES_MAX))
            return
        self._await_head()
        self.idle_since = self._gateway.now
        ready, environ = self._responses.answer(head, self._client)
        ready = ready or self._gateway.local_response(head)
        if ready is not None and not self._gateway.is_stopping:
            self._send(ready)
            return
        self._relay(head, environ)

    def _is_ending(self) -> bool:
        return self._state is ClientState.CLOSING or self._gateway.is_stopping

    def _await_head(self) -> None:
        self._state = ClientState.HEAD if self._buffer else _IDLE

    def _relay(self, head: RequestHead, environ: Environ | None) -> None:
        added = self._gateway.added_fields(head, self._client, self._server)
        if head.body_bytes is None:
            # Where its body ends is seen by the application alone: nothing may come after it.
            added += b"Connection: close\r\n"
        message = head.raw[:-2] + added + b"\r\n"
        self._state, self._relayed = ClientState.RELAYED, Relayed(head, environ, message, head.body_bytes)
        upstream = self._upstream or self._connect()
        upstream.begin(self._relayed)

    def _connect(self) -> Upstream:
        upstream = self._upstream = Upstream(self)
        upstream.connecting = asyncio.ensure_future(self._open(upstream))
        return upstream

    async def _open(self, upstream: Upstream) -> None:
        try:
            await self._gateway.connect(upstream)
        except OSError:
            self.upstream_lost(upstream)

    def _relay_body(self, relayed: Relayed) -> None:
        if self._upstream is None:
            return
        count = len(self._buffer) if relayed.left is None else min(relayed.left, len(self._buffer))
        if count:
            self._upstream.send(self._buffer[:count])
            self._buffer = self._buffer[count:]
            if relayed.left is not None:
                relayed.left -= count
        if self._buffer:
            # The next request waits for its turn in the client's own buffers.
            self._pause_reading()

    # The response

    def response_began(self, response: ResponseHead) -> Awaitable[object] | None:
        """Returns what has to end before the response is passed on."""
        if self._relayed is None:
            return None
        self._relayed.has_response = True
        return self._gateway.responded(self._relayed, response)

    def response_ended(self, *, closes: bool) -> None:
        relayed, self._relayed = self._relayed, None
        if relayed is None:
            return
        if relayed.left:
            self._linger()
        elif closes or relayed.left is None or not relayed.head.persists or self._is_ending():
            self.close()
        else:
            self._await_head()
            self.idle_since = self._gateway.now
            self.resume_reading()
            self._advance()

    def upstream_lost(self, upstream: Upstream) -> None:
        """The application's end was closed, or could not be opened."""
        if upstream is not self._upstream:
            return
        self._upstream = None
        relayed = self._relayed
        if relayed is None or self._state is ClientState.CLOSING:
            return
        if relayed.has_response:
            # It is cut where it is: its length or its chunks tell the client.
            self.close()
        elif upstream.was_used and relayed.head.body_bytes == 0 and not relayed.is_repeated and _is_safe(relayed.head):
            relayed.is_repeated = True
            self._connect().begin(relayed)
        else:
            self._refuse(refusals.ApplicationAway())

    def _refuse(self, refusal: RequestRefused) -> None:
        self._relayed = None
        self.transport.write(refusals.wire(refusal))
        self._linger()

    def _linger(self) -> None:
        """End what is sent, and let the client read it: a connection that is cut while it sends loses the response."""
        self._state = ClientState.CLOSING
        self._buffer = b""
        with contextlib.suppress(OSError):
            self.transport.write_eof()
        self.resume_reading()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self.transport.abort)


class Upstream(BufferedConnection):
    """A connection to the application, for one client."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._relayed: Relayed | None = None
        self._received = b""
        # Of the response, from its head on.
        self._left = 0
        self._state = UpstreamState.IDLE
        self._closes = self.was_used = False
        self.connecting: asyncio.Future[None] | None = None

    def begin(self, relayed: Relayed) -> None:
        """Pass a request on, after the response to the last one has ended."""
        self._relayed, self._state = relayed, UpstreamState.HEAD
        self.send(relayed.message)

    def send(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
            self._client.transport.pause_reading()
        else:
            self._transport.write(data)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.writelines(self._unsent)
        self._unsent.clear()
        if self._client.transport.is_closing():
            transport.abort()
        self._client.resume_reading()

    def connection_lost(self, _error: Exception | None) -> None:
        if self._state is UpstreamState.ENDLESS:
            self._client.response_ended(closes=True)
        else:
            self._client.upstream_lost(self)

    def pause_writing(self) -> None:
        if not self._client.transport.is_closing():
            self._client.transport.pause_reading()

    def resume_writing(self) -> None:
        self._client.resume_reading()

    def pause(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        is_held = self._state is UpstreamState.HELD
        if self._transport is not None and not self._transport.is_closing() and not is_held:
            self._transport.resume_reading()

    def close(self) -> None:
        if self.connecting is not None and self._transport is None:
            self.connecting.cancel()
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._state is UpstreamState.ENDLESS:
            self._client.transport.write(data)
            return
        self._received += data
        if self._state is not UpstreamState.HELD:
            self._advance()

    def _advance(self) -> None:
        """Pass on what has been received of the response, as far as it goes."""
        while self._relayed is not None:
            if self._state is not UpstreamState.BODY:
                end = self._received.find(framing.END)
                if end < 0:
                    return
                try:
                    head = framing.parse_response_head(self._received[: end + 4], self._relayed.head.method)
                except framing.MalformedMessage:
                    self.close()
                    return
                if self._take_head(head, end + 4):
                    return
            elif self._received or not self._left:
                self._take_body(self._left)
                if self._left:
                    return
            else:
                return

    def _take_head(self, head: ResponseHead, length: int) -> bool:
        """Whether to wait: the response is held back, or goes on to the end of the connection."""
        if head.status < 200:
            self._client.transport.write(self._received[:length])
            self._received = self._received[length:]
            return False
        wait = None if self._state is UpstreamState.RELEASED else self._client.response_began(head)
        if wait is not None:
            self._state = UpstreamState.HELD
            self.pause()
            asyncio.ensure_future(wait).add_done_callback(self._release)
            return True
        self._closes = head.closes
        if head.body_bytes is None:
            self._state = UpstreamState.ENDLESS
            self._client.transport.write(self._received)
            self._received = b""
            return True
        # Head and body in one piece, where they came in one.
        self._left, self._state = head.body_bytes + length, UpstreamState.BODY
        return False

    def _release(self, _done: object) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._state = UpstreamState.RELEASED
        self._advance()
        self.resume()

    def _take_body(self, left: int) -> None:
        piece, self._received = self._received[:left], self._received[left:]
        self._left = left - len(piece)
        self._client.transport.write(piece)
        if not self._left:
            self._relayed, self._state, self.was_used = None, UpstreamState.IDLE, True
            self._client.response_ended(closes=self._closes)


def _is_safe(head: RequestHead) -> bool:
    return head.method in (b"GET", b"HEAD")


def _address(name: Any) -> str:
    host, port = (str(part) for part in name[:2])
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
