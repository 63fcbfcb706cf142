"""Capabilities by a few letters of their id or name, for whoever wants to jump to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from registry.browsing.catalogue import every_row
from registry.browsing.catalogue_search import named, nearly
from registry.browsing.facets import facets_of

FOUND_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Jump:
    """A capability to jump to; `name` is its draft's where nothing was published yet, and its id where it has none."""

    capability_id: str
    name: str
    status: str


def find_capabilities(text: str, *, limit: int = FOUND_MAX) -> list[Jump]:
    """What has every word of `text` in its id or name, in any case; what begins with the text comes first. Where
    nothing has: what is spelled nearly so."""
    words = text.replace("\0", "")
    if not words.split():
        return []
    rows = {row.capability_id: row for row in every_row("capability_id")}
    held = facets_of(list(rows.values()))
    among = {capability_id: held[row.key] for capability_id, row in rows.items()}
    found = named(words, among) or nearly(words, among)
    return [Jump(one, among[one].name_or(one), rows[one].status) for one in found[:limit]]
