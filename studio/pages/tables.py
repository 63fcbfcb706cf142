"""Heads of tables that can be sorted by a link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.http import QueryDict
from django.utils.functional import Promise


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: `url` sorts by it, or the other way round where `direction` says that it is sorted by it now."""

    label: str | Promise
    url: str = ""
    direction: Literal["", "ascending", "descending"] = ""
    is_number: bool = False


def build_column(
    label: str | Promise, *, key: str, sorted_by: str, query: QueryDict, is_number: bool = False
) -> TableColumn:
    """A column whose link puts `sort=key` into the query, or `sort=-key` for the other way round."""
    direction: Literal["", "ascending", "descending"] = ""
    if sorted_by.removeprefix("-") == key:
        direction = "descending" if sorted_by.startswith("-") else "ascending"
    changed = query.copy()
    changed.pop("page", None)
    changed["sort"] = f"-{key}" if direction == "ascending" else key
    return TableColumn(label, f"?{changed.urlencode()}", direction, is_number)
