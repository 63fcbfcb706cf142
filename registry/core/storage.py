"""Can the registry be read and written now? For probes, and for whatever starts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import F

from capability_rules.errors import RegistryUnavailable
from registry.common.database_errors import (
    DAMAGED,
    KNOWN_OUTAGES,
    READ_ONLY,
    DatabaseOutage,
    find_disk_outage,
    record_outage,
)
from registry.core.transactions import try_write_transaction
from registry.models import RegistryState


@contextmanager
def require_database() -> Iterator[None]:
    """For reads without which there is no response. Raises `RegistryUnavailable` where the database fails."""
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(record_outage(error).words) from error


def find_storage_outage() -> DatabaseOutage | None:
    """Why the database cannot be read or written; None where it can.

    Reads little, and writes only after a write has failed: then it tries one, so that no other caller has to.
    """
    if KNOWN_OUTAGES.is_damaged:
        return DAMAGED
    try:
        return find_disk_outage() or _read() or _write_again()
    except (DatabaseError, InterfaceError, sqlite3.Error) as error:
        connection.close()
        return record_outage(error)


def _read() -> DatabaseOutage | None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SHOW transaction_read_only")
            return READ_ONLY if cursor.fetchone() == ("on",) else None
        cursor.execute("SELECT 1")
    path = Path(connection.settings_dict["NAME"])
    if path.exists():
        # By a connection of its own: one that is open has the file's header in memory. Not by reading the file, which
        # would take SQLite's locks from this process when it is closed.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    return None


def _write_again() -> DatabaseOutage | None:
    if KNOWN_OUTAGES.unwritable is not None:
        with try_write_transaction():
            RegistryState.objects.filter(id=1).update(registry_revision=F("registry_revision"))
    return None
