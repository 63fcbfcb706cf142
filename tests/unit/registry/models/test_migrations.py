"""A database of an older release migrates in place: each row of each table is there afterwards, with its values."""

from __future__ import annotations

import gzip
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from registry.feature import installed_feature_names

ALIAS = "migrated"
# What each release's own code made, with a row in each table: `tests/release_databases.py` wrote them once.
RELEASES = Path(__file__).parent / "releases"
NAMES = ("42eca922", "0.2.0", "69368c53", "0.3.0")
# Tables whose rows are in that of acceptances now, with the columns that have another name there.
FORMER = {
    "registry_waiver": {"created_at": "accepted_at", "created_by": "accepted_by"},
    "registry_heldpassage": {"doubt": "message"},
}


@pytest.fixture
def empty_database(tmp_path: Any, db: None, django_db_blocker: Any) -> Iterator[Any]:
    """A database of its own, of the kind that the tests use, without a table."""
    database = {**connections.databases["default"]}
    is_sqlite = connection.vendor == "sqlite"
    name = str(tmp_path / "old.sqlite3") if is_sqlite else f"migrated_{uuid.uuid4().hex[:12]}"
    with django_db_blocker.unblock():
        if not is_sqlite:
            _run_outside(f'CREATE DATABASE "{name}"')
        connections.databases[ALIAS] = {**database, "NAME": name}
        try:
            yield connections[ALIAS]
        finally:
            connections[ALIAS].close()
            del connections[ALIAS]
            del connections.databases[ALIAS]
            if not is_sqlite:
                _run_outside(f'DROP DATABASE "{name}"')


def _run_outside(statement: str) -> None:
    """In no database and no transaction, as Django's own test runner does it."""
    with connection._nodb_cursor() as cursor:
        cursor.execute(statement)


def _load(database: Any, release: str) -> None:
    text = gzip.decompress((RELEASES / f"{release}.{database.vendor}.sql.gz").read_bytes()).decode()
    database.ensure_connection()
    if database.vendor == "sqlite":
        # Tables are in the order of their names, whichever refers to which.
        database.connection.executescript(f"PRAGMA foreign_keys = OFF;\n{text}")
    else:
        with database.cursor() as cursor:
            cursor.execute(text)
    # A dump leaves its own search path and constraints behind.
    database.close()


def _migrate(database: Any) -> None:
    executor = MigrationExecutor(database)
    executor.migrate(executor.loader.graph.leaf_nodes())
    # The graph is read again: nothing is left, and what was replaced counts as applied.
    executor = MigrationExecutor(database)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


def _rows(database: Any) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table of ours, in the order of their keys."""
    found = {}
    with database.cursor() as cursor:
        for table in _tables(database):
            cursor.execute(f'SELECT * FROM "{table}" ORDER BY 1')
            names = [column[0] for column in cursor.description]
            found[table] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return found


def _tables(database: Any) -> list[str]:
    ours = re.compile(f"({'|'.join(['registry', *installed_feature_names()])})_")
    return sorted(filter(ours.match, database.introspection.table_names()))


def _of_former(table: str, row: dict[str, Any], names: dict[int, str]) -> dict[str, Any]:
    """The row as it is kept now, the number of a held passage aside."""
    renamed = {FORMER[table].get(name, name): value for name, value in row.items()}
    if table == "registry_waiver":
        return renamed | {"kind": "waiver", "capability_id": names[row["capability_id"]]}
    del renamed["id"]
    return renamed | {"kind": "held_passage"}


def _assert_kept(before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]]) -> None:
    names = {row["id"]: row["capability_id"] for row in before["registry_capability"]}
    moved = [_of_former(table, row, names) for table in FORMER for row in before.get(table, [])]
    found = after["acceptances_acceptance"]
    assert [{name: now[name] for name in row} for row, now in zip(moved, found, strict=True)] == moved
    for table, rows in before.items():
        if table in FORMER:
            assert table not in after
            continue
        assert len(after[table]) == len(rows), table
        for row, now in zip(rows, after[table], strict=True):
            assert {name: now.get(name) for name in row} == row, table


@pytest.mark.django_db
@pytest.mark.parametrize("release", NAMES)
def test_each_row_of_an_older_database_is_there_after_migrating(release: str, empty_database: Any) -> None:
    _load(empty_database, release)
    before = _rows(empty_database)
    assert len(before) > 30
    assert all(before.values())
    _migrate(empty_database)
    _assert_kept(before, _rows(empty_database))
    empty_database.check_constraints()


@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.parametrize("reached", ["0010_held_passages", "0022_sources_are_a_feature", "0024_waivers_are_a_part"])
def test_a_database_half_way_through_replaced_migrations_goes_on(reached: str, empty_database: Any) -> None:
    """Of the features, whose tables the core's migrations made before, none has begun."""
    _load(empty_database, "42eca922")
    before = _rows(empty_database)
    MigrationExecutor(empty_database).migrate([("registry", reached)])
    _migrate(empty_database)
    _assert_kept(before, _rows(empty_database))


@pytest.mark.django_db
def test_an_upgraded_database_has_the_tables_of_a_new_one(empty_database: Any) -> None:
    """What replaces the migrations makes what they made: columns, indexes and constraints with their conditions."""
    _load(empty_database, "42eca922")
    _migrate(empty_database)
    assert _tables(empty_database) == _tables(connection)
    upgraded, new = _definitions(empty_database), _definitions(connection)
    for table, parts in new.items():
        assert upgraded[table] == parts, table


def _definitions(database: Any) -> dict[str, list[Any]]:
    """By table, what it consists of, in no order."""
    read = _sqlite_parts if database.vendor == "sqlite" else _postgresql_parts
    with database.cursor() as cursor:
        return {table: sorted(map(str, read(cursor, table))) for table in _tables(database)}


def _sqlite_parts(cursor: Any, table: str) -> Iterator[Any]:
    cursor.execute('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(%s)', [table])
    yield from cursor.fetchall()
    cursor.execute('SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(%s)', [table])
    yield from cursor.fetchall()
    cursor.execute("SELECT sql FROM sqlite_master WHERE tbl_name = %s AND type != 'trigger' AND sql != ''", [table])
    for (sql,) in cursor.fetchall():
        if sql.startswith("CREATE TABLE"):
            # Each is followed by another part, or by the end of the table.
            yield from re.findall(r'CONSTRAINT "\w+" CHECK .+?(?=, CONSTRAINT|, FOREIGN KEY|, "\w+" \w+|\)$)', sql)
        else:
            yield _without_generated_name(sql)


def _postgresql_parts(cursor: Any, table: str) -> Iterator[Any]:
    columns = "column_name, data_type, character_maximum_length, is_nullable, column_default, is_identity"
    cursor.execute(f"SELECT {columns} FROM information_schema.columns WHERE table_name = %s", [table])
    yield from cursor.fetchall()
    cursor.execute("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass", [table])
    yield from (_without_casts(words) for (words,) in cursor.fetchall())
    cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = %s", [table])
    yield from (_without_generated_name(_without_casts(words)) for (words,) in cursor.fetchall())


def _without_casts(sql: str) -> str:
    """What was restored from a dump has them at another place."""
    return re.sub(r"::(character varying|text)(\[\])?|[()]", "", sql)


def _without_generated_name(sql: str) -> str:
    """Names that Django makes have a digest of what a table was called when the index was made."""
    return re.sub(r"_[0-9a-f]{8}(_like|_uniq|_fk\w*)?\b", "", sql)


@pytest.mark.django_db
def test_a_database_of_a_newer_version_is_refused_with_the_fix() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("registry", "9999_of_tomorrow")
    # What was left out by FEATURES is no newer version.
    recorder.record_applied("left_out", "0001_initial")
    with pytest.raises(CommandError, match=r"registry\.9999_of_tomorrow.* restore a backup"):
        call_command("migrate", verbosity=0)
    recorder.record_unapplied("registry", "9999_of_tomorrow")
    call_command("migrate", verbosity=0)
