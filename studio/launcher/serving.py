"""Start the server and the worker, say when they answer, and stop all of them together."""

from __future__ import annotations

import errno
import http.client
import os
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from registry.common.installation import PROGRAM
from studio.config.environment import StudioEnvironment
from studio.config.parsers import format_host
from studio.config.secret_key import describe_open_directory, describe_unusable
from studio.launcher.console import ProgressLine, Refusal, print_answer, say, show_step
from studio.launcher.manage import manage_command
from studio.launcher.processes import Processes, StopSignals, how_ended, run_to_end
from studio.launcher.readiness_stamp import ReadinessStamp
from studio.launcher.virtualenv import choose_lock

START_SECONDS = 60.0
# How long requests in progress may take when the server is stopped.
KILL_SECONDS = 4
CONNECTIONS_MAX = 8192
# Of a web process beside its connections: databases, templates, temporary files.
_OTHER_FILES = 256
# glibc keeps large pieces for ever once it has seen some come and go: 80 releases of 1 MiB left 150 MiB behind.
# Fixed at where they begin, these two stay there; an operator's own win.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072", "MALLOC_ARENA_MAX": "2"}
# An address for "every interface" is not one that can be asked.
_ASKED = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (compared, not bound)


class Setup(Protocol):
    """Where the packages are, and the interpreter that has them."""

    @property
    def root(self) -> Path:
        """The folder that the packages are in."""

    def ensure(self, lock: str) -> Path:
        """The interpreter, with every requirement of `lock`; installs what is missing, or raises Refusal."""


def serve(setup: Setup, environment: StudioEnvironment) -> int:
    """Set up, prepare, serve until a signal comes. The exit code is 0 then.

    Raises Refusal where it cannot start. A server or worker that ends by itself later is started again.
    """
    address = check_port(environment.host, environment.port)
    check_data_dir(environment.data_dir)
    warn_of_open_directory(environment.data_dir)
    python = setup.ensure(choose_lock(environment))
    # With DATA_DIR as we read it.
    env = {**server_environment(setup.root), "DATA_DIR": str(environment.data_dir), "PYTHONUNBUFFERED": "1"}
    _prepare(setup.root, python, environment, env)
    processes = Processes(env, setup.root)
    with StopSignals() as stop:
        try:
            server = server_command(python, address=address, port=environment.port)
            processes.start("server", server)
            _await_answer(processes, environment, address, stop)
            processes.keep("server", server, at_once=True)
            # Last, because it would keep the server from its first answer; with REDIS_URL it does what Celery missed.
            processes.keep("worker", manage_command(python, "worker"))
            processes.wait(stop)
        finally:
            processes.stop_all()
    return 0


def supervise(command: Sequence[str], *, address: str, port: int) -> int:
    """Run the server's command until a signal comes, and start it again when it ends by itself.

    The exit code is 0, or that with which a server ended before its first answer: it cannot start, and what started us
    is to know. One that was killed then is started again too.
    """
    processes = Processes(os.environ, Path.cwd())
    with StopSignals() as stop:
        try:
            processes.start("server", command)
            while not stop.is_set() and not is_answering(_ASKED.get(address, address), port):
                ended = processes.find_ended()
                if ended is not None and ended.returncode >= 0:
                    return ended.returncode or 1
                if ended is not None or stop.wait(0.1):
                    break
            processes.keep("server", command, at_once=True)
            processes.wait(stop)
        finally:
            processes.stop_all()
    return 0


def server_command(python: Path, *, address: str, port: int, workers: int = 1) -> list[str]:
    """The command of the gateway, which starts the application behind it (ADR 16).

    Windows has no Unix sockets: there the application listens itself.
    """
    listen = ["--host", address, "--port", str(port)]
    _raise_file_limit()
    if os.name == "nt":
        return application_command(listen, workers=workers, python=python)
    return [str(python), "-m", "studio.gateway", *listen, "--workers", str(workers)]


def application_command(listen: list[str], *, workers: int, python: Path | None = None) -> list[str]:
    """The command of granian, which takes no names, and itself says warnings and errors alone.

    With HTTP/1 alone a connection that says nothing is closed as late as one whose head does not end; waiting for the
    first bytes of HTTP/2, granian never closes it.
    """
    return [
        *[str(python or sys.executable), "-m", "granian", "--interface", "rsgi", "studio.rsgi:application", *listen],
        *["--workers", str(workers), "--loop", "asyncio", "--http", "1"],
        *["--backlog", "4096", "--backpressure", str(connections_max()), "--no-ws"],
        *["--log-level", "warning", "--no-access-log", "--workers-kill-timeout", str(KILL_SECONDS)],
    ]


def connections_max() -> int:
    """How many clients a server takes at once: each is an open file, and another one on its way to the application."""
    try:
        import resource
    except ImportError:
        # Windows counts no open files.
        return CONNECTIONS_MAX
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS_MAX
    return min(CONNECTIONS_MAX, max(soft - _OTHER_FILES, soft // 2) // 2)


def _raise_file_limit() -> None:
    """This process's soft limit, which what it starts inherits."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS_MAX + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def check_port(host: str, port: int) -> str:
    """Return the address that HOST resolves to, IPv4 if it has both.

    Raises Refusal if the port cannot be opened there, before minutes of set-up are spent.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        with socket.socket(family, kind, protocol) as probe:
            if os.name != "nt":
                # A server that has just been stopped leaves connections behind that do no harm.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        raise _port_refusal(host, port, error) from error
    return str(address[0])


def _port_refusal(host: str, port: int, error: OSError) -> Refusal:
    if error.errno == errno.EADDRINUSE:
        other = _next_free(host, port)
        return Refusal(f"Port {port} on {host} is taken by another program. Fix: PORT={other} {PROGRAM}")
    if error.errno == errno.EACCES:
        return Refusal(f"Port {port} is for the system's own services. Fix: PORT=8000 {PROGRAM}", exit_code=2)
    return Refusal(
        f"HOST is '{host}', which is not an address of this machine ({error.strerror}): expected one that it has, "
        "for example HOST=127.0.0.1",
        exit_code=2,
    )


def _next_free(host: str, port: int) -> int:
    for candidate in range(port + 1, min(port + 50, 65536)):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            try:
                probe.bind((host, candidate))
            except OSError:
                continue
            return candidate
    return 8001


def check_data_dir(data_dir: Path) -> None:
    """Raise Refusal where DATA_DIR cannot take a file or its disk is full."""
    probe = data_dir / f".room.{os.getpid()}"
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with probe.open("wb") as file:
                file.write(bytes(1024 * 1024))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(describe_unusable(data_dir, error), exit_code=2) from error


def warn_of_open_directory(data_dir: Path) -> None:
    """Say a line where other users may look into it."""
    if words := describe_open_directory(data_dir):
        say(f"Warning: {words}")


def server_environment(root: Path) -> dict[str, str]:
    """What a server sees, whatever its working directory is: our package first, and memory that goes back.

    Without granian's own variables, which would change what the flags say.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("GRANIAN_")}
    return {**MALLOC, **env, "DJANGO_SETTINGS_MODULE": "studio.settings", "PYTHONPATH": str(root)}


def _prepare(root: Path, python: Path, environment: StudioEnvironment, env: Mapping[str, str]) -> None:
    """Bring the database, the examples and the static files up to this code, unless they are known to be."""
    prepared = ReadinessStamp(root, environment)
    if prepared.is_current():
        return
    prepared.forget()
    with show_step("Preparing the database and the pages") as current:
        # It says the first sign-in and the first key itself, this once: nothing of it may be lost on the way.
        code = run_to_end(manage_command(python, "prepare_site"), env=env)
        if code != 0:
            raise Refusal(f"The start ends here after {current.elapsed_seconds:.0f} s; see the reason above.")
    prepared.remember()


def _await_answer(processes: Processes, environment: StudioEnvironment, address: str, stop: threading.Event) -> None:
    """Print the address once the server answers; Refusal where it does not within START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    step = ProgressLine("Starting the server")
    while not is_answering(_ASKED.get(address, address), environment.port):
        if (ended := processes.find_ended()) is not None:
            raise Refusal(f"The server {how_ended(ended)}; see its last lines above. Everything else was stopped.")
        if time.monotonic() > deadline:
            raise Refusal(f"The server did not answer within {START_SECONDS:.0f} s. Everything was stopped.")
        if stop.wait(0.05):
            return
    step.finish()
    host = format_host(_ASKED.get(environment.host, environment.host))
    here = f"http://{host}:{environment.port}/"
    print_answer(
        f"Capability Studio: {environment.public_url}/ (here: {here})"
        if environment.public_url
        else f"Capability Studio: {here}"
    )
    if environment.host in _ASKED and environment.public_url is None:
        say("Other machines are answered for the names in ALLOWED_HOSTS or PUBLIC_URL.")
    say("Ctrl-C stops it.")


def is_answering(address: str, port: int) -> bool:
    """Whether GET /healthz is answered with 200."""
    connection = http.client.HTTPConnection(address, port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
