"""Sessions in Redis, for processes of several computers: copy it, and pass `redis.Redis(decode_responses=True)`.

A lock is a lease: a process that dies gives it back when the time is over, so that it must be longer than a turn.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from capability_client import SessionLocked

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
WRITE = """if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[2], ARGV[2])
return 1"""


class Redis(Protocol):
    """What is used of a `redis.Redis`."""

    def set(self, name: str, value: str, *, nx: bool, px: int) -> object:
        """Set a value."""

    def get(self, name: str) -> str | None:
        """A value."""

    def eval(self, script: str, count: int, *given: str) -> object:
        """Run a script."""


class RedisSessions:
    """A `SessionStore`."""

    def __init__(self, redis: Redis, *, prefix: str = "agent:session:", lease_seconds: float = 300) -> None:
        self._redis = redis
        self._prefix = prefix
        self._lease_milliseconds = int(lease_seconds * 1000)
        self._tokens: dict[str, str] = {}

    @contextmanager
    def lock(self, session_id: str) -> Generator[None, None, None]:
        """Hold the lease of a session."""
        token, name = secrets.token_hex(8), f"{self._prefix}{session_id}:lock"
        if not self._redis.set(name, token, nx=True, px=self._lease_milliseconds):
            raise SessionLocked(session_id)
        self._tokens[session_id] = token
        try:
            yield
        finally:
            self._redis.eval(RELEASE, 1, name, token)

    def read(self, session_id: str) -> str | None:
        """What was written last."""
        return self._redis.get(f"{self._prefix}{session_id}")

    def write(self, session_id: str, text: str) -> None:
        """Keep the text, where the lease has not gone to somebody else."""
        name, token = f"{self._prefix}{session_id}", self._tokens.get(session_id, "")
        if self._redis.eval(WRITE, 2, f"{name}:lock", name, token, text) != 1:
            raise SessionLocked(session_id)
