"""Which skills a client would list now, and what a release changes for the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from capability_kit.bundles.bundle import ListingEntry
from features.listing_budgets.budgets import ListingBudget, list_budgets
from features.listing_budgets.listing import STATES, ListedSkill, read_listing
from registry.snapshot import Snapshot

_KEY: Final = "listing budgets"
Listings = dict[str, dict[str, ListedSkill]]


@dataclass(frozen=True, slots=True)
class ListingChange:
    """What a release does to the list of one client: how its own skill is listed, and which others lose by it."""

    budget: ListingBudget
    own: ListedSkill
    losers: tuple[str, ...]


def list_entries(snapshot: Snapshot, only: Collection[str] | None = None) -> list[ListingEntry]:
    """What is published and listed, or what of it is in `only`; not what the user alone starts."""
    return [
        ListingEntry.from_answer(orjson.loads(entry.rendered))
        for entry in snapshot.entries.values()
        if not entry.is_closed_to_model
        and (entry.visibility == "listed" if only is None else entry.capability_id in only)
    ]


def read_listings(entries: Sequence[ListingEntry]) -> Listings:
    """By the id of a budget, what its model reads of each."""
    return {budget.id: read_listing(entries, budget) for budget in list_budgets()}


def current_listings(snapshot: Snapshot) -> Listings:
    """Of all that is listed; read once for a state of the registry."""
    return _read_once(snapshot)[1]


def _read_once(snapshot: Snapshot) -> tuple[list[ListingEntry], Listings]:
    kept: tuple[list[ListingEntry], Listings] | None = snapshot.answers.get(_KEY)
    if kept is None:
        entries = list_entries(snapshot)
        kept = snapshot.answers[_KEY] = (entries, read_listings(entries))
    return kept


def compare_release(snapshot: Snapshot, capability_id: str, capability: Mapping[str, object]) -> list[ListingChange]:
    """For each client that would not list the whole of it, or would list less of another one than now, what changes
    with the release of this capability.json."""
    entries, before = _read_once(snapshot)
    name, description = (str(capability.get(key) or "") for key in ("name", "description"))
    priority = capability.get("priority")
    own = ListingEntry(capability_id, name, description, priority=priority if isinstance(priority, int) else 0)
    after = read_listings([*(entry for entry in entries if entry.capability_id != capability_id), own])
    found = []
    for budget in list_budgets():
        had, has = before[budget.id], after[budget.id]
        others = (name for name in has if name in had and name != capability_id)
        losers = tuple(name for name in others if _rank(has[name]) > _rank(had[name]))
        # A session lists the beginning of each.
        is_less = not has[capability_id].is_whole and not (budget.is_ranked and has[capability_id].shown)
        if losers or is_less:
            found.append(ListingChange(budget, has[capability_id], losers))
    return found


def _rank(one: ListedSkill) -> int:
    return STATES.index(one.state)
