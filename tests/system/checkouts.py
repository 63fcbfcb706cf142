"""Copies of this tree, in which `run.py` is started as an operator starts it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.config.environment import VARIABLES
from tests.servers import OURSELVES, ROOT, Identity, answers, free_port

# What a clone holds; what a developer's tree has beside it stays there.
LEFT_OUT = (".venv", ".venv.old", ".git", ".data", "node_modules", "__pycache__", ".*_cache", ".hypothesis")
SETUP_SECONDS = 300


@dataclass
class Run:
    """One `run.py` at work: its process and what it has printed so far."""

    process: subprocess.Popen[str]
    port: str
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    readers: list[threading.Thread] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def text(self) -> str:
        return "".join([*self.out, *self.err])

    def await_answer(self, timeout_seconds: float = SETUP_SECONDS) -> float:
        """Wait until the address is printed; the answer is how long that took."""
        began = time.monotonic()
        while not any(self.url in line for line in self.out):
            assert self.process.poll() is None, self.text
            assert time.monotonic() - began < timeout_seconds, self.text
            time.sleep(0.01)
        assert answers(f"{self.url}/healthz")
        return time.monotonic() - began

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send the signal; the answer is the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self, timeout_seconds: float = SETUP_SECONDS) -> int:
        code = self.process.wait(timeout_seconds)
        for reader in self.readers:
            reader.join(5)
        return code


@dataclass
class Tree:
    """A copy of this project in a directory of its own."""

    root: Path
    env: dict[str, str]
    identity: Identity = OURSELVES
    runs: list[Run] = field(default_factory=list)

    def start(self, *arguments: str, python: str = sys.executable, **settings: str) -> Run:
        """Start run.py; every run is stopped when the test ends."""
        port = settings.setdefault("PORT", str(free_port()))
        process = subprocess.Popen(
            [python, "run.py", *arguments],
            cwd=self.root,
            env={**self.env, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **self.identity.popen_arguments,
        )
        run = Run(process, port)
        for stream, lines in ((process.stdout, run.out), (process.stderr, run.err)):
            reader = threading.Thread(target=_collect, args=(stream, lines), daemon=True)
            reader.start()
            run.readers.append(reader)
        self.runs.append(run)
        return run

    def stop_all(self) -> None:
        for run in self.runs:
            if run.process.poll() is None:
                os.killpg(run.process.pid, signal.SIGKILL)
            run.wait()


def _collect(stream: Any, lines: list[str]) -> None:
    with stream:
        for line in stream:
            lines.append(line)  # noqa: PERF402 (line by line, while others look)


def copy_tree(target: Path, identity: Identity = OURSELVES) -> Tree:
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    ours = {*VARIABLES, "DJANGO_SETTINGS_MODULE", "PYTHONPYCACHEPREFIX"}
    ours |= {"TEST_DATABASE", "TEST_DATABASE_URL", "STUDIO_TEST_COUNTS"}
    env = {name: value for name, value in os.environ.items() if name not in ours}
    if identity.uid is not None:
        for path in [target.parent, target, *target.rglob("*")]:
            identity.own(path)
        # Their own home, so that neither our pip settings nor our cache are asked for.
        env |= {"HOME": str(target.parent), "USER": "nobody"}
    return Tree(target, env, identity)


def children_of(pid: int) -> list[int]:
    """All processes below this one."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
    found = [pid]
    for parent in found:
        found += [child for child, its in parents.items() if its == parent]
    return found[1:]


def assert_gone(pids: Sequence[int], timeout_seconds: float = 20) -> None:
    deadline = time.monotonic() + timeout_seconds
    while left := [pid for pid in pids if _is_alive(pid)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
