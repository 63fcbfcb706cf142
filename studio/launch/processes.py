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

STOP_SECONDS = 15.0


def run_to_end(command: Sequence[str], *, env: Mapping[str, str]) -> int:
    """The exit code of a command that shares our output; when we are interrupted it is stopped first."""
    process = subprocess.Popen(command, env=dict(env), stdin=subprocess.DEVNULL)
    try:
        return process.wait()
    finally:
        end(process)


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Stop it where it still runs, and wait for it."""
    if process.poll() is None:
        process.terminate()
        process.wait()


@dataclass
class Processes:
    """The children that are running, by name, in the order in which they were started."""

    env: Mapping[str, str]
    cwd: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str]) -> None:
        self.running[name] = subprocess.Popen(
            command,
            env=dict(self.env),
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            # Their own session: a Ctrl-C reaches us alone, and we stop them in order.
            start_new_session=True,
            preexec_fn=_die_with(os.getpid()) if sys.platform == "linux" else None,  # noqa: PLW1509 (no threads yet)
        )

    def ended(self) -> str | None:
        """A sentence about the first process that is no longer there, or None."""
        for name, process in self.running.items():
            code = process.poll()
            if code is not None:
                how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
                return f"The {name} {how}; its last words stand above."
        return None

    def wait_for_end(self, stop: threading.Event) -> str | None:
        """Return None when `stop` is set, the reason when a process ended by itself."""
        while not stop.wait(0.2):
            if reason := self.ended():
                return reason
        return None

    def stop_all(self) -> None:
        """Ask each to end; who does not within STOP_SECONDS is ended, with all that it started."""
        for process in self.running.values():
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(deadline - time.monotonic(), 0.1))
            # Whoever is left: one that does not stop, or the children of one that was killed.
            _kill_group(process)
        self.running.clear()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if os.name == "nt":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
