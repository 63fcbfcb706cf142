"""Triggers that refuse to change or delete the history: audit log, checkpoints, releases, and what revisions contain.

They stop mistakes, and whatever reaches the database through this code. Anyone who owns the tables can remove them;
`registry verify` then says so, and signatures show what was changed. `migrate` installs them after its last migration
and takes them away before its first: on SQLite a migration may make a table again, which drops its triggers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Model

from registry.models import AuditEvent, Checkpoint, Release, Revision

_FUNCTION: Final = "registry_refuse_change"
_LIFT: Final = "capability_studio.history"
# Of a revision: what later versions of this code compute again.
_FREE: Final = ("rules_version", "simhash")
# What is set once, on rows from before the column was there.
_ONCE: Final = ("signature", "read_only_digest")
_WHOLE: Final = (AuditEvent, Checkpoint, Release)


def _table(model: type[Model]) -> str:
    return model._meta.db_table  # noqa: SLF001 (Django's name for what a model declares)


def _sqlite_triggers() -> dict[str, str]:
    """`{name: the statement that makes it}`."""
    found = {}
    for model in (*_WHOLE, Revision):
        table = _table(model)
        refuse = f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        when = f" WHEN {_sqlite_change()}" if model is Revision else ""
        for verb in ("DELETE", "UPDATE"):
            name = f"{table}_no_{verb.lower()}"
            found[name] = (
                f'CREATE TRIGGER "{name}" BEFORE {verb} ON "{table}"{when if verb == "UPDATE" else ""} {refuse}'
            )
    return found


def _sqlite_change() -> str:
    columns = [field.column for field in Revision._meta.concrete_fields]  # noqa: SLF001 (as above)
    held = [f'OLD."{name}" IS NOT NEW."{name}"' for name in columns if name not in (*_FREE, *_ONCE)]
    once = [f'(OLD."{name}" <> \'\' AND OLD."{name}" IS NOT NEW."{name}")' for name in _ONCE]
    return "(" + " OR ".join([*held, *once]) + ")"


def _postgresql_body() -> str:
    free = ", ".join(f"'{name}'" for name in (*_FREE, *_ONCE))
    once = " AND ".join(
        f"(to_jsonb(OLD)->>'{name}' = '' OR to_jsonb(OLD)->>'{name}' = to_jsonb(NEW)->>'{name}')" for name in _ONCE
    )
    return f"""
BEGIN
  IF current_setting('{_LIFT}', true) = 'lifted' THEN
    IF TG_OP = 'UPDATE' THEN RETURN NEW; END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NULL;
  END IF;
  IF TG_TABLE_NAME = '{_table(Revision)}' AND TG_OP = 'UPDATE' THEN
    IF to_jsonb(NEW) - ARRAY[{free}] = to_jsonb(OLD) - ARRAY[{free}] AND {once} THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
"""


def _postgresql_triggers() -> dict[str, str]:
    found = {}
    for table in map(_table, (*_WHOLE, Revision)):
        head = f'CREATE TRIGGER "{table}_no_change" BEFORE UPDATE OR DELETE ON "{table}" FOR EACH ROW'
        found[f"{table}_no_change"] = f"{head} EXECUTE FUNCTION {_FUNCTION}()"
        head = f'CREATE TRIGGER "{table}_no_truncate" BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT'
        found[f"{table}_no_truncate"] = f"{head} EXECUTE FUNCTION {_FUNCTION}()"
    return found


def _triggers() -> dict[str, str]:
    return _postgresql_triggers() if connection.vendor == "postgresql" else _sqlite_triggers()


def find_missing_triggers() -> tuple[str, ...]:
    """The names of triggers that are not there as `install_triggers` makes them, in order."""
    if connection.vendor == "postgresql":
        there = _read(
            "SELECT tgname, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
            "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgrelid::regclass::text = ANY(%s)",
            [[_table(model) for model in (*_WHOLE, Revision)]],
        )
        return tuple(sorted(name for name in _triggers() if there.get(name) != _postgresql_body()))
    there = _read("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    return tuple(sorted(name for name, statement in _triggers().items() if there.get(name) != statement))


def _read(query: str, parameters: list[Any] | None = None) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return dict(cursor.fetchall())


def install_triggers(**_: Any) -> None:
    """Make those that are missing or other than they should be. Also the receiver of `post_migrate`."""
    missing = find_missing_triggers()
    # A database that was migrated to before all of these tables: the way on to the newest migration comes by here.
    if not missing or _table(Checkpoint) not in connection.introspection.table_names():
        return
    if connection.vendor == "postgresql":
        body = f"$body${_postgresql_body()}$body$"
        _execute_together(f"CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS {body}")
    for name in missing:
        _execute_together(_drop(name), _triggers()[name])


def remove_triggers(*, plan: Any = True, **_: Any) -> None:
    """Take all of them away. Also the receiver of `pre_migrate`: nothing happens where there is nothing to migrate."""
    tables = connection.introspection.table_names()
    if plan:
        for name in _triggers():
            if name.rpartition("_no_")[0] in tables:
                _execute_together(_drop(name))


def _execute_together(*statements: str) -> None:
    """In a transaction that locks one table: with several, a version that is still serving could wait for one of them
    while this waits for it, and PostgreSQL would end either."""
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _drop(name: str) -> str:
    on = f' ON "{name.rpartition("_no_")[0]}"' if connection.vendor == "postgresql" else ""
    return f'DROP TRIGGER IF EXISTS "{name}"{on}'


@contextmanager
def lift_append_only() -> Iterator[None]:
    """Within it, in this transaction alone, the history may be replaced: for a restore. Raises RuntimeError outside
    of a transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("append-only tables are lifted inside of a transaction only")
    with transaction.atomic():
        if connection.vendor == "postgresql":
            _set_lift("lifted")
            yield
            _set_lift("")
            return
        # A trigger of SQLite cannot see who asks. Its transaction is exclusive, and statements on the schema are part
        # of it: no one else sees the tables without triggers.
        remove_triggers()
        yield
        install_triggers()


def _set_lift(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [_LIFT, value])
