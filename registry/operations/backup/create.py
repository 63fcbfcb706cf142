"""Write a backup while the registry works on: everything in it was true at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection, transaction

from registry.catalog.integrity import find_damaged_revisions
from registry.common.errors import BackupRefused
from registry.core.transactions import get_registry_revision
from registry.operations.backup.archive import Manifest, create_archive, write_manifest, write_table
from registry.operations.backup.tables import backed_up_models, iterate_rows, known_migrations, table_name


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A backup that was written. `damaged` names revisions whose texts are not those that were published: so they are
    in the file."""

    path: Path
    manifest: Manifest
    damaged: tuple[str, ...]


def create_backup(*, to: Path) -> BackupResult:
    """Write the whole registry into a new file, readable by its owner alone; in a folder it gets a name by the time.

    Writers are not kept waiting. Raises `BackupRefused` where the file exists or cannot be written.
    """
    now = datetime.now(UTC)
    path = to / f"capability-studio-{now:%Y%m%dT%H%M%SZ}.zip" if to.is_dir() else to
    try:
        with one_moment(), create_archive(path) as archive:
            revision = get_registry_revision()
            tables = tuple(write_table(archive, table_name(model), iterate_rows(model)) for model in backed_up_models())
            manifest = Manifest(now.isoformat(), connection.vendor, revision, tuple(known_migrations()), tables)
            write_manifest(archive, manifest)
            damaged = find_damaged_revisions()
    except OSError as error:
        raise BackupRefused(f"The backup cannot be written: {error}") from error
    return BackupResult(path, manifest, damaged)


@contextmanager
def one_moment() -> Iterator[None]:
    """A transaction in which every read sees the same state, and that locks no one out; the caller's own where it is
    in one."""
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = 0")
            yield
        return
    # Django's own transactions are exclusive here (BEGIN IMMEDIATE): every writer would wait for the whole backup.
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
