"""Words for the operator: steps with their time on stderr, so that stdout holds answers alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Refusal(Exception):
    """The command failed; the message says why and what to do. `exit_code` is 2 for an invalid setting."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ProgressLine:
    """One line of progress. On a terminal its end changes in place; elsewhere a line now and then shows life."""

    QUIET_SECONDS = 5.0

    def __init__(self, title: str) -> None:
        self.title = title
        self._began = self._shown = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    @property
    def elapsed_seconds(self) -> float:
        return time.monotonic() - self._began

    def show(self, detail: str) -> None:
        if self._is_terminal:
            self._rewrite(f"{self.title}: {detail[:60]} ({self.elapsed_seconds:.0f} s)")
        elif time.monotonic() - self._shown > self.QUIET_SECONDS:
            self._shown = time.monotonic()
            say(f"{self.title}: {detail} ({self.elapsed_seconds:.0f} s)")

    def finish(self, outcome: str = "done") -> None:
        line = f"{self.title}: {outcome} ({self.elapsed_seconds:.1f} s)"
        if self._is_terminal:
            self._rewrite(line)
            say("")
        else:
            say(line)

    def _rewrite(self, line: str) -> None:
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()


@contextmanager
def show_step(title: str) -> Iterator[ProgressLine]:
    """A step that says when it is done, and that it failed when an exception leaves it."""
    current = ProgressLine(title)
    try:
        yield current
    except BaseException:
        current.finish("not finished")
        raise
    current.finish()


def say(line: str) -> None:
    """Print one line of progress."""
    print(line, file=sys.stderr, flush=True)


def print_answer(line: str) -> None:
    """One line of what was asked for."""
    print(line, flush=True)
