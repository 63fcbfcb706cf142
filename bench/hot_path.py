"""The hot path by CPU, against bare granian, nginx and a plain build, in one run of about four minutes.

    python bench/hot_path.py [--seconds 1] [--rounds 5] [--large 10000] [--json FILE] [--write] [--before OTHER_TREE]

Servers answer the same questions: the product as `serve` starts it; granian's WSGI with one thread and a function that
returns bytes it holds (`bare`, granian at its best); nginx with the same bytes as files; and what one would write first
(`plain`): a Django project as `startproject` makes it, with REST framework's token authentication, serializers and the
ORM. What is measured is the CPU time of a server's whole process tree by the scheduler's counters: on a machine that is
shared, the clock says little. Rounds are interleaved and compared in pairs. A cell is marked where other work took more
than a third of a core in most rounds, or where the client was the limit. `--write` puts the tables into
docs/performance.md and the raw data into bench/results/. With `--before` the product of a second tree, of another
commit, is measured beside this one in their place, and nothing else. Needs wrk and nginx.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bar_chart import bar_chart
from measuring import PRODUCT, ROOT, Sample, Server, free_port, measure, paired_ratios, quartiles, run, serve
from references import nginx

LOAD = "/api/v1/capability_skill_load?capability_id=bench_000"
LIST = "/api/v1/capability_registry_list"
RESULTS = ROOT / "bench" / "results" / "hot_path.json"
PAGE = ROOT / "docs" / "performance.md"
CHART = ROOT / "docs" / "performance.svg"
# As the nginx of `deploy/` says it, with an address of somebody else.
FORWARDED = {
    "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Host": "127.0.0.1", "X-Forwarded-Proto": "http",
    "X-Request-ID": "0123456789abcdef0123456789abcdef",
}  # fmt: skip
TWO_SLOW = ["schema", "reload"]
FIFTEEN_BUSY = ["publish"] * 3 + ["match"] * 6 + ["unknown"] * 4 + ["sign_in"] * 2
NEIGHBORS = {"two clients that ask for the schema and for reloads": TWO_SLOW, "15 busy clients": FIFTEEN_BUSY}
BUSY_CORES = 1 / 3
CLIENT_SHARE = 0.9


@dataclass
class Cell:
    """One question, asked of several servers; the first one is the product."""

    name: str
    path: str
    servers: list[Server]
    headers: dict[str, str] = field(default_factory=dict)
    # A server's own ETag, where the question is whether its answer has changed.
    etags: dict[str, str] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def run(self, rounds: int, seconds: int) -> None:
        """A round to warm up, then interleaved rounds in random order."""
        for server in self.servers:
            self._measure(server, 1)
            self.samples[server.name] = []
        for _ in range(rounds):
            for server in random.sample(self.servers, len(self.servers)):
                self.samples[server.name].append(self._measure(server, seconds))

    def _measure(self, server: Server, seconds: int) -> Sample:
        tag = {"If-None-Match": self.etags[server.name]} if self.etags else {}
        return measure(server, self.path, {**self.headers, **tag}, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--render", action="store_true", help="the page alone, from the raw data of the last --write")
    parser.add_argument("--before", type=Path, help="a second tree, whose product is measured beside this one")
    options = parser.parse_args()
    if options.render:
        result = json.loads(RESULTS.read_text())
        _write_page("\n".join(_report(result)))
        CHART.write_text(_chart(result))
        return
    for program in ("wrk", "nginx"):
        if shutil.which(program) is None:
            raise SystemExit(f"needs {program}: apt install {program}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        result = (_run if options.before is None else _compare)(Path(name), stack, options)
    result["machine"] = {
        "cores": os.cpu_count(), "python": platform.python_version(), "load_average": round(os.getloadavg()[0], 1),
        "seconds": round(time.monotonic() - began), "rounds": options.rounds, "seconds_a_round": options.seconds,
    }  # fmt: skip
    report = "\n".join(_report(result))
    print(report)
    if options.write:
        RESULTS.write_text(_compact(result))
        _write_page(report)
        CHART.write_text(_chart(result))
    if options.json is not None:
        options.json.write_text(_compact(result))


def _compact(result: dict[str, Any]) -> str:
    """A line a sample."""
    rounded = json.loads(json.dumps(result), parse_float=lambda text: round(float(text), 3))
    return json.dumps(rounded, indent=1).replace("\n     ", " ") + "\n"


def _write_page(report: str) -> None:
    begin, end = "<!-- hot_path.py: begin -->\n", "<!-- hot_path.py: end -->"
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text(f"{before}{begin}\n{report}\n\n{end}{rest.partition(end)[2]}")


def _run(folder: Path, stack: ExitStack, options: argparse.Namespace) -> dict[str, Any]:
    published = {count: _fill(folder / str(count), count) for count in (150, options.large)}
    small, large = (stack.enter_context(_product(folder / str(count), count)) for count in (150, options.large))
    proxied = stack.enter_context(_product(folder / "150", 150, TRUSTED_PROXIES="127.0.0.1"))
    etags = {server.name: _warm(server) for server in (small, large, proxied)}
    _save_answers(small, folder)
    references = {"BENCH_FOLDER": str(folder), "PYTHONPATH": str(ROOT / "bench" / "references")}
    bare = stack.enter_context(serve("bare", "bare:application", references, small.headers, threads=1))
    plain = stack.enter_context(serve("plain", "plain:application", references, {"Authorization": "Token bench"}))
    port = free_port()
    static = stack.enter_context(run("nginx", nginx.command(folder, port), port, dict(os.environ), small.headers))
    _check([small, bare, static, plain])
    etags |= {bare.name: '"bare"', static.name: _etag(static.fetch(LIST).headers)}
    gzip = {"Accept-Encoding": "gzip"}
    cells = [
        Cell("load of 10 KB", LOAD, [small, bare, static, plain]),
        Cell("list of 150", LIST, [small, bare, static, plain]),
        Cell("load, gzip", LOAD, [small, bare, static], gzip),
        Cell("304 poll", LIST, [small, bare, static], etags=etags),
        Cell("load behind a trusted proxy", LOAD, [proxied, bare], FORWARDED),
        Cell(f"load of 10 KB, {options.large:,} published", LOAD, [large, bare]),
        Cell(f"304 poll, {options.large:,} published", LIST, [large, bare], etags=etags),
    ]
    for cell in cells:
        cell.run(options.rounds, options.seconds)
    memory = {server.name: round(server.proportional_megabytes()) for server in (small, large)}
    return {
        "cells": {cell.name: _samples(cell) for cell in cells},
        "neighbors": {name: _neighbors(small, kinds, options) for name, kinds in NEIGHBORS.items()},
        "publish": published[150],
        "web_processes_megabytes": memory,
    }


def _compare(folder: Path, stack: ExitStack, options: argparse.Namespace) -> dict[str, Any]:
    """This checkout's product and another one's, by the same database each."""
    _fill(folder / "150", 150)
    shutil.copytree(folder / "150", folder / "other")
    ours = stack.enter_context(_product(folder / "150", 150))
    other = stack.enter_context(_product(folder / "other", 150, root=options.before.resolve(), name="before"))
    etags = {server.name: _warm(server) for server in (ours, other)}
    cells = [
        Cell("load of 10 KB", LOAD, [ours, other]),
        Cell("list of 150", LIST, [ours, other]),
        Cell("load, gzip", LOAD, [ours, other], {"Accept-Encoding": "gzip"}),
        Cell("304 poll", LIST, [ours, other], etags=etags),
    ]
    for cell in cells:
        cell.run(options.rounds, options.seconds)
    memory = {server.name: round(server.proportional_megabytes()) for server in (ours, other)}
    samples = {cell.name: _samples(cell) for cell in cells}
    return {"cells": samples, "neighbors": {}, "web_processes_megabytes": memory}


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
def _product(folder: Path, count: int, *, root: Path = ROOT, name: str = "", **settings: str) -> Iterator[Server]:
    headers = {"Authorization": f"Bearer {(folder / 'key').read_text()}"}
    env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off", **settings}
    name = name or f"product, {count}" + (", proxied" if settings else "")
    with serve(name, PRODUCT, env, headers, root=root) as server:
        yield server


def _warm(server: Server) -> str:
    """The first answers of a kind are not warm; the list's ETag."""
    etag = ""
    for path in (LOAD, LIST):
        for _ in range(3):
            server.fetch(path)
            time.sleep(0.2)
        answer = server.fetch(path)
        if answer.status != 200:
            raise SystemExit(f"{server.name} answered {answer.status} for {path}")
        etag = _etag(answer.headers)
        if server.fetch(path, {"If-None-Match": etag}).status != 304:
            raise SystemExit(f"{server.name} does not know its own ETag for {path}")
    return etag


def _etag(headers: dict[str, str]) -> str:
    return {name.lower(): value for name, value in headers.items()}["etag"]


def _save_answers(product: Server, folder: Path) -> None:
    """The product's own bytes are what the references send back."""
    for path in (LOAD, LIST):
        name = path.split("/")[-1].split("?")[0]
        (folder / f"{name}.json").write_text(json.dumps({"body": product.fetch(path).body.decode()}))


def _check(servers: list[Server]) -> None:
    """All say the same: the last one the same values, the others the same bytes."""
    for path in (LOAD, LIST):
        ours, *others, plain = (server.fetch(path) for server in servers)
        if any(other.body != ours.body for other in others) or not _holds(ours.json(), plain.json()):
            raise SystemExit(f"the servers do not answer the same for {path}")


def _holds(ours: Any, plain: Any) -> bool:
    """Whether every value that the plain build answers is ours too; it leaves out what it has no column for."""
    if isinstance(plain, dict):
        return bool(plain) and all(_holds(ours[key], value) for key, value in plain.items())
    if isinstance(plain, list):
        return len(plain) == len(ours) and all(map(_holds, ours, plain))
    return bool(plain == ours)


def _neighbors(server: Server, kinds: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """A load alone and beside clients that keep the registry busy, round by round, and what these got."""
    alone, beside, counts = [], [], []
    for _ in range(options.rounds):
        alone.append(asdict(measure(server, LOAD, {}, options.seconds)))
        with _busy_clients(server, kinds) as told:
            beside.append(asdict(measure(server, LOAD, {}, 2 * options.seconds)))
        counts.append(told)
    return {"alone": alone, "beside": beside, "answers_to_the_others": counts}


@contextmanager
def _busy_clients(server: Server, kinds: list[str]) -> Iterator[dict[str, int]]:
    """Clients in a process of their own; what they were answered, filled in at the end."""
    key = server.headers["Authorization"].removeprefix("Bearer ")
    command = [sys.executable, str(ROOT / "bench" / "neighbors.py"), str(server.port), key, *kinds]
    clients = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    told: dict[str, int] = {}
    try:
        assert clients.stdout is not None
        clients.stdout.readline()
        yield told
    finally:
        clients.send_signal(signal.SIGTERM)
        told.update(json.loads(clients.communicate(timeout=60)[0]))


def _report(result: dict[str, Any]) -> Iterator[str]:
    """Markdown, as docs/performance.md holds it."""
    machine = result["machine"]
    yield (
        f"{machine['cores']} cores, Python {machine['python']}, load average {machine['load_average']} at the end; "
        f"median of {machine['rounds']} rounds (lower and upper quartile)."
    )
    yield "\n| cell | server | CPU, µs a request | CPU of the server divided by the product's | marks |"
    yield "| --- | --- | ---: | ---: | --- |"
    for name, by_server in result["cells"].items():
        ours = next(iter(by_server.values()))
        for server, samples in by_server.items():
            cpu = [sample["cpu_us"] for sample in samples]
            words = "" if samples is ours else _ratio([s["cpu_us"] for s in ours], cpu)
            yield f"| {name} | {server} | {_spread(cpu)} | {words} | {_marks(samples)} |"
    titles = "a load beside | p50, times alone | p99 alone, ms | p99 beside, ms | throughput, of that alone | marks"
    if result["neighbors"]:
        yield f"\n| {titles} |\n| --- | ---: | ---: | ---: | ---: | --- |"
    for name, found in result["neighbors"].items():
        alone, beside = found["alone"], found["beside"]
        p50 = _ratio([one["p50_ms"] for one in alone], [one["p50_ms"] for one in beside])
        p99 = " | ".join(_spread([one["p99_ms"] for one in side]) for side in (alone, beside))
        rate = _ratio(*([one["requests_per_second"] for one in side] for side in (alone, beside)))
        yield f"| {name} | {p50} | {p99} | {rate} | {_marks(alone)} |"
    megabytes = ", ".join(f"{name}: {held} MB" for name, held in result["web_processes_megabytes"].items())
    yield f"\nMemory of all web processes together (PSS): {megabytes}."


def _chart(result: dict[str, Any]) -> str:
    """The medians of each cell, as an SVG that docs/performance.md shows."""
    groups = {
        cell: {server: statistics.median(one["cpu_us"] for one in samples) for server, samples in by_server.items()}
        for cell, by_server in result["cells"].items()
    }
    return bar_chart("CPU time of one request", groups, "µs, median")


def _marks(samples: list[dict[str, float]]) -> str:
    """What to keep in mind: by the median round."""
    other, client = (statistics.median(sample[key] for sample in samples) for key in ("other_cores", "client_share"))
    marks = [f"busy ({other:.1f} cores)"] if other > BUSY_CORES else []
    return ", ".join([*marks, "client is the limit"] if client > CLIENT_SHARE else marks)


def _ratio(ours: list[float], other: list[float]) -> str:
    low, middle, high = paired_ratios(ours, other)
    digits = 0 if middle >= 20 else 2
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def _spread(values: list[float]) -> str:
    low, middle, high = quartiles(values)
    digits = 0 if middle >= 1000 else 1
    return f"{middle:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


if __name__ == "__main__":
    main()
