"""What a key may see of a snapshot. Whoever answers agents asks here, so that all doors show the same.

A key that was made without limits, and a public read, see every listed capability. What is unlisted is seen by the keys
that have redeemed its install code. Nothing here asks the database.
"""

from __future__ import annotations

from typing import Final

from registry.snapshot.content import Entry, Principal, Snapshot

# Restricted forms of one snapshot that are kept; each is a dict of its entries.
VIEWS_KEPT_MAX: Final = 32


def visible(principal: Principal, entry: Entry) -> bool:
    """Whether the holder of a key may know of an entry: in list, load, match, search, suggestions, anywhere."""
    return entry.visibility == "listed" or entry.capability_id in principal.sight.redeemed


def entry_for(snapshot: Snapshot, principal: Principal, capability_id: str) -> Entry | None:
    """The entry as the key sees it; None for what it knows nothing of."""
    entry = snapshot.entries.get(capability_id)
    return entry if entry is not None and visible(principal, entry) else None


def is_restricted(snapshot: Snapshot, principal: Principal) -> bool:  # noqa: ARG001 (until some see less)
    """Whether there may be anything that the key does not see as it is published."""
    return snapshot.has_unlisted


def seen(snapshot: Snapshot, principal: Principal) -> Snapshot:
    """The snapshot as the key sees it: its entries, ids and names (neither keys nor confidences are in it).

    The same snapshot where nothing is restricted; else made once for all keys of the same sight.
    """
    if not is_restricted(snapshot, principal):
        return snapshot
    kept = snapshot.views.get(principal.sight)
    if kept is None:
        found = ((name, entry_for(snapshot, principal, name)) for name in _ids(snapshot, principal))
        entries = {name: entry for name, entry in found if entry is not None}
        kept = Snapshot(snapshot.registry_revision, 0, entries, {}, first_run=snapshot.first_run)
        snapshot.views[principal.sight] = kept
        while len(snapshot.views) > VIEWS_KEPT_MAX:
            snapshot.views.popitem(last=False)
    return kept


def _ids(snapshot: Snapshot, principal: Principal) -> list[str]:  # noqa: ARG001 (until some see drafts)
    return snapshot.ids
