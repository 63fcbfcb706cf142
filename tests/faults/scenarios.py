"""Each scenario returns what happened, in words, and the faults."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.faults.clients import clients
from tests.faults.fuzz import fuzz
from tests.faults.site import Site, new_site
from tests.faults.texts import bundle_texts
from tests.servers import ROOT, descendants, keep, run_manage, serve_studio, studio_environment

Outcome = tuple[str, list[str]]
# What a kill tears stays torn, so that a look now and then finds it as well as one after each round.
ROUNDS_A_CHECK: Final = 5


def kills(database: str, options: argparse.Namespace) -> Outcome:
    """Rounds of SIGKILL for the web process, the worker and a command, at random moments."""
    site, chance, faults = new_site(database), random.Random(options.seed), []
    killed: Counter[str] = Counter()
    starts: list[float] = []
    ends = time.monotonic() + options.seconds
    try:
        number = 0
        while number < options.rounds and time.monotonic() < ends:
            number += 1
            starts.append(site.start())
            with clients(site, options.seed + number):
                command = _begin_command(site, number)
                time.sleep(chance.uniform(0.3, 2.5))
                for name, process in (("command", command), ("web", site.web), ("worker", site.worker)):
                    if process is not None and process.poll() is None and chance.random() < 0.8:
                        site.kill(process)
                        killed[name] += 1
                if command.poll() is None:
                    command.wait(60)
                site.start()
                time.sleep(0.3)
            if number % ROUNDS_A_CHECK == 0:
                faults += site.check()["faults"]
        found = site.check()
        faults += found["faults"]
    finally:
        site.stop()
    words = ", ".join(f"{count} {name}" for name, count in sorted(killed.items()))
    slowest = max(starts)
    words = (
        f"{killed.total()} kills ({words}) in {number} rounds; {len(site.counts.acknowledged)} acknowledged revisions, "
        f"{len(site.counts.feedback)} acknowledged outcomes; slowest start {slowest:.1f} s"
    )
    return words, faults


def _begin_command(site: Site, number: int) -> subprocess.Popen[bytes]:
    """`bundle publish` of a folder, at work while it is killed."""
    name = f"command_{number % 5}"
    folder = site.folder / "bundles" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in bundle_texts(name, f"Command {number}.").items():
        (folder / file).write_text(text, "utf-8")
    command = [sys.executable, str(ROOT / "manage.py"), "bundle", "publish", str(folder)]
    return subprocess.Popen(command, env=site.env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def database_away(_database: str, options: argparse.Namespace) -> Outcome:
    """PostgreSQL stopped under load, and back: reads go on, writes are refused, nothing acknowledged is lost."""
    site, faults = new_site("postgresql"), []
    assert site.postgresql is not None
    try:
        site.start()
        with clients(site, options.seed):
            time.sleep(4)
            site.postgresql.end()
            # What was under way when it went is not counted.
            time.sleep(2)
            site.counts.statuses.clear()
            time.sleep(options.away_seconds)
            during = dict(site.counts.statuses)
            site.postgresql.start_again()
            began = time.monotonic()
            while True:
                answer = site.call(
                    "POST", "/api/v1/operator/bundle_publish", {"bundles": [{"files": bundle_texts("back", "Now.")}]}
                )
                if answer is not None and answer.status_code == 200:
                    break
                if time.monotonic() - began > 60:
                    faults.append("no write 60 s after the database came back")
                    break
                time.sleep(0.1)
            recovered = time.monotonic() - began
        faults += site.check()["faults"]
        # What was not loaded since its last release is not held, and a 503 (docs/operate.md).
        allowed = ("publish 503", "list 200", "load 200", "load 503")
        bad = {word: count for word, count in during.items() if not word.startswith(allowed)}
        faults += [f"not as written: {bad}"] if bad else []
    finally:
        site.stop()
    return f"{options.away_seconds:.0f} s away: {_words(during)}; a write {recovered:.1f} s after it came back", faults


def disk_full(_database: str, options: argparse.Namespace) -> Outcome:
    """SQLite on a tmpfs that is filled to the last byte; needs root."""
    if os.geteuid() != 0:
        return "skipped: needs root for a tmpfs", []
    folder = Path(tempfile.mkdtemp(prefix="faults-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(folder)], check=True)
    site, faults = None, []
    try:
        site = new_site("sqlite", folder=folder)
        site.start()
        with clients(site, options.seed):
            time.sleep(4)
            fill = folder / "fill"
            with fill.open("wb") as stream, contextlib.suppress(OSError):
                while True:
                    stream.write(b"x" * 65536)
            time.sleep(2)
            site.counts.statuses.clear()
            time.sleep(options.away_seconds)
            during = dict(site.counts.statuses)
            ready = site.call("GET", "/readyz")
            fill.unlink()
            time.sleep(3)
            site.counts.statuses.clear()
            time.sleep(3)
            after = dict(site.counts.statuses)
        faults += site.check()["faults"]
        if after.get("publish 200", 0) == 0:
            faults.append("no publish once there was room")
        if ready is None or ready.status_code != 503:
            faults.append("/readyz did not name the full disk")
    finally:
        if site is not None:
            for process in (site.web, site.worker):
                site.kill(process)
        subprocess.run(["umount", "-l", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    return f"full: {_words(during)}; with room again: {_words(after)}", faults


def memory(database: str, options: argparse.Namespace) -> Outcome:
    """Application processes that may not grow: what cannot be allocated is refused or ends them, and nothing is lost.

    The limit of the address space is what each process has when it is set, so that large requests reach it whatever
    the machine and the libraries take.
    """
    site, faults = new_site(database), []
    try:
        site.start()
        assert site.web is not None
        with clients(site, options.seed):
            time.sleep(3)
            limited = {pid: _status_bytes(pid, "VmSize") for pid in descendants(site.web.pid) if not _is_gateway(pid)}
            for pid, limit in limited.items():
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
            site.counts.statuses.clear()
            body = {"bundles": [{"files": bundle_texts(f"large_{n}", "Long. " * 150_000)} for n in range(4)]}
            large = Counter(_status(site.call("POST", "/api/v1/operator/bundle_validate", body)) for _ in range(12))
            time.sleep(2)
            ended = [pid for pid in limited if not Path(f"/proc/{pid}").exists()]
            during = dict(site.counts.statuses)
        site.start()
        after = _status(
            site.call(
                "POST", "/api/v1/operator/bundle_validate", {"bundles": [{"files": bundle_texts("small", "Short.")}]}
            )
        )
        faults += site.check()["faults"]
        refused = sum(count for status, count in large.items() if status not in {"200", "400", "413"})
        if not ended and not refused:
            faults.append("the limit was never reached")
        if after in {"cut", "500", "503"}:
            faults.append(f"not served afterwards: {after}")
    finally:
        site.stop()
    words = ", ".join(f"{count} x {status}" for status, count in sorted(large.items()))
    words = (
        f"no application process may grow, 12 checks of 3.6 MB: {words}; {len(ended)} of {len(limited)} processes "
        f"ended; beside them {_words(during)}"
    )
    return words, faults


def _is_gateway(pid: int) -> bool:
    """It holds 64 KB of a request at a time, and so has no use for more memory."""
    with contextlib.suppress(OSError):
        return b"studio.gateway\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _status(answer: httpx2.Response | None) -> str:
    return "cut" if answer is None else str(answer.status_code)


def clock(_database: str, options: argparse.Namespace) -> Outcome:
    """A lease by a clock that is an hour ahead, then the clock of now; with libfaketime where it is installed."""
    library = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
    if library is None:
        return "skipped: libfaketime is not installed", []
    site, faults = new_site("sqlite"), []
    try:
        ahead = site.env | {"LD_PRELOAD": str(library), "FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        now = site.env
        site.env = ahead
        site.start()
        with clients(site, options.seed):
            time.sleep(6)
        for process in (site.web, site.worker):
            site.kill(process)
        site.env = now
        site.start()
        with clients(site, options.seed + 1):
            time.sleep(6)
        time.sleep(5)
        found = site.check()
        faults += found["faults"]
        faults += [f"{found['due']} due jobs are not done"] if found["due"] > 5 else []
    finally:
        site.stop()
    return f"an hour ahead, then back: {_words(dict(site.counts.statuses))}", faults


def upgrade(database: str, options: argparse.Namespace) -> Outcome:
    """The code of `--old` serves while this one migrates below it; then both serve."""
    old = Path(tempfile.mkdtemp(prefix="faults-old-"))
    archive = subprocess.run(["git", "archive", options.old], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(old)], input=archive, check=True)
    site, faults = new_site(database, root=old), []
    new_port = studio_environment(site.folder)["PORT"]
    server = None
    try:
        command = [sys.executable, str(old / "manage.py"), "serve"]
        site.web = keep(command, log=site.folder / "old.log", env=site.env, cwd=old)
        _wait(lambda: site.call("GET", "/healthz"))
        with clients(site, options.seed):
            time.sleep(4)
            before = len(site.counts.acknowledged)
            began = time.monotonic()
            new_env = {**site.env, "PYTHONPATH": str(ROOT), "PORT": new_port}
            run_manage("migrate", "--verbosity", "0", env=new_env)
            took = time.monotonic() - began
            site.counts.statuses.clear()
            time.sleep(4)
            beside = dict(site.counts.statuses)
            server = serve_studio(site.folder, site.folder / "new.log", env=new_env).server
            time.sleep(3)
        site.kill(site.web)
        site.web, site.env = server.process, new_env
        with clients(site, options.seed + 1):
            time.sleep(4)
        faults += site.check()["faults"]
        failed = {word: count for word, count in beside.items() if not word.split()[1].startswith(("200", "404"))}
        faults += [f"the old code failed beside the new tables: {failed}"] if failed else []
        path = site.folder / "after.zip"
        run_manage("backup", "create", "--to", str(path), env=site.env)
        run_manage("backup", "verify", str(path), env=site.env)
    finally:
        site.stop()
        shutil.rmtree(old, ignore_errors=True)
    words = (
        f"from {options.old[:8]}: migrated in {took:.1f} s below {before} acknowledged revisions; the old code after "
        f"it: {_words(beside)}; {len(site.counts.acknowledged)} acknowledged in all"
    )
    return words, faults


def soak(database: str, options: argparse.Namespace) -> Outcome:
    """A load for some minutes: memory, descriptors and errors."""
    site, faults = new_site(database), []
    samples: list[tuple[int, int]] = []
    try:
        site.start()
        with clients(site, options.seed, pause=options.pause):
            ends = time.monotonic() + 60 * options.minutes
            while time.monotonic() < ends:
                time.sleep(min(10.0, max(0.1, ends - time.monotonic())))
                pids = [pid for process in (site.web, site.worker) if process for pid in _with_descendants(process.pid)]
                samples.append((sum(map(_resident_mb, pids)), sum(map(_descriptors, pids))))
        found = site.check()
        faults += found["faults"]
        cut = {word: count for word, count in site.counts.statuses.items() if "cut" in word or " 5" in word}
        faults += [f"calls failed: {cut}"] if cut else []
    finally:
        site.stop()
    # Ten readings along the way: a leak rises to the end, a cache that fills comes to rest.
    readings = [samples[index * (len(samples) - 1) // 9] for index in range(10)]
    words = (
        f"{options.minutes:g} min: {_words(dict(site.counts.statuses))}; resident memory of web and worker in MB, ten "
        f"readings: {', '.join(str(memory) for memory, _ in readings)}; descriptors "
        f"{', '.join(str(descriptors) for _, descriptors in readings)}"
    )
    return words, faults


def _with_descendants(pid: int) -> list[int]:
    return [pid, *descendants(pid)]


def _wait(answer: Callable[[], Any], seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while answer() is None:
        if time.monotonic() > ends:
            raise TimeoutError("the server did not come up")
        time.sleep(0.1)


def _resident_mb(pid: int) -> int:
    return _status_bytes(pid, "VmRSS") // 2**20


def _status_bytes(pid: int, name: str) -> int:
    """A size that the kernel keeps of a process, 0 of one that is gone."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024
    return 0


def _descriptors(pid: int) -> int:
    with contextlib.suppress(OSError):
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return 0


def _words(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} x {word}" for word, count in sorted(counts.items())) or "nothing"


SCENARIOS: Final[dict[str, Callable[[str, argparse.Namespace], Outcome]]] = {
    "kills": kills,
    "database_away": database_away,
    "disk_full": disk_full,
    "memory": memory,
    "clock": clock,
    "upgrade": upgrade,
    "soak": soak,
    "fuzz": fuzz,
}
