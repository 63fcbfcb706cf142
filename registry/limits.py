"""How often somebody may do something: counted in memory, so that no limit depends on another server being up.

Each process counts on its own: with several worker processes the bound is the setting times their number.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from django.conf import settings

from registry.errors import RegistryError

LimitName = Literal["match", "write", "guess"]
LIMITED: Final[tuple[LimitName, ...]] = get_args(LimitName)
# Past these many callers the oldest windows are forgotten; a flood of addresses must not fill the memory.
SUBJECTS_MAX: Final = 20_000


class RateLimited(RegistryError):
    """Too many calls; `retry_after_seconds` says when the next one is taken."""

    code = "RATE_LIMITED"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(f"Too many calls; try again in {retry_after_seconds} seconds")
        self.retry_after_seconds = retry_after_seconds


@dataclass
class RateLimiter:
    """Counts by fixed windows: one counter a subject, begun anew when its window is over."""

    # How often each limit has refused since the process began.
    refused: Counter[str] = field(default_factory=Counter)
    _windows: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, name: LimitName, subject: str, *, count: int, seconds: float) -> None:
        """Count one call. Raises `RateLimited` where `count` calls were taken within the window."""
        now = time.monotonic()
        key = (name, subject)
        with self._lock:
            began, used = self._windows.get(key, (now, 0))
            if now - began >= seconds:
                began, used = now, 0
            if used >= count:
                self.refused[name] += 1
                raise RateLimited(max(1, int(began + seconds - now) + 1))
            self._make_room()
            self._windows[key] = (began, used + 1)

    def is_spent(self, name: LimitName, subject: str, *, count: int, seconds: float) -> bool:
        """Whether the next call would be refused; counts nothing."""
        began, used = self._windows.get((name, subject), (0.0, 0))
        return used >= count and time.monotonic() - began < seconds

    def _make_room(self) -> None:
        while len(self._windows) >= SUBJECTS_MAX:
            del self._windows[next(iter(self._windows))]

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._windows.clear()


LIMITER: Final = RateLimiter()


def spend(name: LimitName, subject: str) -> None:
    """Count one call against the limit of the setting RATE_LIMITS. Raises `RateLimited`."""
    rate = settings.RATE_LIMITS.get(name)
    if rate is not None:
        LIMITER.spend(name, subject, count=rate.count, seconds=rate.seconds)


def is_spent(name: LimitName, subject: str) -> bool:
    """Whether the next call would be refused."""
    rate = settings.RATE_LIMITS.get(name)
    return rate is not None and LIMITER.is_spent(name, subject, count=rate.count, seconds=rate.seconds)
