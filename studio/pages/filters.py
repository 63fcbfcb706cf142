"""The filters above a list: what they are, what the address says of them, and the links that take one away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict
from django.utils.functional import Promise

TEXT_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class FilterField:
    """A filter: a choice of `(value, words)`, of which the first is the one where nothing is chosen, or a text to
    search for where there is no `choices`."""

    name: str
    label: str | Promise
    choices: Sequence[tuple[str, object]] = ()


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter that is set: its words, and the address without it."""

    words: object
    url: str


@dataclass(frozen=True, slots=True)
class ShownFilter:
    """A filter with the value that it has now."""

    field: FilterField
    value: str


class FilterBar:
    """The filters of one list as an address sets them; invalid values are ignored."""

    def __init__(self, query: QueryDict, *fields: FilterField) -> None:
        self.fields = [ShownFilter(field, _read(query, field)) for field in fields]
        self.sort = query.get("sort", "")
        self._query = query

    def get(self, name: str) -> str:
        """The value of a filter, empty for any."""
        return next(one.value for one in self.fields if one.field.name == name)

    @property
    def is_set(self) -> bool:
        """Whether any leaves something out."""
        return any(one.value for one in self.fields)

    @property
    def chips(self) -> list[FilterChip]:
        """The choices that are set, each to be taken away; a text stands in its field."""
        return [
            FilterChip(dict(one.field.choices)[one.value], f"?{remove_from(self._query, one.field.name)}")
            for one in self.fields
            if one.value and one.field.choices
        ]

    @property
    def query(self) -> str:
        """What a link to another page must carry along."""
        return remove_from(self._query, "page")


def remove_from(query: QueryDict, name: str) -> str:
    """The query without a parameter, and on its first page."""
    left = query.copy()
    for each in (name, "page", *(each for each in query if not query[each])):
        left.pop(each, None)
    return left.urlencode()


def _read(query: QueryDict, field: FilterField) -> str:
    value = query.get(field.name, "").replace("\0", "").strip()[:TEXT_MAX]
    return value if not field.choices or value in dict(field.choices) else ""
