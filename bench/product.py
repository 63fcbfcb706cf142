"""The product as users start it: `python3 run.py` with a data directory and a database of its own, on a free port."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from measuring import family, free_port, stop

ROOT: Final = Path(__file__).resolve().parent.parent
POSTGRESQL: Final = Path("/usr/lib/postgresql/15/bin")
# A process works if it uses more of a core than this.
_BUSY_SHARE: Final = 0.05
_TICKS: Final = os.sysconf("SC_CLK_TCK")

Database = Literal["sqlite", "postgresql"]


@dataclass(frozen=True)
class Product:
    """A running product; `root` is the tree that it was started from."""

    root: Path
    port: int
    environment: dict[str, str]
    process: subprocess.Popen[bytes]
    database: subprocess.Popen[bytes] | None = None
    key: list[str] = field(default_factory=list)

    def manage(self, *arguments: str, check: bool = True, given: str = "") -> tuple[str, float]:
        """What `python3 run.py manage` prints, and its CPU seconds with the processes that it starts."""
        line = ["python3", str(self.root / "run.py"), "manage", *arguments]
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as standard_input:
            standard_input.write(given.encode())
            standard_input.seek(0)
            started = subprocess.Popen(line, stdin=standard_input, stdout=printed, env=self.environment)
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
            printed.seek(0)
            text = printed.read().decode()
        if check and started.returncode:
            raise SystemExit(f"{arguments[:2]} ended with {started.returncode}: {text[-2000:]}")
        return text, used.ru_utime + used.ru_stime

    def cpu_seconds(self) -> dict[str, float]:
        """By role, processes that have ended included: server, checks, worker, database."""
        found = dict.fromkeys(("server", "checks", "worker", "database"), 0.0)
        for pid in family(self.process.pid):
            with suppress(OSError):
                found[_role(pid)] += _seconds(pid)
        for pid in family(self.database.pid) if self.database else ():
            with suppress(OSError):
                found["database"] += _seconds(pid)
        return found

    def wait_until_idle(self, *, quiet_seconds: float = 4.0, most_seconds: float = 300.0) -> None:
        """Return when no process has had anything to do for some seconds."""
        began = quiet_since = time.monotonic()
        before = sum(self.cpu_seconds().values())
        while time.monotonic() - quiet_since < quiet_seconds and time.monotonic() - began < most_seconds:
            time.sleep(1)
            now = sum(self.cpu_seconds().values())
            if now - before > 2 * _BUSY_SHARE:
                quiet_since = time.monotonic()
            before = now

    def post(self, path: str, body: dict[str, Any], *, timeout: float = 120) -> tuple[int, bytes]:
        """The status and the body of the response, with the key that the bench has made."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._key()}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def _key(self) -> str:
        if not self.key:
            printed, _ = self.manage("agent_key", "create", "bench", "--scopes", "read,publish", "--format", "json")
            self.key.append(json.loads(printed)["key"])
        return self.key[0]


@contextmanager
def start_product(database: Database, *, root: Path = ROOT) -> Iterator[Product]:
    """Start it in a new data directory, without examples; stop everything and remove the directory afterwards."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-product-")))
        port = free_port()
        environment = os.environ | {"DATA_DIR": str(scratch / "data"), "PORT": str(port), "EXAMPLES": "off"}
        server = None
        if database == "postgresql":
            server, environment["DATABASE_URL"] = stack.enter_context(_start_postgresql(scratch))
            environment |= {"SECRET_KEY": secrets.token_urlsafe(50), "ALLOWED_HOSTS": "127.0.0.1"}
        (scratch / "data").mkdir()
        process = stack.enter_context(run_product(root, port, environment))
        product = Product(root, port, environment, process, server)
        product.wait_until_idle()
        yield product


@contextmanager
def run_product(root: Path, port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`python3 run.py` of a tree, as users type it, from when it says that it answers until the block ends."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            ["python3", str(root / "run.py")], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            if not _is_answering(process, port):
                log.seek(0)
                raise SystemExit(f"the product did not start: {log.read().decode(errors='replace')[-3000:]}")
            yield process
        finally:
            stop(process, 40)


@contextmanager
def _start_postgresql(scratch: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server of its own, with its defaults, reached by TCP."""
    folder, port = scratch / "postgresql", free_port()
    folder.mkdir()
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        scratch.chmod(0o755)
        as_user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    initdb = [*as_user, str(POSTGRESQL / "initdb"), "-D", str(folder), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/")
    line = [*as_user, str(POSTGRESQL / "postgres"), "-D", str(folder), "-p", str(port), "-k", str(folder)]
    with (scratch / "postgresql.log").open("wb") as log:
        process = subprocess.Popen(line, stdout=log, stderr=log, cwd="/")
    try:
        create = [str(POSTGRESQL / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "studio"]
        for _ in range(100):
            if subprocess.run(create, check=False, stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        yield process, f"postgresql://postgres@127.0.0.1:{port}/studio"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _is_answering(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
            return True
        time.sleep(0.05)
    return False


def _seconds(pid: int) -> float:
    """CPU of a process and of its children that have ended. Raises OSError."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:15]) / _TICKS


def _role(pid: int) -> str:
    line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
    if "isolation.process" in line:
        return "checks"
    return "worker" if " worker" in line and "manage" in line else "server"
