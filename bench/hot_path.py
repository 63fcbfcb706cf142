"""The hot path against the bare server and against a plain build, in one run.

    python bench/hot_path.py [--seconds 3] [--rounds 5] [--json FILE]

Three servers answer the same questions with the same bytes: the product, granian with a function that returns those
bytes (`bare`), and a Django REST framework view with token authentication and the ORM (`plain`). Rounds are
interleaved, so that a machine whose speed drifts moves all three. Needs wrk (apt install wrk). Prints CPU per request
and requests a second as medians with quartiles, and the ratios; the answers are compared before anything is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KEY_FILE = "key"
CELLS = {
    "load 10 KB": "/api/v1/capability_skill_load?capability_id=bench_000",
    "list of 150": "/api/v1/capability_registry_list",
    "304 poll": "/api/v1/capability_registry_list",
}
CONNECTIONS = 4


@dataclass
class Server:
    """A server under test. `pids` are its worker processes."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    headers: dict[str, str]
    samples: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def cpu_seconds(self) -> float:
        """User and system time of all its processes."""
        total = 0.0
        for pid in _family(self.process.pid):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in _family(int(child)))]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _serve(name: str, target: str, env: dict[str, str], headers: dict[str, str], cwd: Path) -> Iterator[Server]:
    port = _free_port()
    command = [
        sys.executable,
        "-m",
        "granian",
        "--interface",
        "wsgi",
        target,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    command += ["--workers", "1", "--blocking-threads", "4", "--no-ws", "--log-level", "error"]
    process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **env, "PORT": str(port)})
    try:
        _wait(port)
        yield Server(name, port, process, headers)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def _wait(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("a server did not start")


def _fetch(server: Server, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(server.url(path), headers={**server.headers, **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def _measure(server: Server, cell: str, headers: dict[str, str], seconds: int) -> None:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s"]
    for name, value in {**server.headers, **headers}.items():
        command += ["-H", f"{name}: {value}"]
    before = server.cpu_seconds()
    printed = subprocess.run([*command, server.url(CELLS[cell])], capture_output=True, text=True, check=True).stdout
    spent = server.cpu_seconds() - before
    requests = int(re.search(r"(\d+) requests in", printed)[1])  # type: ignore[index]
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", printed)[1])  # type: ignore[index]
    if cell != "304 poll" and "Non-2xx" in printed:
        raise SystemExit(f"{server.name} answered errors: {printed}")
    server.samples.setdefault(cell, []).append((spent / requests * 1e6, rate))


def _prepare(folder: Path) -> str:
    """A data directory with 150 capabilities, one of about 10 KB; answers a key."""
    script = ROOT / "bench" / "fill.py"
    env = {**os.environ, "DATA_DIR": str(folder), "EXAMPLES": "off"}
    subprocess.run([sys.executable, str(script), "150"], env=env, check=True, stdout=subprocess.DEVNULL)
    return (folder / KEY_FILE).read_text()


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("needs wrk: apt install wrk")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        authorization = {"Authorization": f"Bearer {_prepare(folder)}"}
        env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off"}
        with _serve("product", "studio.wsgi:application", env, authorization, ROOT) as product:
            etag = _save_answers(product, folder)
            plain_env = {"BENCH_FOLDER": str(folder), "PYTHONPATH": str(ROOT / "bench" / "references")}
            bare = _serve("bare", "bare:application", plain_env, authorization, ROOT)
            plain = _serve("plain", "plain:application", plain_env, {"Authorization": "Token bench"}, ROOT)
            with bare as bare_server, plain as plain_server:
                servers = [product, bare_server, plain_server]
                _check(servers)
                _run(servers, options, etag)
    _report(servers, options.json)


def _save_answers(product: Server, folder: Path) -> str:
    """The product's own bytes are what the bare server sends back."""
    etag = ""
    for cell, path in CELLS.items():
        # The first answers of a kind are made by Django and teach the fast path.
        _fetch(product, path, {})
        _fetch(product, path, {})
        status, headers, body = _fetch(product, path, {})
        assert status == 200, (cell, status, body[:200])
        kept = {key: value for key, value in headers.items() if key.lower() not in ("server", "date", "content-length")}
        (folder / f"{path.split('/')[-1].split('?')[0]}.json").write_text(
            json.dumps({"headers": sorted(kept.items()), "body": body.decode()})
        )
        if cell == "304 poll":
            etag = headers.get("ETag") or headers["etag"]
            _fetch(product, path, {"If-None-Match": etag})
    return etag


def _check(servers: list[Server]) -> None:
    for path in set(CELLS.values()):
        bodies = [json.loads(_fetch(server, path, {})[2]) for server in servers]
        if not (bodies[0] == bodies[1] and _same(bodies[0], bodies[2])):
            raise SystemExit(f"the servers do not answer the same for {path}")


def _same(ours: dict[str, Any], plain: dict[str, Any]) -> bool:
    return all(plain[key] == ours[key] for key in plain)


def _run(servers: list[Server], options: argparse.Namespace, etag: str) -> None:
    for cell in CELLS:
        headers = {"If-None-Match": etag} if cell == "304 poll" else {}
        taking_part = [server for server in servers if cell != "304 poll" or server.name != "plain"]
        for server in taking_part:
            _measure(server, cell, headers, 1)
            server.samples[cell].clear()
        for _ in range(options.rounds):
            for server in taking_part:
                _measure(server, cell, headers, options.seconds)


def _report(servers: list[Server], target: Path | None) -> None:
    product, bare, plain = servers
    print(f"{'cell':12} {'server':8} {'CPU us/request (quartiles)':30} {'requests/s (quartiles)':30}")
    for cell in CELLS:
        for server in servers:
            if cell in server.samples:
                cpu = _quartiles([sample[0] for sample in server.samples[cell]])
                rate = _quartiles([sample[1] for sample in server.samples[cell]])
                cpu_words = f"{cpu[1]:.1f} ({cpu[0]:.1f}-{cpu[2]:.1f})"
                print(f"{cell:12} {server.name:8} {cpu_words:30} {rate[1]:,.0f} ({rate[0]:,.0f}-{rate[2]:,.0f})")
        ours = statistics.median(sample[0] for sample in product.samples[cell])
        if cell in bare.samples:
            ratio = statistics.median(sample[0] for sample in bare.samples[cell]) / ours
            print(f"{cell:12} product / bare by CPU: {ratio:.2f}")
        if cell in plain.samples:
            ratio = statistics.median(sample[0] for sample in plain.samples[cell]) / ours
            print(f"{cell:12} product / plain by CPU: {ratio:.0f} times")
    if target is not None:
        raw = {server.name: server.samples for server in servers}
        target.write_text(json.dumps({"cpu_us_and_requests_per_second": raw}, indent=1))


if __name__ == "__main__":
    main()
