"""The application that granian calls for each request, in the event loop of a web process.

Warm reads and the liveness probe are answered in the loop itself. Everything else waits there for its body and gets a
thread afterwards, so that neither a slow client nor a slow page is in the way of an agent.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Final

from studio.server.environ import Environ, build_environ
from studio.server.gateway_scope import open_scope
from studio.server.refusals import NotFromGateway, OutOfMemory, RequestRefused, TooManyRequests
from studio.server.request_body import BodyReceiver
from studio.server.rsgi import HttpProtocol, RequestScope
from studio.server.warm_reads import WarmReads
from studio.server.wsgi_call import WsgiApplication, WsgiResponse, call_wsgi

LIVENESS: Final = "/healthz"
READINESS: Final = "/readyz"
# Publishing and what else pipelines write: they check bundles and wait for each other, and leave threads to all others.
_OPERATOR_API: Final = "/api/v1/operator/"
_THREADS_FOR_OTHERS: Final = 2
_TURN_SECONDS_MAX: Final = 20.0
# The rest of the time that a stop may take (`WORKERS_KILL_SECONDS`) is for the answers.
_BODIES_STOP_SECONDS: Final = 2.5
# A request whose turn would not come within seconds is refused instead.
_WAITING_MAX: Final = 500
# The server opens the file within milliseconds and reads on after it was removed.
_FILE_SECONDS: Final = 60.0


class Application:
    """An RSGI application in front of a WSGI one.

    `on_stop` is called in a thread when the process is asked to end, while requests at work are still answered. With a
    `gateway_secret` only requests that the gateway has sent are answered, and what it has
    counted stands in the environ of such a request, as `studio.gateway_counts`.
    """

    def __init__(
        self,
        application: WsgiApplication,
        *,
        warm_reads: WarmReads,
        threads: int,
        on_stop: Callable[[], None],
        gateway_secret: str = "",
    ) -> None:
        self._application = application
        self._warm_reads = warm_reads
        self._on_stop = on_stop
        self._gateway_secret = gateway_secret
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="request")
        # A probe that waits behind the requests that it is about to judge would call a busy process dead.
        self._probes = ThreadPoolExecutor(1, thread_name_prefix="probe")
        self._bodies = BodyReceiver()
        self._waiting = 0
        self._operator_turns = asyncio.Semaphore(max(1, threads - _THREADS_FOR_OTHERS))

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called by granian before the first request, with its own signal handlers in place."""

        def stop(_number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._stop)

        # The loop's own handler is called as well: it hears of signals by the wake-up descriptor.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)

    def _stop(self) -> None:
        self._bodies.stop(after_seconds=_BODIES_STOP_SECONDS)
        asyncio.get_running_loop().run_in_executor(self._probes, self._on_stop)

    async def __rsgi__(self, scope: RequestScope, protocol: HttpProtocol) -> None:
        counts: list[int] = []
        if self._gateway_secret:
            opened, counts = open_scope(scope, self._gateway_secret)
            if opened is None:
                _send(protocol, NotFromGateway().response())
                return
            scope = opened
        if self._warm_reads.send_ready(scope, protocol):
            return
        environ = build_environ(scope)
        if counts:
            environ["studio.gateway_counts"] = counts
        if not self._warm_reads.send_prepared(scope, environ, protocol):
            _send(protocol, await self._answer(environ, protocol))

    async def _answer(self, environ: Environ, protocol: HttpProtocol) -> WsgiResponse:
        path = environ["PATH_INFO"]
        try:
            await self._bodies.receive(environ, protocol)
            if path == LIVENESS:
                return call_wsgi(self._application, environ)
            if path.startswith(_OPERATOR_API):
                return await self._call_in_turn(environ)
            return await self._call_in_thread(self._probes if path == READINESS else self._pool, environ)
        except RequestRefused as refusal:
            return refusal.response()
        except MemoryError:
            # The body and what was worked out from it are released on the way up: this answer fits.
            return OutOfMemory().response()
        finally:
            self._bodies.release(environ)

    async def _call_in_turn(self, environ: Environ) -> WsgiResponse:
        """As `_call_in_thread`, once there are not too many of its kind; it waits here, and holds no thread."""
        try:
            await asyncio.wait_for(self._operator_turns.acquire(), _TURN_SECONDS_MAX)
        except TimeoutError:
            raise TooManyRequests from None
        try:
            return await self._call_in_thread(self._pool, environ)
        finally:
            self._operator_turns.release()

    async def _call_in_thread(self, pool: Executor, environ: Environ) -> WsgiResponse:
        if self._waiting >= _WAITING_MAX:
            raise TooManyRequests
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(pool, call_wsgi, self._application, environ)
        finally:
            self._waiting -= 1


def _send(protocol: HttpProtocol, response: WsgiResponse) -> None:
    if isinstance(response.body, bytes):
        protocol.response_bytes(response.status, response.headers, response.body)
        return
    protocol.response_file(response.status, response.headers, str(response.body))
    asyncio.get_running_loop().call_later(_FILE_SECONDS, _remove, response.body)


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()
