"""In which order the system prompt lists skills: by name where all fit; else the alphabet does not choose."""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Iterable
from typing import Final

from capability_client.session.layout_state import LayoutState
from capability_client.session.options import LISTED_CHARACTERS_MAX, LISTED_TOKENS_MAX
from capability_kit.bundles.bundle import ListingEntry

# More than fit into the list, whatever their names are.
_ORDERED_MAX: Final = 300
# So many fit, each with a line of the usual length.
_FIT: Final = LISTED_CHARACTERS_MAX // (4 * LISTED_TOKENS_MAX)


def order_entries(entries: Iterable[ListingEntry], state: LayoutState, *, has_begun: bool) -> list[ListingEntry]:
    """First what this conversation uses, then what it came near to, then by priority and by how often agents used it.

    At least as many as fit. Once the conversation `has_begun` the order stays, so that vendors can keep the text; what
    is new stands last.
    """
    known = {each.capability_id: each for each in entries}
    do_fit = len(known) <= _FIT
    ranked = heapq.nsmallest(_ORDERED_MAX, known.values(), key=lambda each: _rank(each, state, do_fit=do_fit))
    kept = [name for name in state.listed if name in known]
    order = list(dict.fromkeys([*kept, *(each.capability_id for each in ranked)]))
    if has_begun:
        state.listed = order[:_ORDERED_MAX]
    return [known[name] for name in order]


def _rank(entry: ListingEntry, state: LayoutState, *, do_fit: bool) -> tuple[bool, float, int, int, int, str]:
    name = entry.capability_id
    # What is the same in everything else stands by name, or where some are left out in an order that favors no letter
    # and is the same each time.
    shuffled = 0 if do_fit else zlib.crc32(name.encode())
    rank = (-state.nearness.get(name, 0.0), -entry.priority, -_uses(entry))
    return name not in state.skills, *rank, shuffled, name


def _uses(entry: ListingEntry) -> int:
    uses = (entry.confidence or {}).get("uses")
    return uses if isinstance(uses, int) else 0
