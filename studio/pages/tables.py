"""Heads of tables that can be sorted by a link."""

from __future__ import annotations

from collections.abc import Sequence
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
    label: str | Promise,
    *,
    key: str,
    sorted_by: str,
    query: QueryDict,
    is_number: bool = False,
    is_latest_first: bool = False,
) -> TableColumn:
    """A column whose link puts `sort=key` into the query, or `sort=-key` for the other way round.
    The first click sorts upwards, but numbers and times downwards (`is_number`, `is_latest_first`).
    """
    direction: Literal["", "ascending", "descending"] = ""
    if sorted_by.removeprefix("-") == key:
        direction = "descending" if sorted_by.startswith("-") else "ascending"
    changed = query.copy()
    changed.pop("page", None)
    goes_down = direction == "ascending" if direction else is_number or is_latest_first
    changed["sort"] = f"-{key}" if goes_down else key
    return TableColumn(label, f"?{changed.urlencode()}", direction, is_number)


def parse_sort(query: QueryDict, keys: Sequence[str], default: str) -> str:
    """The order that the query asks for, `key` or `-key`; `default` where it asks for none of `keys`."""
    asked = query.get("sort", "")
    return asked if asked.removeprefix("-") in keys else default
