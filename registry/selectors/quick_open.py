"""Finds capabilities by a few letters of their id or name, for the quick-open dialog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from registry.catalog.facets import get_facets
from registry.selectors.capability_list import list_all_rows
from registry.selectors.capability_search import find_by_name, find_by_spelling

FOUND_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A capability to jump to; `name` is its draft's where nothing was published yet, and its id where it has none."""

    capability_id: str
    name: str
    status: str


def find_capabilities(text: str, *, limit: int = FOUND_MAX) -> list[JumpTarget]:
    """What has every word of `text` in its id or name, in any case; what begins with the text comes first. Where
    nothing has: what is spelled nearly so."""
    words = text.replace("\0", "")
    if not words.split():
        return []
    rows = {row.capability_id: row for row in list_all_rows("capability_id")}
    held = get_facets(list(rows.values()))
    among = {capability_id: held[row.key] for capability_id, row in rows.items()}
    found = find_by_name(words, among) or find_by_spelling(words, among)
    return [JumpTarget(one, among[one].name_or(one), rows[one].status) for one in found[:limit]]
