"""Processes that run.py starts, and that end with it."""

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
# Before a kept process that has ended by itself is started again; the last one holds from then on.
PAUSES_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
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
class _SupervisedProcess:
    """A process that is started again when it ends: when it was, how often in a row it ended, when it is again."""

    command: Sequence[str]
    started_at: float = 0.0
    ends: int = 0
    due_at: float = 0.0


@dataclass
class Processes:
    """The children that are running, by name, in the order in which they were started."""

    env: Mapping[str, str]
    cwd: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _kept: dict[str, _SupervisedProcess] = field(default_factory=dict)

    def keep(self, name: str, command: Sequence[str]) -> None:
        """As `start`, for what the others can do without: `wait_for_end` starts it again when it ends by itself."""
        self._kept[name] = _SupervisedProcess(command)
        self._revive()

    def start(self, name: str, command: Sequence[str]) -> None:
        self.running[name] = subprocess.Popen(command, env=dict(self.env), cwd=self.cwd, **child_options())

    def ended(self) -> str | None:
        """A sentence about the first process that is no longer there and is not kept, or None."""
        for name, process in self.running.items():
            if name not in self._kept and process.poll() is not None:
                return f"The {name} {how_ended(process)}; see its last lines above."
        return None

    def wait_for_end(self, stop: threading.Event) -> str | None:
        """Return None when `stop` is set, the reason when a process ended by itself that is not kept."""
        while not stop.wait(0.2):
            if reason := self.ended():
                return reason
            self._revive()
        return None

    def _revive(self) -> None:
        """Start what is kept and due. A pause grows with each end in a row: what ends at once must not take a core."""
        for name, kept in self._kept.items():
            process = self.running.get(name)
            if process is not None and process.poll() is not None:
                del self.running[name]
                kill_group(process)
                self._put_off(name, kept, how_ended(process))
            elif process is None and time.monotonic() >= kept.due_at:
                try:
                    self.start(name, kept.command)
                    kept.started_at = time.monotonic()
                except OSError as error:
                    self._put_off(name, kept, f"could not be started ({error.strerror})")

    def _put_off(self, name: str, kept: _SupervisedProcess, why: str) -> None:
        now = time.monotonic()
        if now - kept.started_at >= STEADY_SECONDS:
            kept.ends = 0
        pause_seconds = PAUSES_SECONDS[min(kept.ends, len(PAUSES_SECONDS) - 1)]
        kept.ends, kept.due_at = kept.ends + 1, now + pause_seconds
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
