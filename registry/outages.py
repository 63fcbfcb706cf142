"""The database is away, or somebody else is holding it: what is told to whoever has to wait."""

from __future__ import annotations

import sqlite3
from typing import Final

from django.db import DatabaseError, InterfaceError

AWAY: Final = "The registry's database cannot be reached; try again in a few seconds"
BUSY: Final = "The registry is busy: another write took too long. Nothing was changed; try again in a few seconds"
# A wait for a lock, and a statement, that the server has ended.
_CUT: Final = frozenset({"55P03", "57014"})


def is_busy(error: DatabaseError | InterfaceError) -> bool:
    """Whether the database is there and what was asked of it took too long."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.OperationalError):
        # The extended codes, such as SQLITE_BUSY_SNAPSHOT, have theirs in the lowest byte.
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(cause, "sqlstate", None) in _CUT


def words_for(error: DatabaseError | InterfaceError) -> str:
    """A sentence that a caller can act on."""
    return BUSY if is_busy(error) else AWAY
