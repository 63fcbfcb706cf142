"""The hot path against the bare server and against a plain build, in one run of less than three minutes.

    python bench/hot_path.py [--seconds 2] [--rounds 5] [--json FILE]

Three servers answer the same questions with the same bytes: the product, granian with a function that returns those
bytes (`bare`), and what one would write first (`plain`): a Django project as `startproject` makes it, with REST
framework's token authentication, serializers and the ORM. A fourth is the product with 10,000 capabilities. Rounds are
interleaved and compared in pairs, so that a machine whose speed drifts moves all of them. The answers are compared
before anything is measured. Needs wrk (apt install wrk).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from measuring import PRODUCT, ROOT, Sample, Server, measure, paired_ratios, quartiles, serve

LOAD = "/api/v1/capability_skill_load?capability_id=bench_000"
LIST = "/api/v1/capability_registry_list"
LARGE = 10_000


@dataclass
class Cell:
    """One question, asked of several servers; the first one is the product."""

    name: str
    path: str
    servers: list[Server]
    headers: dict[str, str] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def run(self, rounds: int, seconds: int) -> None:
        """A round to warm up, then interleaved rounds."""
        for server in self.servers:
            measure(server, self.path, self.headers, 1)
        for _ in range(rounds):
            for server in self.servers:
                sample = measure(server, self.path, self.headers, seconds)
                self.samples.setdefault(server.name, []).append(sample)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("needs wrk: apt install wrk")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        result = _run(Path(name), stack, options)
    result["machine"] = {
        "cores": os.cpu_count(), "python": platform.python_version(), "load_average": os.getloadavg()[0],
        "seconds": round(time.monotonic() - began),
    }  # fmt: skip
    _report(result)
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def _run(folder: Path, stack: ExitStack, options: argparse.Namespace) -> dict[str, Any]:
    published = {count: _fill(folder / str(count), count) for count in (150, LARGE)}
    small, large = (stack.enter_context(_product(folder / str(count), count)) for count in (150, LARGE))
    etags = {server.name: _warm(server) for server in (small, large)}
    _save_answers(small, folder)
    references = {"BENCH_FOLDER": str(folder), "PYTHONPATH": str(ROOT / "bench" / "references")}
    bare = stack.enter_context(serve("bare", "bare:application", references, small.headers))
    plain = stack.enter_context(serve("plain", "plain:application", references, {"Authorization": "Token bench"}))
    _check([small, bare, plain])
    poll = {"If-None-Match": etags[small.name]}
    cells = [
        Cell("load of 10 KB", LOAD, [small, bare, plain]),
        Cell("list of 150", LIST, [small, bare, plain]),
        Cell("304 poll at 150", LIST, [small, bare], poll),
    ]
    for cell in cells:
        cell.run(options.rounds, options.seconds)
    return {
        "cells": {cell.name: _samples(cell) for cell in cells},
        "poll": _polls(small, large, etags, options),
        "neighbours": _neighbours(large, options),
        "publish": published[150],
        "resident_megabytes": {server.name: round(server.resident_megabytes()) for server in (small, large)},
    }


def _samples(cell: Cell) -> dict[str, list[dict[str, float]]]:
    return {name: [asdict(sample) for sample in samples] for name, samples in cell.samples.items()}


def _fill(folder: Path, count: int) -> dict[str, float]:
    """A data directory with so many capabilities; how long a publish took."""
    env = {**os.environ, "DATA_DIR": str(folder), "EXAMPLES": "off"}
    script = [sys.executable, str(ROOT / "bench" / "fill.py"), str(count)]
    done = subprocess.run(script, env=env, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


@contextmanager
def _product(folder: Path, count: int) -> Iterator[Server]:
    headers = {"Authorization": f"Bearer {(folder / 'key').read_text()}"}
    env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off"}
    with serve(f"product, {count}", PRODUCT, env, headers) as server:
        yield server


def _warm(server: Server) -> str:
    """The first answers of a kind are made by Django and teach the fast path; the list's ETag."""
    etag = ""
    for path in (LOAD, LIST):
        answers = [server.fetch(path) for _ in range(3)]
        answer = answers[-1]
        if answer.status != 200:
            raise SystemExit(f"{server.name} answered {answer.status} for {path}")
        etag = {name.lower(): value for name, value in answer.headers.items()}["etag"]
        if server.fetch(path, {"If-None-Match": etag}).status != 304:
            raise SystemExit(f"{server.name} does not know its own ETag for {path}")
    return etag


def _save_answers(product: Server, folder: Path) -> None:
    """The product's own headers and bytes are what the bare server sends back."""
    for path in (LOAD, LIST):
        answer = product.fetch(path)
        kept = {k: v for k, v in answer.headers.items() if k.lower() not in ("server", "date", "content-length")}
        name = path.split("/")[-1].split("?")[0]
        saved = {"headers": sorted(kept.items()), "body": answer.body.decode()}
        (folder / f"{name}.json").write_text(json.dumps(saved))


def _check(servers: list[Server]) -> None:
    """All three say the same: bare the same bytes, plain the same values."""
    for path in (LOAD, LIST):
        ours, bare, plain = (server.fetch(path) for server in servers)
        if ours.body != bare.body or not _holds(ours.json(), plain.json()):
            raise SystemExit(f"the servers do not answer the same for {path}")


def _holds(ours: Any, plain: Any) -> bool:
    """Whether every value that the plain build answers is ours too; it leaves out what it has no column for."""
    if isinstance(plain, dict):
        return bool(plain) and all(_holds(ours[key], value) for key, value in plain.items())
    if isinstance(plain, list):
        return len(plain) == len(ours) and all(map(_holds, ours, plain))
    return bool(plain == ours)


def _polls(small: Server, large: Server, etags: dict[str, str], options: argparse.Namespace) -> dict[str, Any]:
    """The 304 poll of the small and of the large registry, round by round."""
    found: dict[str, list[float]] = {small.name: [], large.name: []}
    for _ in range(options.rounds):
        for server in (small, large):
            sample = measure(server, LIST, {"If-None-Match": etags[server.name]}, options.seconds)
            found[server.name].append(sample.cpu_us)
    return found


def _neighbours(server: Server, options: argparse.Namespace) -> dict[str, list[float]]:
    """The p50 of a load, in ms: alone, and beside two clients that ask for what Django has to work out."""
    alone, beside = [], []
    for _ in range(options.rounds):
        alone.append(measure(server, LOAD, {}, options.seconds).p50_ms)
        with _two_slow_clients(server):
            beside.append(measure(server, LOAD, {}, options.seconds).p50_ms)
    return {"alone_p50_ms": alone, "beside_two_slow_p50_ms": beside}


@contextmanager
def _two_slow_clients(server: Server) -> Iterator[None]:
    """One asks for ever new unknown ids, one for ever new pages of 1,000: neither is kept by anybody."""
    stop = threading.Event()

    def ask(path: str) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            server.fetch(path.format(number, 500 + number % 500))

    paths = ("/api/v1/capability_skill_load?capability_id=unknown_{0}", LIST + "?updated_since_revision={0}&limit={1}")
    clients = [threading.Thread(target=ask, args=(path,)) for path in paths]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        stop.set()
        for client in clients:
            client.join()


def _report(result: dict[str, Any]) -> None:
    """Markdown, as docs/benchmarks.md holds it."""
    print(
        "| cell | server | CPU µs a request (quartiles) | requests a second (quartiles) | product, by CPU (quartiles) |"
    )
    print("| --- | --- | ---: | ---: | ---: |")
    for name, by_server in result["cells"].items():
        ours = next(iter(by_server.values()))
        for server, samples in by_server.items():
            cpu, rate = ([sample[key] for sample in samples] for key in ("cpu_us", "requests_per_second"))
            words = "" if samples is ours else _against(server, [s["cpu_us"] for s in ours], cpu)
            print(f"| {name} | {server} | {_spread(cpu)} | {_spread(rate)} | {words} |")
    small, large = result["poll"].values()
    print(f"\n304 at {LARGE:,} against 150, by CPU: {_ratio(small, large)}")
    alone, beside = result["neighbours"].values()
    print(f"p50 of a load alone {statistics.median(alone):.3f} ms, beside two slow: {_ratio(alone, beside)} times")
    print(f"publish: {result['publish']}; MB: {result['resident_megabytes']}; {result['machine']}")


def _against(server: str, ours: list[float], other: list[float]) -> str:
    low, middle, high = paired_ratios(ours, other)
    if server == "bare":
        return f"{middle:.2f} ({low:.2f}-{high:.2f}) of bare"
    return f"{middle:.0f} ({low:.0f}-{high:.0f}) times"


def _ratio(ours: list[float], other: list[float]) -> str:
    low, middle, high = paired_ratios(ours, other)
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def _spread(values: list[float]) -> str:
    low, middle, high = quartiles(values)
    return f"{middle:,.0f} ({low:,.0f}-{high:,.0f})"


if __name__ == "__main__":
    main()
