"""Large texts are checked in a process of their own, which is ended when it takes too long.

A text of a megabyte may be made to be slow, and a pattern that runs cannot be interrupted by a thread. So the check of
more than 64 Ki characters goes to a worker process: started when it is first needed, one per process, ended by the
system after two seconds of its own work and by us after ten seconds of waiting. What it could not finish is
`SEC_CHECK_INCOMPLETE`, an error. Small texts cannot take long and are checked here.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from registry.bundles.problem import RawFinding
from registry.validation.codes import list_codes
from registry.validation.security.scanner import check_texts
from registry.validation.security.text_corpus import AuthorText
from registry.validation.security.worker import read_message, write_message

logger = logging.getLogger(__name__)

SMALL_MAX: Final = 65_536
# The worker's own limit is in seconds of its work (worker.py). This one is for a machine that is busy otherwise.
SECONDS_MAX: Final = 10.0
_PROJECT = Path(__file__).resolve().parents[3]
_COMMAND = (sys.executable, "-c", "from registry.validation.security.worker import main; main()")


class WorkerFailed(Exception):
    """The worker ended before it had an answer."""


def check_author_texts(texts: Iterable[AuthorText]) -> list[RawFinding]:
    """As `check_texts`; more than 64 Ki characters in all are checked in the worker process."""
    listed = list(texts)
    if sum(len(each.text) for each in listed) <= SMALL_MAX:
        return check_texts(listed)
    try:
        return _worker.check(listed)
    except WorkerFailed:
        code = list_codes()["SEC_CHECK_INCOMPLETE"]
        message = "Seen: texts that could not be checked within the time there is for it."
        return [RawFinding("SEC_CHECK_INCOMPLETE", listed[0].file, listed[0].path, message, code.fix)]


class CheckProcess:
    """The worker of this process. Threads take turns; after a fork the child starts a worker of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def check(self, texts: list[AuthorText]) -> list[RawFinding]:
        """The worker's findings. Raises `WorkerFailed` where it took too long, died, or could not be started."""
        message = json.dumps([[t.file, list(t.path), t.text, t.is_key, t.base_offset] for t in texts]).encode()
        if not self._lock.acquire(timeout=SECONDS_MAX):
            raise WorkerFailed
        try:
            answer = self._ask(message)
        finally:
            self._lock.release()
        return [_finding_from(row) for row in json.loads(answer)]

    def _ask(self, message: bytes) -> bytes:
        process = self._started()
        timer = threading.Timer(SECONDS_MAX, process.kill)
        timer.daemon = True
        timer.start()
        try:
            write_message(cast("BinaryIO", process.stdin), message)
            answer = read_message(cast("BinaryIO", process.stdout))
        except (OSError, ValueError):
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            logger.warning("the worker that checks large texts was ended before it had finished")
            self._end()
            raise WorkerFailed
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner != os.getpid():
            # A fork copied the handle. The worker is the parent's; its pipes are closed here with the handle.
            self._process = None
        if self._process is not None and self._process.poll() is not None:
            # It ends by itself when nothing was asked for a while.
            self._end()
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_PROJECT, env=_environment()
                )
            except OSError:
                logger.exception("the worker that checks large texts could not be started")
                raise WorkerFailed from None
            self._owner = os.getpid()
        return self._process

    def end(self) -> None:
        """End the worker, if there is one, and wait for it."""
        with self._lock:
            if self._owner == os.getpid():
                self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()


def _environment() -> dict[str, str]:
    """Nothing of ours but what an interpreter needs: the worker reads texts of strangers."""
    kept = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"PYTHONDONTWRITEBYTECODE": "1"}


def _finding_from(row: dict[str, Any]) -> RawFinding:
    return RawFinding(**(row | {"path": tuple(row["path"])}))


_worker = CheckProcess()
atexit.register(_worker.end)
