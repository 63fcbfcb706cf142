"""Processes of the version before read and write while a migration runs and after it: what they use stays, and what
they do not know has a value that the database gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.apps import apps
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import (
    AddField,
    AlterModelTable,
    DeleteModel,
    RemoveField,
    RenameField,
    RenameModel,
    SeparateDatabaseAndState,
)
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

# What was done in one step. What a table or column is used for ends in one version and it goes in a later one, which is
# then named here; a new column that code of the version before does not fill is nullable or has a `db_default`.
IN_ONE_STEP = {
    "registry.0021_incident_subject RenameField source": "in 0.3.0",
    "evaluations.0003_outside_results AddField settings": "in 0.3.0",
    "evaluations.0003_outside_results AddField tool": "in 0.3.0",
    "acceptances.0002_one_table_with_a_kind DeleteModel Waiver": "0.3.0 refuses to publish meanwhile, and reads on",
    "registry.0027_held_passages_are_a_part DeleteModel HeldPassage": "as the one before",
    "oauth.0002_external_person AddField person": "the table was in no version",
}


def _of_the_database(operations: Iterable[Operation]) -> Iterator[Operation]:
    for operation in operations:
        if isinstance(operation, SeparateDatabaseAndState):
            yield from _of_the_database(operation.database_operations)
        else:
            yield operation


def _is_in_one_step(operation: Operation) -> bool:
    if isinstance(operation, AddField):
        field = operation.field
        return not (field.null or field.many_to_many or field.db_default is not NOT_PROVIDED)
    return isinstance(operation, RemoveField | DeleteModel | RenameField | RenameModel | AlterModelTable)


def _name(operation: Operation) -> str:
    return str(getattr(operation, "old_name", None) or getattr(operation, "name", ""))


def test_a_migration_leaves_what_the_version_before_uses() -> None:
    loader = MigrationLoader(None)
    ours = {config.label for config in apps.get_app_configs() if config.name.startswith(("registry", "features"))}
    found = [
        f"{app}.{name} {type(operation).__name__} {_name(operation)}"
        for (app, name), migration in loader.disk_migrations.items()
        if app in ours
        for operation in _of_the_database(migration.operations)
        if _is_in_one_step(operation)
    ]
    assert {"registry", "acceptances"} <= ours
    assert sorted(found) == sorted(IN_ONE_STEP)
