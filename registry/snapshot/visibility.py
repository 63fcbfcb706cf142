"""What a key may see of a snapshot. All endpoints for agents use this, so that they show the same.

A key that was made without limits, and a public read, see every listed capability as it is published. What is unlisted
is seen by the keys that have redeemed its install code. A key may be limited to skill groups; it may be given no write
tools; it may see drafts that pass in place of published ones. Nothing here queries the database, but for the digest
without write tools of a revision (once) that was published before that was kept.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import orjson
from django.db.models import QuerySet

from registry.common import caches
from registry.common.errors import CapabilityQuarantined
from registry.core.queries import load_bundle
from registry.models import Draft, Revision
from registry.snapshot.snapshot import FULL_ACCESS, Principal, Snapshot, SnapshotEntry

# Restricted forms of one snapshot that are kept; each is a dict of its entries.
CACHED_VIEWS_MAX: Final = 32


def list_visible(principal: Principal, entry: SnapshotEntry) -> bool:
    """Whether the holder of a key may know of an entry: in list, load, match, search, suggestions, anywhere."""
    sight = principal.sight
    if sight.groups is not None and sight.groups.isdisjoint(entry.skill_groups):
        return False
    if sight.ids is not None and entry.capability_id not in sight.ids:
        return False
    return entry.visibility == "listed" or entry.capability_id in sight.redeemed


def may_load_all(principal: Principal, entry: SnapshotEntry) -> bool:
    """Whether it may be handed out as published, by endpoints that withhold no tools: as a file, as an archive."""
    if not list_visible(principal, entry):
        return False
    return not principal.sight.read_only_tools or without_write_tools(entry).digest == entry.digest


def find_entry(
    snapshot: Snapshot, principal: Principal, capability_id: str, *, published: bool = False
) -> SnapshotEntry | None:
    """The entry as the key sees it, or with `published` the published one in any case; None for what it knows nothing
    of."""
    entry = _entry_for(snapshot, principal, capability_id, published=published)
    if entry is None or entry.replaced_by is None:
        return entry
    return entry if _entry_for(snapshot, principal, entry.replaced_by) is not None else without_replacement(entry)


def require_released(snapshot: Snapshot, principal: Principal, capability_id: str) -> None:
    """Raise `CapabilityQuarantined` for what is quarantined and the key would see otherwise; to all others it is as
    good as unknown."""
    held_back = snapshot.quarantined.get(capability_id)
    if held_back is not None and list_visible(principal, held_back):
        raise CapabilityQuarantined(capability_id)


def _entry_for(
    snapshot: Snapshot, principal: Principal, capability_id: str, *, published: bool = False
) -> SnapshotEntry | None:
    """As `find_entry`, without the check that the key may see the replacement."""
    sight = principal.sight
    if sight is FULL_ACCESS:
        entry = snapshot.entries.get(capability_id)
        return entry if entry is not None and entry.visibility == "listed" else None
    entry = snapshot.drafts.get(capability_id) if sight.preview and not published else None
    entry = entry or snapshot.entries.get(capability_id)
    if entry is None or not list_visible(principal, entry):
        return None
    return without_write_tools(entry) if sight.read_only_tools else entry


@lru_cache(maxsize=20_000)
def without_replacement(entry: SnapshotEntry) -> SnapshotEntry:
    """The entry for readers who do not see the capability that replaces it."""
    fields = orjson.loads(entry.rendered) | {"replaced_by": None}
    return replace(entry, replaced_by=None, rendered=orjson.dumps(fields))


@lru_cache(maxsize=20_000)
def without_write_tools(entry: SnapshotEntry) -> SnapshotEntry:
    """The entry under the digest of what is left of it; the same digest where there is nothing to withhold."""
    digest = entry.read_only_digest or _read_only_digest(entry)
    fields = orjson.loads(entry.rendered) | {"digest": digest}
    return replace(entry, digest=digest, rendered=orjson.dumps(fields), is_read_only=True)


caches.register(without_write_tools.cache_clear)


def _read_only_digest(entry: SnapshotEntry) -> str:
    rows: QuerySet[Any] = Revision.objects.filter(pk=entry.revision_id)
    if entry.draft is not None:
        rows = Draft.objects.filter(pk=entry.draft[0])
    row = rows.first()
    return load_bundle(row).without_write_tools().digest if row is not None else entry.digest


def is_restricted(snapshot: Snapshot, principal: Principal) -> bool:
    """Whether there may be anything that the key does not see as it is published."""
    sight = principal.sight
    return (
        snapshot.has_unlisted
        or sight.groups is not None
        or sight.ids is not None
        or sight.read_only_tools
        or sight.preview
    )


def restricted_view(snapshot: Snapshot, principal: Principal) -> Snapshot:
    """The snapshot as the key sees it: its entries, ids and names (neither keys nor confidences are in it).

    The same snapshot where nothing is restricted; else made once for all keys of the same sight.
    """
    if not is_restricted(snapshot, principal):
        return snapshot
    kept = snapshot.views.get(principal.sight)
    if kept is None:
        found = ((name, find_entry(snapshot, principal, name)) for name in _ids(snapshot, principal))
        entries = {name: entry for name, entry in found if entry is not None}
        kept = Snapshot(snapshot.registry_revision, 0, entries, {}, first_run=snapshot.first_run)
        snapshot.views[principal.sight] = kept
        while len(snapshot.views) > CACHED_VIEWS_MAX:
            snapshot.views.popitem(last=False)
    return kept


def restrict_past(past: Snapshot, now: Snapshot, principal: Principal) -> Snapshot:
    """The entries of a past snapshot that the key could see then and can see now: nothing that has been hidden or
    retired since."""
    visible_now = restricted_view(now, principal).entries
    entries = {
        name: entry if entry.replaced_by is None or entry.replaced_by in visible_now else without_replacement(entry)
        for name, entry in restricted_view(past, principal).entries.items()
        if name in visible_now
    }
    return Snapshot(past.registry_revision, 0, entries, {})


def _ids(snapshot: Snapshot, principal: Principal) -> list[str]:
    if not (principal.sight.preview and snapshot.drafts):
        return snapshot.ids
    return sorted({*snapshot.entries, *snapshot.drafts})
