"""Servers under test, and what one request costs them: CPU of the whole process family, and wrk's own figures."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from studio.launcher.serving import server_command, server_environment

# What `serve` starts as an operator does.
PRODUCT = "studio.rsgi:application"
CONNECTIONS = 16
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Server:
    """A server under test, and the headers that its clients send."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    headers: dict[str, str]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def cpu_seconds(self) -> float:
        """CPU time of all its processes, by the scheduler's counters (nanoseconds, not ticks)."""
        return sum(_process_seconds(pid) for pid in family(self.process.pid))

    def proportional_megabytes(self) -> float:
        """Memory of all its processes; what several share is divided among them (PSS)."""
        return sum(map(proportional_megabytes, family(self.process.pid)))

    def fetch(self, path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> Answer:
        """One request: status, headers, body."""
        request = urllib.request.Request(self.url(path), headers={**self.headers, **(headers or {})}, data=body)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers), error.read())


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Sample:
    """One round of wrk: CPU of the server a request, its pace, and what disturbed the round."""

    cpu_us: float
    requests_per_second: float
    p50_ms: float
    p99_ms: float
    # Cores that neither the server nor the client used.
    other_cores: float
    # Of the one core that the client has.
    client_share: float


def family(pid: int) -> list[int]:
    """The process and all that it started, from whichever of its threads."""
    found = [pid]
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        # A thread may end meanwhile.
        with suppress(OSError):
            found += [one for child in file.read_text().split() for one in family(int(child))]
    return found


def proportional_megabytes(pid: int) -> float:
    """Memory of a process; what several share is divided among them (PSS)."""
    return int(_found(r"Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text())) / 1e3


def _process_seconds(pid: int) -> float:
    """The process's CPU clock, threads that have ended included; its number is what clock_getcpuclockid(3) returns."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def _busy_seconds() -> float:
    """What all cores have worked since the machine started."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle, waiting = fields[3], fields[4]
    return (sum(fields) - idle - waiting) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def serve(
    name: str, target: str, env: dict[str, str], headers: dict[str, str], threads: int = 4, *, root: Path = ROOT
) -> Iterator[Server]:
    """The product as it is started, of the checkout `root`, or another target under granian's WSGI with so many
    threads, on a free port."""
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", target, "--host", "127.0.0.1", "--http", "1"]
    command += ["--port", str(port), "--blocking-threads", str(threads), "--no-ws", "--log-level", "error"]
    if target == PRODUCT:
        command = server_command(Path(sys.executable), address="127.0.0.1", port=port)
        env = {**server_environment(root), **env}
    with run(name, command, port, {**os.environ, **env, "PORT": str(port)}, headers, root=root) as server:
        yield server


@contextmanager
def run(
    name: str, command: list[str], port: int, env: dict[str, str], headers: dict[str, str], *, root: Path = ROOT
) -> Iterator[Server]:
    """A server until the block ends."""
    process = subprocess.Popen(command, cwd=root, env=env)
    try:
        _wait(port)
        yield Server(name, port, process, headers)
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes], patience_seconds: float = 20) -> None:
    """End a server, and with all that it started where it does not end by itself."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(patience_seconds)
    except subprocess.TimeoutExpired:
        for pid in family(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


@contextmanager
def spinning(count: int) -> Iterator[None]:
    """So many processes that use whatever they get."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _wait(port: int) -> None:
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("a server did not start")


def measure(server: Server, path: str, headers: dict[str, str], seconds: int, connections: int = CONNECTIONS) -> Sample:
    """Ask for `path` for so long. Ends the run where an answer was neither 2xx nor 304."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    for name, value in {**server.headers, **headers}.items():
        command += ["-H", f"{name}: {value}"]
    before, busy_before, began = server.cpu_seconds(), _busy_seconds(), time.monotonic()
    client = subprocess.Popen([*command, server.url(path)], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    printed = client.stdout.read()
    _, status, used = os.wait4(client.pid, 0)
    client.returncode = status
    elapsed, spent = time.monotonic() - began, server.cpu_seconds() - before
    busy = _busy_seconds() - busy_before
    requests = int(_found(r"(\d+) requests in", printed))
    if "If-None-Match" not in headers and "Non-2xx" in printed:
        raise SystemExit(f"{server.name} answered errors: {printed}")
    client_seconds = used.ru_utime + used.ru_stime
    return Sample(
        cpu_us=spent / max(requests, 1) * 1e6,
        requests_per_second=float(_found(r"Requests/sec:\s+([\d.]+)", printed)),
        p50_ms=_latency(printed, 50),
        p99_ms=_latency(printed, 99),
        other_cores=max(busy - spent - client_seconds, 0.0) / elapsed,
        client_share=client_seconds / elapsed,
    )


def _latency(printed: str, percent: int) -> float:
    found = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)", printed)
    if found is None:
        raise SystemExit(f"wrk printed something else: {printed}")
    return float(found[1]) * _MILLISECONDS[found[2]]


def _found(pattern: str, printed: str) -> str:
    found = re.search(pattern, printed)
    if found is None:
        raise SystemExit(f"wrk printed something else: {printed}")
    return found[1]


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def paired_ratios(ours: list[float], other: list[float]) -> tuple[float, float, float]:
    """Quartiles of `other / ours` round by round: two rounds side by side met the same machine."""
    return quartiles([theirs / mine for mine, theirs in zip(ours, other, strict=True)])
