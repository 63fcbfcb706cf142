"""`python -m tests.release_databases NAME FOLDER`: store the database of the code that is checked out, as SQL.

A release runs it once on each database, with `DATABASE_URL` and without: `test_migrations.py` migrates what it wrote.
"""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from django.db import models
from django.db.migrations.state import ProjectState

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


def store_rows(state: ProjectState) -> list[str]:
    """A row in each table that is empty, parents before children."""
    made: dict[type[models.Model], models.Model] = {}
    for model in state.apps.get_models(include_auto_created=True):
        _row_of(model, made)
    return sorted(model._meta.label for model in made)


def _row_of(model: type[models.Model], made: dict[type[models.Model], models.Model]) -> models.Model:
    if model not in made:
        known = model._base_manager.first()
        made[model] = known or model._base_manager.create(**_values(model, made))
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


def dump_database(vendor: str, name: str) -> str:
    """The schema and all rows as statements that a connection can run. PostgreSQL's needs `pg_dump` of its version."""
    if vendor == "sqlite":
        with closing(sqlite3.connect(name)) as database:
            return "\n".join(database.iterdump()) + "\n"
    command = ["pg_dump", "--no-owner", "--no-privileges", "--inserts", name]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines(keepends=True)
    # Commands of psql alone. An empty line may be one of a text.
    return "".join(line for line in lines if not line.startswith("\\"))


def store(name: str, folder: Path, fill: Callable[[], str]) -> None:
    """Migrate the empty database that the settings name, `fill` it, and write its statements below what that returns.

    On PostgreSQL the third argument of the command is the name of the database.
    """
    import django

    django.setup()

    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    head = fill()
    place = settings.DATABASES["default"]["NAME"] if connection.vendor == "sqlite" else sys.argv[3]
    text = head + dump_database(connection.vendor, str(place))
    (folder / f"{name}.{connection.vendor}.sql.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _fill() -> str:
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    loader = MigrationExecutor(connection).loader
    store_rows(loader.project_state(loader.graph.leaf_nodes()))
    return ""


if __name__ == "__main__":
    store(sys.argv[1], Path(sys.argv[2]), _fill)
