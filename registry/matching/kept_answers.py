"""What messages were answered: the same one, asked again of the same index, is answered from memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final

from registry.snapshot import Snapshot

# An answer has some 1 KB, and 20 KB at most.
_KEPT_MAX: Final = 256


class KeptAnswers:
    """Of one index, by one snapshot at a time: what a caller may see is by its snapshot."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._answers: dict[Hashable, dict[str, Any]] = {}
        self._failures = 0

    def note_failure(self) -> None:
        """A model did not respond: what is being worked out now is not kept."""
        with self._lock:
            self._failures += 1

    def get_or_make(
        self, snapshot: Snapshot, key: Hashable | None, make: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """The answer for all that matters of a request, which callers do not change. With None it is not kept."""
        if key is None:
            return make()
        with self._lock:
            if snapshot is not self._snapshot:
                self._snapshot, self._answers = snapshot, {}
            kept = self._answers.get(key)
            failures = self._failures
        if kept is not None:
            return kept
        made = make()
        with self._lock:
            if snapshot is self._snapshot and failures == self._failures:
                if len(self._answers) >= _KEPT_MAX:
                    del self._answers[next(iter(self._answers))]
                self._answers[key] = made
        return made
