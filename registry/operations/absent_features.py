"""A registry that uses a feature does not start without it: leaving a feature out never drops what it decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from registry.feature import Feature, absent_features


def find_absent_features(alias: str = "default") -> list[str]:
    """A sentence with the fix for each feature that rows of the database need and the setting `FEATURES` has not."""
    connection = connections[alias]
    absent = absent_features()
    tables = set(connection.introspection.table_names()) if absent else set()
    return [
        f"There are {words}, and FEATURES is without '{feature.name}', which they need. "
        f"Fix: add {feature.name} to FEATURES; to leave it out, remove them first"
        for feature in absent
        for words in _kept_words(feature, tables, alias)
    ]


def _kept_words(feature: Feature, tables: set[str], alias: str) -> list[str]:
    return [words for table, words in feature.rows_kept.items() if table in tables and _has_rows(table, alias)]


def _has_rows(table: str, alias: str) -> bool:
    connection = connections[alias]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")  # noqa: S608 (a name of ours)
        return cursor.fetchone() is not None


@register(Tags.database)
def check_absent_features(*, databases: Sequence[str] | None = None, **_options: Any) -> list[CheckMessage]:
    """For `manage.py check --database default` and `migrate`."""
    return [
        Error(sentence, id="registry.E001") for alias in databases or () for sentence in find_absent_features(alias)
    ]
