"""Lists: the filters above them, what the address says of these, heads that sort by a link, pages and folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, QueryDict
from django.utils.functional import Promise

from studio.pages.form_data import get_text_at

PAGE_SIZE: Final = 50
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
    value = get_text_at(query, field.name, most=TEXT_MAX)
    return value if not field.choices or value in dict(field.choices) else ""


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


@dataclass(frozen=True, slots=True)
class FoldedGroup:
    """Things of one kind: those that show at once, and those behind a fold."""

    kind: str
    label: str
    shown: Sequence[Any]
    more: Sequence[Any]

    @classmethod
    def of(cls, kind: str, label: str, found: Sequence[Any], most: int) -> FoldedGroup:
        """With at most so many shown at once."""
        return cls(kind, label, found[:most], found[most:])


class RowSource(Protocol):
    """A long list that reads a part of its rows at a time."""

    def __len__(self) -> int: ...

    def rows(self, *, offset: int, limit: int) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class PagedRows:
    """What a Paginator needs of a long list, without reading more than a page."""

    source: RowSource

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, window: slice) -> list[Any]:
        return self.source.rows(offset=window.start, limit=window.stop - window.start)


def get_page(request: HttpRequest, found: Any, size: int = PAGE_SIZE) -> Page[Any]:
    """The page of a list that the address asks for; the first or the last where it has no such page."""
    return Paginator(found, size).get_page(request.GET.get("page"))
