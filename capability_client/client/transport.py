"""HTTP by httpx2 with strict limits: bounded bytes, one time limit over everything, no redirect followed.

The peer is not trusted: it may send one byte per second, respond with gigabytes, or compress them.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

import httpcore2
import httpx2

from capability_client.client.messages import Request, Response, TransportError

# For one step of a connection; the limit over everything is the call's own.
_STEP_SECONDS: Final = 5.0
_GZIP: Final = 31
# How often a listener is called while nothing comes.
_TICK_SECONDS: Final = 0.25
_CONNECTIONS_MAX: Final = 10
_KEPT_ALIVE_MAX: Final = 4


class _TooLarge(Exception):
    """More bytes than the call accepts."""


class Listener(Protocol):
    """Who follows an answer while it comes. What it raises ends the call and its connection, and goes to the caller."""

    def tick(self) -> None:
        """Called four times a second or more, also while the peer says nothing."""

    def hear(self, head: Response, part: bytes) -> bool:
        """Take the next part of the body; `head` is the answer without its body. Whether to read on."""


class _Body:
    """The body as it comes in, decompressed no further than the limit."""

    def __init__(self, call: Request, headers: httpx2.Headers) -> None:
        self._left = call.bytes_max
        self._parts: list[bytes] = []
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", ""):
            raise httpx2.DecodingError(f"The answer is packed as {coding[:20]}, which was not asked for")
        self._unpack = zlib.decompressobj(_GZIP) if coding == "gzip" else None

    def add(self, chunk: bytes) -> bytes:
        """Return a part of the body, decompressed, and keep it. Raises `_TooLarge` past the limit of bytes."""
        if self._unpack is not None:
            try:
                chunk = self._unpack.decompress(chunk, self._left + 1)
            except zlib.error as error:
                raise httpx2.DecodingError(f"The answer cannot be unpacked: {error}") from None
        self._left -= len(chunk)
        if self._left < 0:
            raise _TooLarge
        self._parts.append(chunk)
        return chunk

    def so_far(self) -> bytes:
        return b"".join(self._parts)

    def whole(self) -> bytes:
        if self._unpack is not None and not self._unpack.eof:
            raise httpx2.DecodingError("The packed answer breaks off")
        return self.so_far()


def _no_reply(error: Exception, call: Request) -> TransportError:
    if isinstance(error, _TooLarge):
        return TransportError(f"The answer is larger than {call.bytes_max:,} bytes", is_too_large=True)
    if isinstance(error, httpx2.TimeoutException | httpcore2.TimeoutException | TimeoutError):
        return TransportError(f"No whole answer came within {call.seconds:.1f} seconds", is_timeout=True)
    return TransportError(str(error) or "The connection failed")


def _reply(response: httpx2.Response, body: bytes) -> Response:
    return Response(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)


_FAILURES: Final = (
    *(httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError),
    *(httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol),
    *(httpcore2.ProxyError, _TooLarge, OSError),
)


class SyncWire:
    """Blocking HTTP; may be used by several threads. `locate` returns the address to connect to in place of a host and
    a port; the `OSError` that it raises is why there is no answer."""

    def __init__(
        self, *, verify: Any = True, proxy: str | None = None, locate: Callable[[str, int], str] | None = None
    ) -> None:
        transport = _DeadlineTransport(verify, proxy, locate)
        self._client = httpx2.Client(transport=transport, follow_redirects=False, timeout=_STEP_SECONDS)

    def send(self, call: Request, listener: Listener | None = None) -> Response | TransportError:
        """Return a response, or why there is none. Raises nothing for what the peer does, and what `listener` raises.

        Where the listener reads no further, the response has what came until then, and the connection is closed.
        """
        _deadline.at, _deadline.listener = time.monotonic() + call.seconds, listener
        try:
            response = self._client.send(_build(self._client, call), stream=True)
            try:
                return _read(call, response, listener)
            finally:
                response.close()
        except _FAILURES as error:
            return _no_reply(error, call)
        finally:
            _deadline.at = _deadline.listener = None

    def pause(self, seconds: float) -> None:
        """Wait, as a `Pause` asks for it."""
        time.sleep(seconds)

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()


def _read(call: Request, response: httpx2.Response, listener: Listener | None) -> Response:
    body, head = _Body(call, response.headers), _reply(response, b"")
    for chunk in response.iter_raw():
        part = body.add(chunk)
        if listener is not None and not listener.hear(head, part):
            return _reply(response, body.so_far())
    return _reply(response, body.whole())


class AsyncWire:
    """The same for asyncio."""

    def __init__(self, *, verify: Any = True, proxy: str | None = None) -> None:
        transport = httpx2.AsyncHTTPTransport(
            verify=verify,
            proxy=proxy,
            limits=httpx2.Limits(max_connections=_CONNECTIONS_MAX, max_keepalive_connections=_KEPT_ALIVE_MAX),
        )
        self._client = httpx2.AsyncClient(transport=transport, follow_redirects=False, timeout=_STEP_SECONDS)

    async def send(self, call: Request) -> Response | TransportError:
        """Return a response, or why there is none. Raises nothing for what the peer does."""
        try:
            async with asyncio.timeout(call.seconds):
                return await self._send(call)
        except (*_FAILURES, TimeoutError) as error:
            return _no_reply(error, call)

    async def _send(self, call: Request) -> Response:
        response = await self._client.send(_build(self._client, call), stream=True)
        try:
            body = _Body(call, response.headers)
            async for chunk in response.aiter_raw():
                body.add(chunk)
            return _reply(response, body.whole())
        finally:
            await response.aclose()

    async def pause(self, seconds: float) -> None:
        """Wait, as a `Pause` asks for it."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Give the connections back."""
        await self._client.aclose()


def _build(client: httpx2.Client | httpx2.AsyncClient, call: Request) -> httpx2.Request:
    step = min(_STEP_SECONDS, call.seconds)
    # Who thinks is reached as soon as anybody else.
    timeout = httpx2.Timeout(call.seconds if call.may_think else step, connect=step)
    return client.build_request(call.method, call.url, headers=dict(call.headers), content=call.body, timeout=timeout)


class _RequestDeadline(threading.local):
    """When the call of this thread must be over, on the monotonic clock, and who follows it."""

    at: float | None = None
    listener: Listener | None = None

    def within(self, timeout: float | None) -> float | None:
        """The seconds that a step may take. Raises `httpcore2.ReadTimeout` where none are left."""
        if self.at is None:
            return timeout
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout
        return left if timeout is None else min(timeout, left)


_deadline = _RequestDeadline()


class _DeadlineStream(httpcore2.NetworkStream):
    """A connection whose every step ends with the call."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        limit, listener = _deadline.within(timeout), _deadline.listener
        if listener is None or limit is None:
            return self._stream.read(max_bytes, limit)
        until = time.monotonic() + limit
        while (left := until - time.monotonic()) > 0:
            listener.tick()
            with contextlib.suppress(httpcore2.ReadTimeout):
                return self._stream.read(max_bytes, min(left, _TICK_SECONDS))
        raise httpcore2.ReadTimeout

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _deadline.within(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, _deadline.within(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _DeadlineTransport(httpx2.BaseTransport):
    """The transport of httpx2 has a limit for each step alone: who drips a header at a time would never reach it."""

    def __init__(self, verify: Any, proxy: str | None, locate: Callable[[str, int], str] | None = None) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(verify=verify),
            proxy=_proxy(httpx2.Proxy(proxy)) if proxy is not None else None,
            max_connections=_CONNECTIONS_MAX,
            max_keepalive_connections=_KEPT_ALIVE_MAX,
            network_backend=_DeadlineBackend(locate),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self._pool.handle_request(
            httpcore2.Request(
                request.method,
                _raw_url(request.url),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            response.status, headers=response.headers, stream=_Parts(response.stream), extensions=response.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Parts(httpx2.SyncByteStream):
    """A body as it comes from the connection."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        self._stream.close()


def _raw_url(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _proxy(proxy: httpx2.Proxy) -> httpcore2.Proxy:
    return httpcore2.Proxy(_raw_url(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw)


class _DeadlineBackend(httpcore2.SyncBackend):
    def __init__(self, locate: Callable[[str, int], str] | None) -> None:
        super().__init__()
        self._locate = locate

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        if self._locate is not None:
            host = self._locate(host, port)
        within = _deadline.within(timeout)
        return _DeadlineStream(super().connect_tcp(host, port, within, local_address, socket_options))
