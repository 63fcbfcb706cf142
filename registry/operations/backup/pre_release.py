"""Backups made by a development version before 0.1.0: their table and column names, and today's (pre_release.toml).

0.1.0 starts with one migration, so that no database is carried over in place. `backup create` of the last development
version and `backup restore` of this one carry everything (docs/operate.md, "Upgrade from before 0.1.0").
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

_NAMES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
MIGRATIONS: Final = frozenset(_NAMES["migrations"])
LAST_MIGRATION: Final[str] = _NAMES["migrations"][-1]


def is_pre_release(migrations: Iterable[str]) -> bool:
    """Whether these migrations are those of a development version before 0.1.0."""
    return not MIGRATIONS.isdisjoint(migrations)


def current_table(name: str) -> str:
    """Today's name of a table in such a file."""
    return str(_NAMES["tables"].get(name, name))


def current_columns(table: str, columns: dict[str, Any]) -> dict[str, Any]:
    """A row of such a file by today's column names; `table` is today's."""
    renamed = _NAMES["columns"].get(table, {})
    named = ((renamed.get(column, column), value) for column, value in columns.items())
    return {column: value for column, value in named if column}


def is_pre_release_database() -> bool:
    """Whether a development version before 0.1.0 created the tables of this database."""
    return is_pre_release(name for app, name in MigrationRecorder(connection).applied_migrations() if app == "registry")
