"""The history cannot be changed or deleted by accident, on either database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from registry.core import append_only, checkpoints
from registry.models import AuditEvent, Checkpoint, Release, Revision
from registry.operations.backup.tables import Model
from tests.factories import publish, tampering
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db
KEPT = (AuditEvent, Checkpoint, Release, Revision)


@pytest.fixture(autouse=True)
def history() -> None:
    publish()
    publish(body="Another.")
    checkpoints.make_checkpoint()


def _refused(change: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        change()


def test_every_table_refuses_to_delete() -> None:
    def check(model: Model) -> None:
        count = model._base_manager.count()
        assert count
        _refused(lambda: model._base_manager.all()._raw_delete("default"))
        assert model._base_manager.count() == count

    check_each(KEPT, check, name=lambda model: model.__name__)


def _other(value: Any) -> Any:
    return (
        value + 1 if isinstance(value, int) else {"x": "y"} if isinstance(value, dict) else f"{value or ''}"[:-1] + "~"
    )


def test_every_column_refuses_to_change() -> None:
    def check(cell: tuple[Model, str]) -> None:
        model, column = cell
        row = model._base_manager.values().first()
        assert row is not None
        value = row[column].replace(year=2001) if hasattr(row[column], "year") else _other(row[column])
        found = model._base_manager.filter(pk=model._base_manager.order_by("pk").values("pk")[:1])
        _refused(lambda: found.update(**{column: value}))

    free = {(Revision, "rules_version"), (Revision, "simhash")}
    cells = [(model, field.attname) for model in KEPT for field in model._meta.concrete_fields]
    check_each([cell for cell in cells if cell not in free], check, name=lambda cell: f"{cell[0].__name__}.{cell[1]}")


def test_what_is_computed_again_can_change() -> None:
    assert Revision.objects.update(rules_version="other", simhash="0" * 16) == 2


def test_a_signature_is_added_once_and_then_stays() -> None:
    with tampering():
        Revision.objects.update(signature="", read_only_digest="")
    assert Revision.objects.update(signature="{}", read_only_digest="sha256:") == 2
    _refused(lambda: Revision.objects.update(signature=""))


@pytest.mark.postgres
def test_truncate_is_refused() -> None:
    def truncate() -> None:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE registry_auditevent CASCADE")

    _refused(truncate)
    with tampering():
        truncate()
    assert not AuditEvent.objects.exists()


def test_it_is_lifted_in_a_transaction_and_holds_again_after_it() -> None:
    with tampering():
        Release.objects.filter(pk=1).update(status="retired")
    assert append_only.find_missing_triggers() == ()
    _refused(lambda: Release.objects.all().delete())


def test_an_error_while_it_is_lifted_leaves_it_as_it_was() -> None:
    def fail() -> None:
        with tampering():
            Release.objects.filter(pk=1).delete()
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert Release.objects.count() == 2
    _refused(lambda: Release.objects.all().delete())


@pytest.mark.django_db(transaction=True)
def test_it_is_lifted_in_a_transaction_only() -> None:
    with pytest.raises(RuntimeError, match="inside of a transaction"), append_only.lift_append_only():
        pass


def test_a_trigger_that_is_missing_is_found_and_made_again() -> None:
    name, table = ("registry_release_no_change", "registry_release")
    if connection.vendor == "sqlite":
        name = "registry_release_no_update"
    with connection.cursor() as cursor:
        cursor.execute(f'DROP TRIGGER "{name}"' + (f' ON "{table}"' if connection.vendor == "postgresql" else ""))
    assert append_only.find_missing_triggers() == (name,)
    append_only.install_triggers()
    assert append_only.find_missing_triggers() == ()
    _refused(lambda: Release.objects.update(status="retired"))


def test_a_trigger_that_does_nothing_is_found() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "CREATE OR REPLACE FUNCTION registry_refuse_change() RETURNS trigger LANGUAGE plpgsql "
                "AS $$ BEGIN RETURN NEW; END $$"
            )
        else:
            cursor.execute('DROP TRIGGER "registry_release_no_update"')
            cursor.execute(
                'CREATE TRIGGER "registry_release_no_update" BEFORE UPDATE ON registry_release BEGIN SELECT 1; END'
            )
    assert append_only.find_missing_triggers()
    append_only.install_triggers()
    assert append_only.find_missing_triggers() == ()


def test_migrating_takes_them_away_first_and_puts_them_back() -> None:
    append_only.remove_triggers(plan=[])
    assert append_only.find_missing_triggers() == ()
    append_only.remove_triggers(plan=["one"])
    assert append_only.find_missing_triggers()
    append_only.install_triggers()
    assert append_only.find_missing_triggers() == ()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_migrating_locks_one_table_at_a_time() -> None:
    """With several, it and a version that is still serving could wait for each other."""
    locked = (
        "SELECT count(DISTINCT relation) FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL "
        "AND mode IN ('AccessExclusiveLock', 'ShareRowExclusiveLock') AND relation::regclass::text LIKE 'registry%%'"
    )
    held: list[int] = []

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if sql.startswith(("DROP TRIGGER", "CREATE TRIGGER")):
            with connection.cursor() as cursor:
                cursor.execute(locked, [])
                held.append(cursor.fetchone()[0])
        return result

    with connection.execute_wrapper(look):
        append_only.remove_triggers()
        append_only.install_triggers()
    assert len(held) > 10
    assert max(held) == 1
    assert append_only.find_missing_triggers() == ()
