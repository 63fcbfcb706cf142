"""Put a registry back from a backup: all of it in one transaction, or nothing."""

# ruff: noqa: SLF001 (Django's name for what a model declares is _meta)

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from django.core.management.color import no_style
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django.utils.module_loading import import_string

from registry.catalog.integrity import find_damaged_revisions
from registry.common.actors import Actor
from registry.common.errors import BackupRefused, BackupUnreadable
from registry.common.installation import PROGRAM
from registry.core import audit
from registry.core.append_only import lift_append_only
from registry.core.checkpoints import adopt, find_hash, read_last_checkpoint
from registry.core.kept_checkpoint import KeptCheckpoint, read_kept_if_sound
from registry.core.rows import update_row
from registry.core.transactions import bump_access_revision, write_transaction
from registry.feature import absent_features, former_tables, installed_feature_names
from registry.models import (
    Capability,
    Job,
    LoadCount,
    Operator,
    RegistryState,
    Release,
    Revision,
    UnknownCapabilityRequest,
)
from registry.operations.backup.archive import Manifest, TableEntry, check_archive, open_archive, read_table
from registry.operations.backup.tables import (
    Model,
    backed_up_models,
    find_model,
    known_migrations,
    parse_row,
    read_stored,
    table_name,
    truncated_models,
)
from registry.operations.rights.comparison import find_unrecorded
from registry.usage.revision_health import recount_ends

# Where each restore begins to count: past every number that a client may have seen before it.
EPOCH_REVISION_GAP: Final = 1_000_000
_ROWS_AT_ONCE: Final = 500
_BYTES_AT_ONCE: Final = 4 * 1024 * 1024
# Rows of these come by themselves in an unused registry.
_COME_BY_THEMSELVES: Final = (RegistryState, Job, LoadCount, UnknownCapabilityRequest)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What was put back. `damaged` names revisions that were damaged when the backup was made, `audit_broken_at` the
    first row of the audit log that was; what they were is what they are. `unrecorded` names people and keys that the
    audit log does not account for: somebody may have added them to the file. `forgotten` is the checkpoint that this
    host had kept, where the backup does not have it: agents that have seen it refuse the registry.
    """

    manifest: Manifest
    registry_revision: int
    damaged: tuple[str, ...]
    audit_broken_at: int | None
    unrecorded: tuple[str, ...] = ()
    forgotten: KeptCheckpoint | None = None

    @property
    def is_sound(self) -> bool:
        return not self.damaged and self.audit_broken_at is None and not self.unrecorded


def restore_backup(*, path: Path, by: Actor, force: bool = False) -> RestoreResult:
    """Put everything back from the file; with `force` in the place of what is there. Running processes notice.

    Raises `BackupUnreadable` for a file that is not a backup, damaged or newer than this code; `BackupRefused` where
    the database is not empty, not migrated, or does not take the rows. Nothing has changed then.
    """
    manifest = check_archive(path)
    _require_known(manifest)
    _require_migrated()
    try:
        with open_archive(path) as (archive, _), transaction.atomic():
            done = _restore(archive, manifest, by=by, force=force)
    except DatabaseError as error:
        raise BackupRefused(f"The database does not take the backup, and nothing has changed: {error}") from error
    return replace(done, forgotten=_adopt_checkpoint())


def _adopt_checkpoint() -> KeptCheckpoint | None:
    """A restore is a rollback that was meant: what is kept from now on is the backup's last checkpoint."""
    kept = read_kept_if_sound()
    is_there = kept is not None and find_hash(kept.number) == kept.hash
    adopt(read_last_checkpoint())
    return None if is_there else kept


def _require_known(manifest: Manifest) -> None:
    names = {_app_of(name) for name in manifest.migrations}
    # Tables that were of the core in an older version say it by themselves.
    tables = {table.name for table in manifest.tables}
    absent = [
        feature.name
        for feature in absent_features()
        if feature.name in names or any(table.rpartition("_")[2] in tables for table in feature.rows_kept)
    ]
    if absent:
        raise BackupUnreadable(
            f"The backup has tables of the feature '{absent[0]}', and FEATURES is without it: "
            f"add {absent[0]} to FEATURES"
        )
    # Of a name that none of ours has, such as that of a feature before it was renamed, the tables say more.
    ours = {"registry", *installed_feature_names()}
    known_here = known_migrations()
    newer = [name for name in manifest.migrations if name not in known_here and _app_of(name) in ours]
    if newer:
        raise BackupUnreadable(
            f"The backup was made by a newer version (migration {newer[-1]}): restore it with that one"
        )
    known = {table_name(model) for model in backed_up_models()} | former_tables().keys()
    unknown = sorted(tables - known)
    if unknown:
        raise BackupUnreadable(f"This version keeps no '{unknown[0]}'")


def _app_of(migration: str) -> str:
    app, dot, _ = migration.partition(".")
    return app if dot else "registry"


def _require_migrated() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise BackupRefused(f"The database is not migrated. Run: {PROGRAM} manage migrate")


def _restore(archive: zipfile.ZipFile, manifest: Manifest, *, by: Actor, force: bool) -> RestoreResult:
    _lock_others_out()
    with write_transaction() as state:
        if not force and not _is_empty():
            raise BackupRefused("The registry is not empty. --force puts the backup in the place of all that is there")
        before = (state.registry_revision, state.access_revision)
        with lift_append_only():
            for model in truncated_models():
                model._base_manager.all()._raw_delete("default")
        _fill_all(archive, manifest)
        connection.check_constraints()
        _reset_sequences()
        recount_ends()
        damaged, broken = find_damaged_revisions(), audit.find_chain_break()
        unrecorded = find_unrecorded(read_stored)
        _begin_epoch(state, before)
        detail: dict[str, Any] = {
            "backup_created_at": manifest.created_at,
            "registry_revision": state.registry_revision,
            "admins": sorted(Operator.objects.filter(role="admin", is_active=True).values_list("username", flat=True)),
        }
        if unrecorded:
            detail["unrecorded"] = list(unrecorded)[:100]
        audit.record(by=by, verb="registry.restore", subject="registry", detail=detail)
    return RestoreResult(manifest, state.registry_revision, damaged, broken.pk if broken else None, unrecorded)


def _lock_others_out() -> None:
    """On SQLite the transaction does that. Readers read on, from what was there before."""
    if connection.vendor != "postgresql":
        return
    # The counters' table first, as every writer does: so no deadlock is possible.
    locked: list[Model] = [RegistryState, *truncated_models()]
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in locked)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(f"LOCK TABLE {tables} IN EXCLUSIVE MODE")


def _is_empty() -> bool:
    return not any(model._base_manager.exists() for model in backed_up_models() if model not in _COME_BY_THEMSELVES)


def _fill_all(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Former tables last: their rows may name others, and those that get another number come after all that keep it."""
    former = former_tables()
    order = ["", *former]
    for table in sorted(manifest.tables, key=lambda table: order.index(table.name) if table.name in former else 0):
        if table.name in former:
            _fill(archive, table, import_string(former[table.name]))
            _reset_sequences()
        else:
            _fill(archive, table, partial(parse_row, find_model(table.name)))


def _fill(archive: zipfile.ZipFile, table: TableEntry, parse: Callable[[dict[str, Any]], models.Model]) -> None:
    """Insert a table's rows, a bounded number of bytes at a time."""
    waiting: list[models.Model] = []
    size = 0
    for columns, length in read_table(archive, table):
        waiting.append(parse(columns))
        size += length
        if len(waiting) >= _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
            _insert(waiting)
            waiting, size = [], 0
    _insert(waiting)


def _insert(rows: Sequence[models.Model]) -> None:
    if rows and not isinstance(rows[0], RegistryState):
        type(rows[0])._base_manager.bulk_create(rows)
        return
    for row in rows:
        row.save(force_update=True)


def _reset_sequences() -> None:
    """The rows came with their keys; the next one must not get a key that is taken."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), backed_up_models()):
            cursor.execute(statement)


def _begin_epoch(state: RegistryState, before: tuple[int, int]) -> None:
    """Continue from numbers never used before, and release everything again.

    Clients may have seen numbers past the backup's, and those will come again with another meaning. So the counter
    goes on at the next million, and each capability is released again: clients that ask for changes get all of them.
    """
    state.refresh_from_db()
    highest = max(state.registry_revision, before[0])
    base = (highest // EPOCH_REVISION_GAP + 1) * EPOCH_REVISION_GAP
    number = base
    for number, (capability, revision) in enumerate(_released(), start=base + 1):
        Release.objects.create(
            registry_revision=number,
            capability=capability,
            revision=revision,
            status=capability.status,
            replaced_by=capability.replaced_by.capability_id if capability.replaced_by else "",
            visibility=capability.visibility,
            at=timezone.now(),
        )
    access_revision = max(state.access_revision, before[1])
    update_row(state, registry_revision=number, access_revision=access_revision, epoch=uuid4().hex)
    bump_access_revision(state)


def _released() -> Iterator[tuple[Capability, Revision]]:
    """Whatever readers have ever seen, without the texts."""
    found = Capability.objects.select_related("published_revision", "replaced_by").order_by("capability_id")
    light = found.defer(*(f"published_revision__{column}" for column in Revision.COLUMNS.values()))
    for capability in light:
        if capability.published_revision is not None:
            yield capability, capability.published_revision
