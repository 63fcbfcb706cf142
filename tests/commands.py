"""Commands of the product in processes of their own, forked from one that has imported Django (`tests/fork_server.py`).

A fork takes a quarter of the CPU time of a fresh process. What is tested of starting, signals, settings that an
interpreter reads, or the command line itself asks for a fresh process.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).resolve().parent.parent
# Read by the interpreter or by a library when it starts, which a fork does not repeat.
_READ_AT_START: Final = re.compile(r"(PYTHON|LD_|LC_|LANG|MALLOC_|OMP_|OPENBLAS_)")


def run_script(
    script: Path,
    *arguments: str,
    env: Mapping[str, str],
    cwd: Path | None = None,
    text: str | None = None,
    timeout_seconds: float = 120,
    fresh: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a script of this checkout with standard input `text`; `fresh` starts an interpreter for it.

    Raises `subprocess.TimeoutExpired` after it has killed what took longer.
    """
    argv = [str(script), *arguments]
    if fresh or _at_start(env) != _at_start(_server_environment()):
        return subprocess.run(
            [sys.executable, *argv],
            env=dict(env),
            cwd=cwd,
            capture_output=True,
            text=True,
            input=text,
            check=False,
            timeout=timeout_seconds,
        )
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        code = _run_forked(argv, env, cwd or Path.cwd(), text, (output.fileno(), errors.fileno()), timeout_seconds)
        printed, said = [_read(stream) for stream in (output, errors)]
    return subprocess.CompletedProcess([sys.executable, *argv], code, printed, said)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if _READ_AT_START.match(name)}


def _server_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _read(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


def _run_forked(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    text: str | None,
    streams: tuple[int, int],
    timeout_seconds: float,
) -> int:
    """The exit code of a child of the server, negative for a signal; `streams` are its output and its errors."""
    request = {"argv": argv, "env": dict(env), "cwd": str(cwd), "umask": _read_umask()}
    ours, theirs = socket.socketpair()
    with ours, contextlib.ExitStack() as stack:
        with theirs:
            given = 0
            if text is not None:
                stream = stack.enter_context(tempfile.TemporaryFile("w+"))
                stream.write(text)
                stream.seek(0)
                given = stream.fileno()
            socket.send_fds(_server(), [b"."], [theirs.fileno(), given, *streams])
        ours.settimeout(timeout_seconds)
        ours.sendall(json.dumps(request).encode())
        ours.shutdown(socket.SHUT_WR)
        with ours.makefile("r") as answers:
            pid = int(answers.readline())
            try:
                return int(answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                ours.settimeout(None)
                ours.recv(64)
                raise subprocess.TimeoutExpired(list(argv), timeout_seconds) from None


def _read_umask() -> int:
    """Ours, without changing it for other threads as `os.umask` does."""
    status = Path("/proc/self/status").read_text("ascii")
    found = re.search(r"^Umask:\s*(\d+)", status, re.MULTILINE)
    assert found is not None
    return int(found[1], 8)


@cache
def _server() -> socket.socket:
    """The socket of the server of this process; the server ends when its other end is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
            cwd=ROOT,
            env=_server_environment(),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait(30)

    atexit.register(end)
    return ours
