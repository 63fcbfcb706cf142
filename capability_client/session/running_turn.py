"""One turn of a session at a time, which can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import ref

from capability_client.session.messages import TurnRunning


class _TurnMark:
    """Is there while a turn runs."""


class RunningTurn:
    """Whether a turn runs, and whether its user has stopped it."""

    def __init__(self) -> None:
        self.mutex: threading.Lock = threading.Lock()
        self.is_cancelled: bool = False
        self._turn: Callable[[], object] = _no_turn

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Raises `TurnRunning` where a turn is running: two at once would mix their messages.

        Held weakly: an interrupt in the one moment between beginning and `try` must not end the session for good.
        """
        turn = _TurnMark()
        with self.mutex:
            if self._turn() is not None:
                raise TurnRunning(
                    "A turn of this session is running, and a session runs one at a time. Wait for its end, close the "
                    "iterator of its steps, or use a session for each conversation"
                )
            self._turn = ref(turn)
            self.is_cancelled = False
        try:
            yield
        finally:
            self._turn = _no_turn

    def cancel(self) -> bool:
        """Ask the turn that is running to end. False where none is."""
        self.is_cancelled = self._turn() is not None
        return self.is_cancelled


def _no_turn() -> None:
    """In the place of a turn where none is running."""
