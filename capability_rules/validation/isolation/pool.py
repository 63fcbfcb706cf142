"""The processes that check for one process of the product: started ahead, and replaced when they end.

A feature has what it reads of strangers done there too: `{"do": "package.module:function"}` names the operation.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from capability_rules.bundles.problem import UNFINISHED_CODE
from capability_rules.errors import RegistryUnavailable
from capability_rules.numeric_threads import SINGLE_THREAD
from capability_rules.validation.isolation.messages import LENGTH, encode_message

logger = logging.getLogger(__name__)

# What a caller does with a message before the result; returns the answer where it is a question.
MessageHandler = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]

# Its own limit is in seconds of its work (process.py). This one is for a machine that is busy otherwise.
_ANSWER_SECONDS_MAX: Final = 30.0
_START_SECONDS_MAX: Final = 30.0
# How long a bundle waits for a process, and how many may: each has a turn then where those before it are of usual size.
_TURN_SECONDS_MAX: Final = 20.0
_WAITING_PER_PROCESS: Final = 16
# Of those, one caller has half.
_WAITING_PER_CALLER: Final = _WAITING_PER_PROCESS // 2
# The folder that the packages are in, where `-c` looks for them.
_PACKAGES_DIR: Final = Path(__file__).resolve().parents[3]
_COMMAND: Final = (sys.executable, "-c", "from capability_rules.validation.isolation.process import main; main()")
# What an interpreter needs, and nothing of ours: it reads texts of strangers.
_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH")


class ChecksBusy(RegistryUnavailable):
    """Every process that checks is at work, and more bundles wait already than will have their turn soon."""

    def __init__(self) -> None:
        super().__init__("Many bundles are being checked at this moment; try again in a few seconds")


class ChecksUnfinished(RegistryUnavailable):
    """There was no time to check any of the texts to their end."""

    code = UNFINISHED_CODE

    def __init__(self) -> None:
        super().__init__("Not checked: there was no time to finish; try again in a few seconds")


class CheckEnded(Exception):
    """The process ended before it had a result: by a limit of its own work or memory, or for want of time."""

    is_limit = False


def _nobody() -> str:
    return ""


def _no_answer(_message: Mapping[str, Any]) -> None:
    """For an operation that says nothing before its result."""


class CheckProcess:
    """One process, asked by one thread at a time."""

    def __init__(self, answer_seconds_max: float) -> None:
        """Start it; it is ready half a second later. Raises OSError."""
        self._answer_seconds_max = answer_seconds_max
        env = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        env |= {"PYTHONDONTWRITEBYTECODE": "1", **SINGLE_THREAD}
        self._popen = subprocess.Popen(
            _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_PACKAGES_DIR, env=env
        )
        self._is_ready = False
        self._received = bytearray()
        # Whose turn it is.
        self.caller = ""

    def run(self, request: Mapping[str, Any], take: MessageHandler) -> dict[str, Any]:
        """The result of one operation. Raises `CheckEnded` where the process does not finish; it is ended then."""
        try:
            if not self._is_ready:
                self._receive(_START_SECONDS_MAX)
                self._is_ready = True
            self._send(request)
            deadline = time.monotonic() + self._answer_seconds_max
            while "result" not in (message := self._receive(deadline - time.monotonic())):
                answer = take(message)
                if answer is not None:
                    self._send(answer)
            return dict(message["result"])
        except (OSError, CheckEnded):
            self.end()
            ended = CheckEnded()
            ended.is_limit = self._popen.returncode != -signal.SIGKILL
            raise ended from None
        except BaseException:
            # Its next message would belong to this request.
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def end(self) -> None:
        """End it and wait for it."""
        self._popen.kill()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with contextlib.suppress(OSError):
                cast("BinaryIO", pipe).close()
        self._popen.wait()

    def _send(self, message: Mapping[str, Any]) -> None:
        pipe = cast("BinaryIO", self._popen.stdin)
        pipe.write(encode_message(message))
        pipe.flush()

    def _receive(self, seconds: float) -> dict[str, Any]:
        """The next message. Raises `CheckEnded`."""
        deadline = time.monotonic() + seconds
        pipe = cast("BinaryIO", self._popen.stdout).fileno()
        # Not `select`, which knows no descriptor past 1023: a web process has a connection for each client.
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while (whole := self._whole_message()) is None:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise CheckEnded
            piece = os.read(pipe, 1 << 20)
            if not piece:
                raise CheckEnded
            self._received += piece
        return whole

    def _whole_message(self) -> dict[str, Any] | None:
        if len(self._received) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self._received)[0]
        if len(self._received) < end:
            return None
        body = self._received[LENGTH.size : end]
        del self._received[:end]
        return dict(json.loads(body))


class CheckPool:
    """At most `most` processes. Once started, as many are kept; until then there are as many as were needed.

    `get_caller` says on whose behalf this thread asks; empty for the product itself. A caller never holds all of
    several processes, and of those who wait the one whose last turn is longest ago is next.
    """

    def __init__(
        self, most: int, *, answer_seconds_max: float = _ANSWER_SECONDS_MAX, get_caller: Callable[[], str] = _nobody
    ) -> None:
        self._most = most
        self._answer_seconds_max = answer_seconds_max
        self._get_caller = get_caller
        # The callers, each as often as it waits or holds a process, and the number of the last turn of each.
        self._waiting: list[str] = []
        self._held: Counter[str] = Counter()
        self._turns: dict[str, int] = {}
        self._count = 0
        self._idle: list[CheckProcess] = []
        self._kept = 0
        self._changed = threading.Condition()
        self._owner = os.getpid()

    def start(self) -> None:
        """Start all of them; they get ready while this process does something else."""
        self._kept = self._most
        self._refill()

    def run(self, request: Mapping[str, Any], take: MessageHandler = _no_answer) -> dict[str, Any]:
        """The result of an operation of process.py; `take` gets the messages before it, and returns what they ask for.

        Raises `CheckEnded` where it was ended, and `ChecksBusy`.
        """
        try:
            process = self._take()
        except OSError as error:
            logger.exception("a process that checks bundles could not be started")
            raise CheckEnded from error
        try:
            return process.run(request, take)
        except CheckEnded:
            logger.warning("a process that checks bundles was ended: %s did not finish", request["do"])
            raise
        finally:
            self._give_back(process)

    def stop(self) -> None:
        """End every process that is idle; a check that is under way goes on."""
        with self._changed:
            self._forget_after_fork()
            idle, self._idle = self._idle, []
            self._count -= len(idle)
        for process in idle:
            process.end()

    def _take(self) -> CheckProcess:
        deadline, caller = time.monotonic() + _TURN_SECONDS_MAX, self._get_caller()
        with self._changed:
            self._forget_after_fork()
            if len(self._waiting) >= _WAITING_PER_PROCESS * self._most:
                raise ChecksBusy
            if caller and self._waiting.count(caller) >= _WAITING_PER_CALLER * self._most:
                raise ChecksBusy
            self._waiting.append(caller)
            try:
                while self._next_caller() != caller or (process := self._ready_one()) is None:
                    if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                        raise ChecksBusy
            finally:
                self._waiting.remove(caller)
                # It may be the next one's turn, with another process.
                self._changed.notify_all()
            self._held[caller] += 1
            self._turns[caller] = max(self._turns.values(), default=0) + 1
            process.caller = caller
            return process

    def _next_caller(self) -> str | None:
        share = max(1, self._most - 1)
        able = [caller for caller in self._waiting if not caller or self._held[caller] < share]
        return min(able, key=lambda caller: self._turns.get(caller, 0), default=None)

    def _ready_one(self) -> CheckProcess | None:
        while self._idle:
            process = self._idle.pop()
            if process.is_alive:
                return process
            process.end()
            self._count -= 1
        if self._count < self._most:
            self._count += 1
            try:
                return CheckProcess(self._answer_seconds_max)
            except OSError:
                self._count -= 1
                raise
        return None

    def _give_back(self, process: CheckProcess) -> None:
        with self._changed:
            self._held[process.caller] -= 1
            if not self._waiting and not self._held.total():
                self._turns.clear()
                self._held.clear()
            if process.is_alive:
                self._idle.append(process)
            else:
                self._count -= 1
            self._changed.notify_all()
        self._refill()

    def _refill(self) -> None:
        with self._changed:
            self._forget_after_fork()
            while self._count < self._kept:
                try:
                    self._idle.append(CheckProcess(self._answer_seconds_max))
                except OSError:
                    logger.exception("a process that checks bundles could not be started")
                    return
                self._count += 1

    def _forget_after_fork(self) -> None:
        """A fork copied the handles; the processes are the parent's."""
        if self._owner != os.getpid():
            self._owner, self._idle, self._count = os.getpid(), [], 0
            self._waiting, self._held = [], Counter()


_pool: CheckPool | None = None


def current_pool() -> CheckPool | None:
    """The pool of this process, None where bundles are checked in place."""
    return _pool


def use_processes(most: int, *, get_caller: Callable[[], str] = _nobody) -> None:
    """From here on this process checks bundles in `most` processes, started when they are needed; 0: in place.

    `get_caller` is as of `CheckPool`.
    """
    global _pool
    if _pool is not None:
        _pool.stop()
    # Elsewhere a process can neither be timed nor waited for in this way.
    _pool = CheckPool(most, get_caller=get_caller) if most > 0 and os.name == "posix" else None


def start_ahead() -> None:
    """Start all of them now, so that the first bundle does not wait."""
    if _pool is not None:
        _pool.start()


def stop_processes() -> None:
    """End those that are idle; what comes starts new ones."""
    if _pool is not None:
        _pool.stop()


atexit.register(stop_processes)
