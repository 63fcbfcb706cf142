"""Password hashers that work one at a time: a hash takes tens of milliseconds of a core and 100 MB of memory, and
anyone who finds the sign-in page may ask for one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

from registry.common.rate_limits import RATE_LIMITER, RateLimited

# Past this, those who wait are refused too: a queue of few never takes so long.
WAIT_SECONDS_MAX: Final = 10.0
_RETRY_AFTER_SECONDS: Final = 2


class TurnQueue:
    """One caller at a time, and a few who wait: the rest is refused at once, so that threads stay free for agents."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._count_lock = threading.Lock()
        # How many have the turn or wait for it.
        self.present = 0

    @contextmanager
    def turn(self, *, waiting_max: int) -> Iterator[None]:
        """Wait for a turn. Raises `RateLimited` where `waiting_max` others wait for theirs."""
        with self._count_lock:
            if self.present > waiting_max:
                raise _refusal()
            self.present += 1
        try:
            if not self._turn.acquire(timeout=WAIT_SECONDS_MAX):
                raise _refusal()
            try:
                yield
            finally:
                self._turn.release()
        finally:
            with self._count_lock:
                self.present -= 1


def _refusal() -> RateLimited:
    RATE_LIMITER.refused["guess"] += 1
    return RateLimited(_RETRY_AFTER_SECONDS)


_QUEUE: Final = TurnQueue()


def waiting_max() -> int:
    """How many may wait for a turn: with the one that has it, half of a process' threads."""
    return max(1, settings.WEB_THREADS // 2 - 1)


class QueuedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id as Django configures it. Both directions wait: the password of an unknown name is hashed too, so that
    it takes as long."""

    def encode(self, password: str, salt: str) -> str:
        with _QUEUE.turn(waiting_max=waiting_max()):
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _QUEUE.turn(waiting_max=waiting_max()):
            return super().verify(password, encoded)


class QueuedPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """Reads hashes of before. Its `verify` calls `encode`, which waits for its turn."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with _QUEUE.turn(waiting_max=waiting_max()):
            return super().encode(password, salt, iterations)
