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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from studio.launcher.serving import server_command, server_environment

# What `serve` starts as an operator does.
PRODUCT = "studio.rsgi:application"
CONNECTIONS = 4
_WRK = re.compile(r"50%\s+([\d.]+)(us|ms|s)")
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
        """User and system time of all its processes."""
        total = 0.0
        for pid in family(self.process.pid):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total

    def resident_megabytes(self) -> float:
        """Of its largest process: the one that answers."""
        pages = max(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in family(self.process.pid))
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

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
    """One round of wrk: CPU of the server a request, requests a second, the median time of an answer."""

    cpu_us: float
    requests_per_second: float
    p50_ms: float


def family(pid: int) -> list[int]:
    """The process and all that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in family(int(child)))]


@contextmanager
def serve(name: str, target: str, env: dict[str, str], headers: dict[str, str]) -> Iterator[Server]:
    """The product as it is started, or another target under granian's WSGI with four threads, on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", target, "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1", "--blocking-threads", "4", "--no-ws", "--log-level", "error"]
    if target == PRODUCT:
        command = server_command(Path(sys.executable), address="127.0.0.1", port=port)
        env = {**server_environment(ROOT), **env}
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **env, "PORT": str(port)})
    try:
        _wait(port)
        yield Server(name, port, process, headers)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _wait(port: int) -> None:
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("a server did not start")


def measure(server: Server, path: str, headers: dict[str, str], seconds: int) -> Sample:
    """Ask for `path` with four connections for so long. Ends the run where an answer was neither 2xx nor 304."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency"]
    for name, value in {**server.headers, **headers}.items():
        command += ["-H", f"{name}: {value}"]
    before = server.cpu_seconds()
    printed = subprocess.run([*command, server.url(path)], capture_output=True, text=True, check=True).stdout
    spent = server.cpu_seconds() - before
    requests = int(_found(r"(\d+) requests in", printed))
    if "If-None-Match" not in headers and "Non-2xx" in printed:
        raise SystemExit(f"{server.name} answered errors: {printed}")
    value, unit = _WRK.search(printed).groups()  # type: ignore[union-attr]
    p50_ms = float(value) * _MILLISECONDS[unit]
    return Sample(spent / requests * 1e6, float(_found(r"Requests/sec:\s+([\d.]+)", printed)), p50_ms)


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
