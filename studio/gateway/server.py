"""The gateway: listens, keeps the application running behind it, and ends with it."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Final

from capability_kit import tracing
from studio.config.parsers import Network
from studio.gateway.client_addresses import ClientAddresses
from studio.gateway.connection import ClientConnection, Relayed, Upstream
from studio.gateway.framing import RequestHead, ResponseHead, parse_response_head
from studio.gateway.refusals import ApplicationSilent, wire
from studio.gateway.traced_responses import TracedResponses
from studio.gateway.warm_responses import Clock, Responses, WarmResponses, head_bytes
from studio.launcher.console import say
from studio.launcher.processes import RestartSchedule, child_options, how_ended, kill_group
from studio.launcher.serving import KILL_SECONDS, application_command, connections_max
from studio.server.environ import Environ
from studio.server.gateway_scope import CLIENT_FIELD, COUNTS_FIELD, SECRET_VARIABLE
from studio.server.rsgi import HeaderList
from studio.server.warm_reads import WarmReads

LIVENESS: Final = b"/healthz"
METRICS: Final = b"/metrics"
START_SECONDS: Final = 60.0
# From the first byte that could have come to the end of a head, and for a client that does not read.
HEAD_SECONDS: Final = 30.0
STALL_SECONDS: Final = 60.0
# What the kernel keeps for a client that does not read; it doubles the number. By itself it grows to some megabytes.
SEND_BUFFER_BYTES: Final = 128 * 1024
# The application closes a connection that is silent for 30 s; this end is to be first.
_UPSTREAM_IDLE_SECONDS: Final = 10.0
_REFRESH_SECONDS: Final = 0.5
_HANGING_SECONDS: Final = 60.0
# /healthz says so long before that: it asks whether people are served.
_SILENT_SECONDS: Final = 5.0
_PROBE_PAUSE_SECONDS: Final = 1.0
# They change nothing that a warm read shows, or, as feedback, only after a moment anyway.
_READING_PATHS: Final = frozenset(
    b"/api/v1/" + name
    for name in (
        *(b"capability_feedback", b"capability_file_content", b"capability_file_load", b"capability_match"),
        *(b"capability_registry_list", b"capability_search", b"capability_skill_load", b"capability_skill_reload"),
        b"prompt_render",
    )
) | {b"/mcp", b"/mcp/"}
# Of one response or one connection.
_OF_THE_SERVER: Final = frozenset({"date", "server", "x-request-id", "connection"})


class Gateway:
    """Serves on one address until SIGTERM or SIGINT.

    `refresh` reads what was written; `flush` writes what was counted; both are called in a thread. `counts` are the
    gateway's own, for a scrape that the application answers.
    """

    def __init__(
        self,
        responses: Responses,
        trusted: tuple[Network, ...],
        *,
        connections_per_address: int,
        workers: int,
        refresh: Callable[[], object],
        flush: Callable[[], object],
        counts: Callable[[], list[int]],
    ) -> None:
        self.now = time.monotonic()
        self.is_stopping = False
        self._connections: set[ClientConnection] = set()
        self._addresses = ClientAddresses(trusted, connections_per_address)
        self._refresh, self._flush, self._counts = refresh, flush, counts
        self._responses = responses
        self._clock = Clock()
        warm_reads = WarmReads(responses, trusted)
        kind = TracedResponses if tracing.is_on() else WarmResponses
        self._for_clients = kind(responses, warm_reads, self._clock, is_proxy=False)
        self._for_proxies = kind(responses, warm_reads, self._clock, is_proxy=True)
        self._alive: tuple[HeaderList, bytes] | None = None
        self._answered_at = self.now
        self._secret = secrets.token_hex(16)
        self._folder = Path(tempfile.mkdtemp(prefix="studio-gateway-"))
        self._socket = str(self._folder / "socket")
        self._workers = workers
        self._connections_max = connections_max()
        self._child: subprocess.Popen[bytes]
        self._rendering: set[asyncio.Future[object]] = set()

    # Its life

    async def serve(self, host: str, port: int) -> int:
        """Listen once the application answers. Returns the exit code."""
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        self._start_application()
        try:
            if not await self._await_application(stop):
                return 0 if stop.is_set() else 1
            server = await loop.create_server(lambda: ClientConnection(self), host, port, backlog=4096)
            for listener in server.sockets:
                # What is accepted inherits it.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            tasks = [asyncio.create_task(one()) for one in self._tasks()]
            await stop.wait()
            await self._stop(server, tasks)
            return 0
        finally:
            kill_group(self._child)
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _stop(self, server: asyncio.Server, tasks: list[asyncio.Task[None]]) -> None:
        """Let nobody in, end what waits, give what is under way as long as the application does."""
        loop = asyncio.get_running_loop()
        self.is_stopping = True
        for task in tasks:
            task.cancel()
        server.close()
        flushed = loop.run_in_executor(None, self._flush)
        # What has arrived already is passed on first.
        await asyncio.sleep(0.05)
        for connection in [one for one in self._connections if one.is_idle]:
            connection.close()
        if self._child.poll() is None:
            self._child.terminate()
        deadline = loop.time() + KILL_SECONDS + 0.5
        while (self._connections or self._child.poll() is None) and loop.time() < deadline:
            await asyncio.sleep(0.02)
        for connection in list(self._connections):
            connection.transport.abort()
        await flushed
        await loop.run_in_executor(None, self._flush)

    def _tasks(self) -> tuple[Callable[[], Coroutine[None, None, None]], ...]:
        return self._tick, self._sweep, self._keep_application, self._watch_application

    async def _tick(self) -> None:
        while True:
            self.now = time.monotonic()
            self._clock.tick()
            await asyncio.sleep(1 - time.time() % 1)

    async def _sweep(self) -> None:
        """Close connections on which nothing happens that we wait for."""
        while True:
            await asyncio.sleep(2)
            for connection in list(self._connections):
                if connection.stalled_since is not None and self.now - connection.stalled_since > STALL_SECONDS:
                    connection.transport.abort()
                elif connection.is_idle and self.now - connection.idle_since > HEAD_SECONDS:
                    connection.close()
                elif connection.is_idle and self.now - connection.idle_since > _UPSTREAM_IDLE_SECONDS:
                    connection.close_idle_upstream()

    # The application's processes

    def _start_application(self) -> None:
        env = {**os.environ, SECRET_VARIABLE: self._secret}
        Path(self._socket).unlink(missing_ok=True)
        command = application_command(["--uds", self._socket, "--uds-permissions", "0600"], workers=self._workers)
        self._child = subprocess.Popen(command, env=env, **child_options())

    async def _keep_application(self) -> None:
        """Start it again when it ends, after a pause that grows while it does not stay."""
        schedule = RestartSchedule(at_once=True)
        while True:
            await asyncio.sleep(0.1)
            if self._child.poll() is None:
                continue
            # Its workers, where it could not end them itself.
            kill_group(self._child)
            pause_seconds = schedule.get_pause_seconds()
            say(f"The application {how_ended(self._child)}. It is started again in {pause_seconds:g} s; until then")
            say("only warm reads and /healthz are answered.")
            await asyncio.sleep(pause_seconds)
            self._start_application()
            schedule.record_start()

    async def _watch_application(self) -> None:
        """End an application that runs and does not answer, so that it is started again: platforms ask us alone."""
        running_since = time.monotonic()
        while True:
            await asyncio.sleep(_PROBE_PAUSE_SECONDS)
            try:
                await asyncio.wait_for(self._probe(), _HANGING_SECONDS / 10)
                self._answered_at = time.monotonic()
            except (OSError, EOFError, ValueError, TimeoutError):
                if self._child.poll() is not None:
                    running_since = time.monotonic()
            if time.monotonic() - max(self._answered_at, running_since) > _HANGING_SECONDS:
                say(f"The application has not answered a probe for {_HANGING_SECONDS:.0f} s, and is ended.")
                self._child.kill()
                running_since = time.monotonic()

    async def _await_application(self, stop: asyncio.Event) -> bool:
        """Whether it answers; its answer to a probe is sent from then on."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not stop.is_set() and self._child.poll() is None:
            try:
                self._alive = await self._probe()
                self._answered_at = time.monotonic()
            except (OSError, EOFError, ValueError):
                await asyncio.sleep(0.02)
            else:
                return True
        self._child.terminate()
        return False

    async def _probe(self) -> tuple[HeaderList, bytes]:
        reader, writer = await asyncio.open_unix_connection(self._socket)
        try:
            added = self._fields("127.0.0.1:0", "127.0.0.1:0")
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + added + b"\r\n")
            raw = await reader.readuntil(b"\r\n\r\n")
            response = parse_response_head(raw, b"GET")
            body = await reader.readexactly(response.body_bytes or 0)
        finally:
            writer.close()
        if response.status != 200:
            raise ValueError(response.status)
        fields = [(name.decode(), value.decode("latin-1")) for name, value in response.fields]
        return [pair for pair in fields if pair[0] not in _OF_THE_SERVER], body

    # What a connection asks

    def opened(self, connection: ClientConnection) -> bool:
        self._connections.add(connection)
        return len(self._connections) <= self._connections_max and not self.is_stopping

    def closed(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)

    def admit(self, host: str) -> bool:
        """Whether another connection of this address may be open; `release` ends it."""
        return self._addresses.admit(host)

    def release(self, host: str) -> None:
        self._addresses.release(host)

    def responses_for(self, host: str) -> WarmResponses:
        return self._for_proxies if self._addresses.is_trusted(host) else self._for_clients

    def local_response(self, head: RequestHead) -> bytes | None:
        """To a liveness probe, which an application that is slow for a moment is not to fail."""
        is_probe = head.target == LIVENESS and head.method == b"GET" and head.is_http_11 and head.body_bytes == 0
        if not is_probe or self._alive is None or head.values(b"connection") not in ([], [b"keep-alive"]):
            return None
        if time.monotonic() - self._answered_at > _SILENT_SECONDS:
            return wire(ApplicationSilent())
        headers, body = self._alive
        return head_bytes(200, headers, self._clock.date) + b"\r\n" + body

    def added_fields(self, head: RequestHead, client: str, server: str) -> bytes:
        fields = self._fields(client, server)
        if head.target.partition(b"?")[0] == METRICS:
            fields += f"{COUNTS_FIELD}: {','.join(map(str, self._counts()))}\r\n".encode()
        return fields

    def _fields(self, client: str, server: str) -> bytes:
        return f"{CLIENT_FIELD}: {self._secret} {client} {server}\r\n".encode()

    async def connect(self, upstream: Upstream) -> object:
        return await asyncio.get_running_loop().create_unix_connection(lambda: upstream, self._socket)

    def responded(self, request: Relayed, response: ResponseHead) -> Awaitable[object] | None:
        """Learn from a response to what could have been a warm read. After a write, wait until it is seen here too: who
        has published asks for it next. What was refused has written nothing, perhaps before its body was read: held
        back, such a response would be lost with the connection that the application closes."""
        if request.environ is not None:
            self._learn(request.environ, response)
        if request.head.method in (b"GET", b"HEAD") or request.head.target.partition(b"?")[0] in _READING_PATHS:
            return None
        if response.status >= 400:
            return None
        refreshing = asyncio.get_running_loop().run_in_executor(None, self._refresh)
        return asyncio.wait([refreshing], timeout=_REFRESH_SECONDS)

    def _learn(self, environ: Environ, response: ResponseHead) -> None:
        fields = [(name.decode(), value.decode("latin-1")) for name, value in response.fields]
        self._responses.learn(environ, response.status, [pair for pair in fields if pair[0] not in _OF_THE_SERVER])
        render = self._responses.find_missing(environ)
        if render is not None and len(self._rendering) < 100:
            rendering = asyncio.get_running_loop().run_in_executor(None, _quietly, render)
            self._rendering.add(rendering)
            rendering.add_done_callback(self._rendering.discard)


def _quietly(render: Callable[[], object]) -> object:
    """What cannot be rendered was refused by the application, which says why."""
    try:
        return render()
    except Exception:  # noqa: BLE001 (the application has met it as well, and reported it)
        return None
