"""One row at a time: reading it or refusing, and changing some of its columns."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import F, Manager, Model, QuerySet

Row = TypeVar("Row", bound=Model)


def get_row(found: QuerySet[Row], missing: Exception) -> Row:
    """The first of the rows. Raises `missing` where there is none."""
    row = found.first()
    if row is None:
        raise missing
    return row


def update_row(row: Model, **columns: Any) -> None:
    """Set these columns, and save no others."""
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=list(columns))


def add_count(rows: Manager[Any], count: int, **key: Any) -> None:
    """Add to the `count` of the row with this key, which is made where there is none."""
    row, is_new = rows.get_or_create(**key, defaults={"count": count})
    if not is_new:
        rows.filter(pk=row.pk).update(count=F("count") + count)
