"""Sessions in a table, for processes of several computers: copy it, and put your driver's connection in.

As it is for SQLite; for PostgreSQL write `%s` in the place of `?`. A lock is a lease: a process that dies gives it back
when the time is over, so that it must be longer than a turn.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager

from capability_client import SessionLocked

TABLE = """CREATE TABLE IF NOT EXISTS agent_session (
    session_id TEXT PRIMARY KEY, text TEXT, token TEXT NOT NULL, leased_until DOUBLE PRECISION NOT NULL
)"""
LEASE = """INSERT INTO agent_session (session_id, token, leased_until) VALUES (?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET token = excluded.token, leased_until = excluded.leased_until
WHERE agent_session.leased_until < ?"""
RELEASE = "UPDATE agent_session SET leased_until = 0 WHERE session_id = ? AND token = ?"
WRITE = "UPDATE agent_session SET text = ? WHERE session_id = ? AND token = ?"


class SqlSessions:
    """A `SessionStore`; `connect` gives a new connection."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        *,
        lease_seconds: float = 300,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._connect = connect
        self._lease_seconds = lease_seconds
        self._clock = clock
        self._tokens: dict[str, str] = {}
        self._change(TABLE)

    @contextmanager
    def lock(self, session_id: str) -> Generator[None, None, None]:
        """Hold the lease of a session."""
        token, now = secrets.token_hex(8), self._clock()
        if self._change(LEASE, session_id, token, now + self._lease_seconds, now) != 1:
            raise SessionLocked(session_id)
        self._tokens[session_id] = token
        try:
            yield
        finally:
            self._change(RELEASE, session_id, token)

    def read(self, session_id: str) -> str | None:
        """What was written last."""
        with closing(self._connect()) as connection:
            row = connection.execute("SELECT text FROM agent_session WHERE session_id = ?", (session_id,)).fetchone()
        return row[0] if row is not None else None

    def write(self, session_id: str, text: str) -> None:
        """Keep the text, where the lease has not gone to somebody else."""
        if self._change(WRITE, text, session_id, self._tokens.get(session_id, "")) != 1:
            raise SessionLocked(session_id)

    def _change(self, statement: str, *values: object) -> int:
        with closing(self._connect()) as connection, connection:
            return connection.execute(statement, values).rowcount
