"""How long this process waits for PostgreSQL, and what it knows of whether waiting is of any use.

The server ends a statement or a wait for a lock that takes too long. A server that hangs, or a host that is gone, ends
nothing: for these the process that serves has a thread that polls every second (`registry.snapshot.watcher`). Once that
poll gets no response, no other thread waits for one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings

# What the server itself should have ended by then was lost on its way.
GRACE_SECONDS: Final = 5.0
# A process that was suspended in a transaction holds the lock of all writes.
IDLE_IN_TRANSACTION_SECONDS: Final = 60


class _Thread(threading.local):
    silence_seconds: float | None = None
    is_probe: bool = False


@dataclass
class CircuitBreaker:
    """One per process. `is_serving` is set where requests are served: commands and migrations may take their time."""

    is_serving: bool = False
    is_away: bool = False
    _thread: _Thread = field(default_factory=_Thread)

    def silence_seconds(self) -> float | None:
        """For how long this thread waits while nothing at all comes from the server; None for ever."""
        if self._thread.silence_seconds is not None:
            return self._thread.silence_seconds
        seconds = settings.DATABASE_STATEMENT_TIMEOUT_SECONDS
        return seconds + GRACE_SECONDS if self.is_serving and seconds else None

    def is_useless(self) -> bool:
        """Whether the server is known to be unreachable, and this is not the probing thread."""
        return self.is_away and not self._thread.is_probe

    @contextmanager
    def within(self, seconds: float, *, is_probe: bool = False) -> Iterator[None]:
        """While inside, this thread waits so long for a sign of the server."""
        before = (self._thread.silence_seconds, self._thread.is_probe)
        self._thread.silence_seconds, self._thread.is_probe = seconds, is_probe
        try:
            yield
        finally:
            self._thread.silence_seconds, self._thread.is_probe = before

    def server_options(self) -> str:
        """libpq's `options` for a new connection; empty where the operator wants none."""
        statement, lock = settings.DATABASE_STATEMENT_TIMEOUT_SECONDS, settings.DATABASE_LOCK_TIMEOUT_SECONDS
        if not statement and not lock:
            return ""
        seconds = {"idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_SECONDS}
        if self.is_serving:
            seconds |= {"statement_timeout": statement, "lock_timeout": lock}
        return " ".join(f"-c {name}={value * 1000}" for name, value in seconds.items())


CIRCUIT_BREAKER: Final = CircuitBreaker()
