"""Processes that run.py and `manage.py serve` start, that are started again when they end, and that end with these.

The gateway keeps the application behind it by the same `RestartSchedule`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.launcher.console import say

# A little more than the server and the worker give to what is at work.
STOP_SECONDS = 4.8
# Before a process that has ended by itself is started again; the last one holds from then on.
PAUSES_SECONDS = (1.0, 2.0, 4.0, 8.0, 10.0)
# One that ran for so long begins with the first pause again.
STEADY_SECONDS = 120.0


def run_to_end(command: Sequence[str], *, env: Mapping[str, str]) -> int:
    """The exit code of a command that shares our output; when we are interrupted it is stopped first."""
    process = subprocess.Popen(command, env=dict(env), **child_options())
    try:
        return process.wait()
    finally:
        end_process(process)


def end_process(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Stop it where it still runs, and wait for it."""
    if process.poll() is None:
        process.terminate()
        process.wait()


@dataclass
class RestartSchedule:
    """When a process that ended is started again: a pause grows with each end in a row, since what ends at once must
    not take a core. With `at_once` the first end has no pause: for what clients wait for."""

    at_once: bool = False
    _started_at: float = field(default_factory=time.monotonic)
    _ends: int = 0

    def record_start(self) -> None:
        """It was started just now."""
        self._started_at = time.monotonic()

    def get_pause_seconds(self) -> float:
        """It ended just now: how long to wait before it is started again."""
        if time.monotonic() - self._started_at >= STEADY_SECONDS:
            self._ends = 0
        pauses = (0.0, *PAUSES_SECONDS) if self.at_once else PAUSES_SECONDS
        self._ends += 1
        return pauses[min(self._ends, len(pauses)) - 1]


@dataclass
class _SupervisedProcess:
    """A process that is started again when it ends; `due_at` is when, by the monotonic clock."""

    command: Sequence[str]
    schedule: RestartSchedule
    due_at: float = 0.0


@dataclass
class Processes:
    """The children that are running, by name, in the order in which they were started."""

    env: Mapping[str, str]
    cwd: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _kept: dict[str, _SupervisedProcess] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start it, to be there until it ends by itself."""
        self.running[name] = subprocess.Popen(command, env=dict(self.env), cwd=self.cwd, **child_options())

    def keep(self, name: str, command: Sequence[str], *, at_once: bool = False) -> None:
        """Have `wait` start it again when it ends by itself, and start it where it is not running yet."""
        self._kept[name] = _SupervisedProcess(command, RestartSchedule(at_once))
        self._revive()

    def find_ended(self) -> subprocess.Popen[bytes] | None:
        """The first process that is no longer there and is not kept."""
        for name, process in self.running.items():
            if name not in self._kept and process.poll() is not None:
                return process
        return None

    def wait(self, stop: threading.Event) -> None:
        """Keep what is kept until `stop` is set."""
        while not stop.wait(0.2):
            self._revive()

    def _revive(self) -> None:
        """Start what is kept and due."""
        for name, kept in self._kept.items():
            process = self.running.get(name)
            if process is not None and process.poll() is not None:
                del self.running[name]
                kill_group(process)
                self._put_off(name, kept, how_ended(process))
            elif process is None and time.monotonic() >= kept.due_at:
                try:
                    self.start(name, kept.command)
                    kept.schedule.record_start()
                except OSError as error:
                    self._put_off(name, kept, f"could not be started ({error.strerror})")

    def _put_off(self, name: str, kept: _SupervisedProcess, why: str) -> None:
        pause_seconds = kept.schedule.get_pause_seconds()
        kept.due_at = time.monotonic() + pause_seconds
        say(f"The {name} {why}. It is started again in {pause_seconds:g} s; until then its work waits.")

    def stop_all(self) -> None:
        """Ask each to end; who does not within STOP_SECONDS is ended, with all that it started."""
        for process in self.running.values():
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(deadline - time.monotonic(), 0.1))
            # What is left: a process that does not stop, or the children of one that was killed.
            kill_group(process)
        self.running.clear()


def how_ended(process: subprocess.Popen[bytes]) -> str:
    """As the end of a sentence about it."""
    code = process.returncode
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started, and wait for it."""
    if os.name == "nt":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def child_options() -> dict[str, Any]:
    """For `subprocess.Popen`: no input, and a session of its own: a Ctrl-C reaches us alone, and we stop each."""
    preexec = _die_with(os.getpid()) if sys.platform == "linux" else None
    return {"stdin": subprocess.DEVNULL, "start_new_session": True, "preexec_fn": preexec}


def _die_with(parent: int) -> Callable[[], None]:
    """For the child: ask the kernel for SIGTERM should run.py be killed, which cannot stop anything itself."""
    import ctypes

    pr_set_pdeathsig = 1
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(pr_set_pdeathsig, signal.SIGTERM)
        # Killed before it could be asked for: nobody will be told any more.
        if os.getppid() != parent:
            os._exit(1)

    return ask


class StopSignals:
    """While inside, Ctrl-C, SIGTERM and a closed terminal set the event instead of raising."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._before: dict[int, object] = {}

    def __enter__(self) -> threading.Event:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if number := getattr(signal, name, None):
                self._before[number] = signal.signal(number, lambda *_: self._stop.set())
        return self._stop

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # what signal.signal answered
