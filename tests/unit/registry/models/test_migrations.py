"""A database of an older release migrates in place: each row of each table is there afterwards, with its values."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.apps.registry import Apps
from django.db import connection, connections, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState

from registry.feature import installed_feature_names

ALIAS = "migrated"
DIGEST = f"sha256:{'0' * 64}"
# What a constraint asks of a column, by model and column, or by column alone.
GIVEN: dict[str, Any] = {
    "digest": DIGEST,
    "content_digest": DIGEST,
    "files_digest": DIGEST,
    "fingerprint": DIGEST,
    "install_code": "SKILL-AAAA-BBBB-CCCC",
    "Webhook.secret": "whsec_secret",
    "Incident.kind": "release",
    "Confidence.percent": 50,
    "RegistryState.id": 1,
    "Release.status": "published",
    "GitSource.failures": 0,
}
# Columns that may be null, and are not in the row that is stored.
SET = {"Incident.capability"}
# Releases from which people upgrade, by the last migration that each has.
RELEASES = ["0006_waivers_and_scan_results"]


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


@pytest.mark.django_db
@pytest.mark.parametrize("release", RELEASES)
def test_each_row_of_an_older_database_is_there_after_migrating(release: str, empty_database: Any) -> None:
    executor = MigrationExecutor(empty_database)
    leaves = executor.loader.graph.leaf_nodes()
    others = [node for node in leaves if node[0] not in ("registry", *installed_feature_names())]
    old = executor.migrate([*others, ("registry", release)])
    stored = _store_rows(old)
    assert len(stored) > 30, "there are too few tables: are the models those of the release?"
    before = {label: _read(old.apps, label) for label in stored}
    assert all(before.values())

    executor = MigrationExecutor(empty_database)
    new = executor.migrate(executor.loader.graph.leaf_nodes())
    after = {label: _read(new.apps, _label_now(new.apps, label)) for label in stored}
    for label, rows in before.items():
        assert len(after[label]) == len(rows), label
        for row, now in zip(rows, after[label], strict=True):
            assert {name: now.get(name) for name in row} == row, label
    empty_database.check_constraints()


def _store_rows(state: ProjectState) -> list[str]:
    """A row in each table that is empty, parents before children."""
    made: dict[type[models.Model], models.Model] = {}
    for model in state.apps.get_models(include_auto_created=True):
        _row_of(model, made)
    return sorted(model._meta.label for model in made)


def _row_of(model: type[models.Model], made: dict[type[models.Model], models.Model]) -> models.Model:
    if model not in made:
        known = model._base_manager.using(ALIAS).first()
        made[model] = known or model._base_manager.using(ALIAS).create(**_values(model, made))
    return made[model]


def _values(model: type[models.Model], made: dict[type[models.Model], models.Model]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        given = next((GIVEN[key] for key in (f"{model.__name__}.{field.name}", field.name) if key in GIVEN), field)
        if given is not field:
            # A digest is longer where its kind is written before it.
            values[field.name] = given[: field.max_length] if isinstance(given, str) else given
        elif isinstance(field, models.AutoField):
            continue
        elif field.null and f"{model.__name__}.{field.name}" not in SET:
            values[field.name] = None
        elif field.blank and isinstance(field, models.CharField | models.TextField) and not field.primary_key:
            values[field.name] = ""
        elif field.is_relation:
            values[field.name] = _row_of(field.related_model, made)  # type: ignore[arg-type]
        else:
            values[field.name] = _value(field)
    return values


def _value(field: models.Field[Any, Any]) -> Any:
    """Something other than the default, as long as the field takes it."""
    if field.choices:
        return field.choices[0][0]
    kinds: list[tuple[type[models.Field[Any, Any]], Any]] = [
        (models.BooleanField, True),
        (models.DateTimeField, datetime(2026, 11, 26, 4, 0, tzinfo=UTC)),
        (models.DateField, date(2026, 11, 26)),
        (models.UUIDField, uuid.UUID(int=7)),
        (models.BinaryField, b"bytes"),
        (models.JSONField, {"a": [1, "b"]}),
        (models.FloatField, 0.5),
        (models.GenericIPAddressField, "127.0.0.1"),
        (models.IntegerField, 3),
        (models.CharField, f"{field.name}-ü"[: field.max_length or 40]),
        (models.TextField, f"{field.name}: text ü\n"),
    ]
    found = next((value for kind, value in kinds if isinstance(field, kind)), None)
    assert found is not None, f"no value is known for a {type(field).__name__}"
    return found


def _label_now(apps: Apps, label: str) -> str:
    """A table of the core may have become one of a feature."""
    name = label.partition(".")[2]
    labels = {model._meta.label for model in apps.get_models(include_auto_created=True) if model.__name__ == name}
    return label if label in labels else labels.pop()


def _read(apps: Apps, label: str) -> list[dict[str, Any]]:
    model = apps.get_model(label)
    rows = list(model._base_manager.using(ALIAS).order_by("pk").values())
    return [
        {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()} for row in rows
    ]
