"""The operations of a source as a table that can be searched, and what has been chosen of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from features.tool_sources.drafting import TOOLS_MAX
from features.tool_sources.models import ToolSource, ToolSourceItem

ROWS_MAX: Final = 200
_FIELDS: Final = ("q", "tag", "method", "access")
_COLUMNS: Final = ("key", "method", "name", "summary", "tags", "is_read", "is_deprecated", "refused", "source_id")


@dataclass(frozen=True, slots=True)
class TableFilter:
    """What is looked for: words, a tag, a method, and `read` or `write`; empty for all."""

    words: str = ""
    tag: str = ""
    method: str = ""
    access: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> TableFilter:
        """Of the fields of a form or of the operator API."""
        words, tag, method, access = (given.get(name, "").replace("\0", "").strip()[:100] for name in _FIELDS)
        return cls(words, tag, method, access)


@dataclass(frozen=True, slots=True)
class OperationTable:
    """`rows` are the first that fit, `hidden` what is chosen and not among them."""

    rows: list[ToolSourceItem]
    count: int
    total: int
    chosen: frozenset[str]
    hidden: list[str]
    tags: list[str]
    methods: list[str]
    filter: TableFilter

    @property
    def chosen_count(self) -> int:
        """How many operations are chosen, shown or not."""
        return len(self.chosen)


def build_table(source: ToolSource, wanted: TableFilter, chosen: Sequence[str]) -> OperationTable:
    """The table of a source. Of what is chosen, keys that it does not have are dropped."""
    items = ToolSourceItem.objects.filter(source=source)
    facts = list(items.values_list("key", "tags", "method"))
    known = {key for key, _tags, _method in facts}
    kept = [key for key in dict.fromkeys(chosen) if key in known][:TOOLS_MAX]
    found = _filtered(items, wanted)
    rows = list(found.only(*_COLUMNS)[:ROWS_MAX])
    shown = {row.key for row in rows}
    return OperationTable(
        rows=rows,
        count=len(rows) if len(rows) < ROWS_MAX else found.count(),
        total=len(facts),
        chosen=frozenset(kept),
        hidden=[key for key in kept if key not in shown],
        tags=sorted({tag for _key, tags, _method in facts for tag in tags}, key=str.casefold),
        methods=sorted({method for _key, _tags, method in facts if method}),
        filter=wanted,
    )


def _filtered(items: QuerySet[ToolSourceItem], wanted: TableFilter) -> QuerySet[ToolSourceItem]:
    for word in wanted.words.split():
        items = items.filter(Q(key__icontains=word) | Q(name__icontains=word) | Q(summary__icontains=word))
    if wanted.method:
        items = items.filter(method=wanted.method)
    if wanted.access in ("read", "write"):
        items = items.filter(is_read=wanted.access == "read")
    if wanted.tag:
        # Not by a look into JSON, which the two databases do differently.
        tagged = [pk for pk, tags in items.values_list("pk", "tags") if wanted.tag in tags]
        items = items.filter(pk__in=tagged)
    return items
