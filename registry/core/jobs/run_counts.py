"""How many jobs this process has run, by kind and result, for `/metrics` of a worker."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Final


@dataclass
class RunCounts:
    """`results` by `(kind, result)`, `seconds` by kind; only what `copy` answers is of one moment."""

    results: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, result: str, seconds: float) -> None:
        """Count one run. Jobs with a concurrency key run in threads of their own."""
        with self._lock:
            self.results[kind, result] += 1
            # A Counter of floats, which typeshed does not know.
            self.seconds[kind] += seconds  # type: ignore[assignment]

    def copy(self) -> tuple[dict[tuple[str, str], int], dict[str, float]]:
        """Both tables."""
        with self._lock:
            return dict(self.results), dict(self.seconds)


RUN_COUNTS: Final = RunCounts()
