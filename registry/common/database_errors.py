"""The database cannot be used: why, as the driver's own codes and the disk say, and what a caller and an operator do.

Reads and writes that fail are noticed here, so that a probe can say what is wrong without trying it each time.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import Error, connection

from registry.common import caches
from registry.common.installation import PROGRAM


@dataclass(frozen=True, slots=True)
class DatabaseOutage:
    """`state` is a word for probes, `title` and `words` are sentences for callers, `fix` is one for the operator."""

    state: str
    title: str
    words: str
    fix: str = ""

    def sentences(self, error: BaseException | None = None) -> str:
        """All of it for a terminal or a log, with the driver's own words."""
        cause = f" ({str(error).strip()})" if error is not None and str(error).strip() else ""
        return f"{self.words}{cause}. {self.fix}".strip()


AWAY: Final = DatabaseOutage(
    "away",
    "The database cannot be reached",
    "The registry's database cannot be reached; try again in a few seconds",
)
BUSY: Final = DatabaseOutage(
    "busy",
    "The registry is busy",
    "The registry is busy: another write took too long. Nothing was changed; try again in a few seconds",
)
FULL: Final = DatabaseOutage(
    "full",
    "The disk is full",
    "The disk is full: nothing was changed, and nothing can be written until the operator of this registry makes room",
    "Fix: make room on the disk that the database is on.",
)
DAMAGED: Final = DatabaseOutage(
    "damaged",
    "The database file is damaged",
    "The database file is damaged: the operator of this registry must restore a backup with `manage.py backup restore`",
    f"Fix: stop everything, move the damaged file and those beside it (-wal, -shm) away, then run {PROGRAM} manage "
    f"migrate and {PROGRAM} manage backup restore FILE (docs/operate.md).",
)
READ_ONLY: Final = DatabaseOutage(
    "read-only",
    "The database is read-only",
    "The database is read-only: nothing was changed, and nothing can be written until its operator allows it",
    "Fix: give this user the right to write the database and its directory, on a disk that is mounted writable; "
    "PostgreSQL: connect to the primary.",
)
# These do not pass by themselves.
PERSISTENT_OUTAGES: Final = frozenset({FULL, DAMAGED, READ_ONLY})
# What a write-ahead log takes before it is folded back; with less, the next write may find no room.
FREE_BYTES_MIN: Final = 4 * 1024 * 1024

_SQLITE: Final = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_READONLY: READ_ONLY,
}
# The file system refused, and SQLite does not report why.
_SQLITE_OF_THE_DISK: Final = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_SQLSTATES: Final = {
    # A wait for a lock, and a statement, that the server has ended.
    "55P03": BUSY,
    "57014": BUSY,
    "53100": FULL,
    "XX001": DAMAGED,
    "XX002": DAMAGED,
    "25006": READ_ONLY,
}
_ERRNOS: Final = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: READ_ONLY}


def is_database_error(error: BaseException | None) -> bool:
    """Whether the database raised it: in Django's words, or in the driver's, where Django did not translate them."""
    of_driver: type[Exception] = connection.Database.Error  # type: ignore[attr-defined] # each backend has it
    return isinstance(error, Error | of_driver)


def classify_error(error: BaseException) -> DatabaseOutage:
    """What a failure of the database, its driver or its disk comes to."""
    cause = error.__cause__ if isinstance(error, Error) else error
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(getattr(cause, "sqlite_errorcode", 0))
    if isinstance(cause, OSError):
        return _ERRNOS.get(cause.errno or 0, AWAY)
    return _SQLSTATES.get(getattr(cause, "sqlstate", None) or "", AWAY)


def _of_sqlite(code: int) -> DatabaseOutage:
    # The extended codes, such as SQLITE_BUSY_SNAPSHOT, have theirs in the lowest byte.
    primary = code & 0xFF
    if primary in _SQLITE_OF_THE_DISK:
        return find_disk_outage() or AWAY
    return _SQLITE.get(primary, AWAY)


def find_disk_outage() -> DatabaseOutage | None:
    """Whether the disk that holds an SQLite database is full or read-only; None where it is neither, or not ours."""
    if connection.vendor != "sqlite" or not hasattr(os, "statvfs"):
        return None
    try:
        found = os.statvfs(Path(settings.DATA_DIR))
    except OSError:
        return None
    if found.f_flag & os.ST_RDONLY:
        return READ_ONLY
    return FULL if found.f_bavail * found.f_frsize < FREE_BYTES_MIN else None


@dataclass
class KnownOutages:
    """One a process: what the last write that failed came to, until one succeeds; damage, until the process ends."""

    unwritable: DatabaseOutage | None = None
    is_damaged: bool = False

    def forget(self) -> None:
        """As in a new process."""
        self.unwritable, self.is_damaged = None, False


KNOWN_OUTAGES: Final = KnownOutages()
caches.register(KNOWN_OUTAGES.forget)


def record_outage(error: BaseException) -> DatabaseOutage:
    """As `classify_error`, and kept for `find_storage_outage` where it lasts."""
    outage = classify_error(error)
    if outage is DAMAGED:
        KNOWN_OUTAGES.is_damaged = True
    elif outage in PERSISTENT_OUTAGES:
        KNOWN_OUTAGES.unwritable = outage
    return outage


def record_write() -> None:
    """A write was committed: what kept others from it is over."""
    KNOWN_OUTAGES.unwritable = None
