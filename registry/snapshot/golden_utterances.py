"""Golden sentences of what is published, for a registry that mirrors this one: no load has them.

They are evidence for matching and of no use to an agent, so that only a key is given them, by a separate endpoint.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final

import orjson

from registry.models import Revision
from registry.snapshot.snapshot import Principal, Snapshot, SnapshotEntry
from registry.snapshot.visibility import find_entry, restricted_view

# A page ends behind the capability that reaches this.
PAGE_BYTES: Final = 4 * 1024 * 1024
_AT_ONCE: Final = 200


def get_utterance_page(held: Snapshot, principal: Principal, *, after: str = "") -> dict[str, Any]:
    """`{"registry_revision", "golden": {capability_id: utterances}, "next_after": id or None}`, ordered by id.

    Of what the holder of the key sees, as it is published; a capability that has none is not in it.
    """
    known = restricted_view(held, principal)
    golden: dict[str, Any] = {}
    size = 0
    names = known.ids[bisect_right(known.ids, after) :]
    # As it is published, also where the key sees a draft in its place.
    found = (find_entry(held, principal, name, published=True) for name in names)
    for capability_id, utterances in _golden([entry for entry in found if entry is not None]):
        if size >= PAGE_BYTES:
            return _page(held, golden, max(golden))
        golden[capability_id] = utterances
        size += len(orjson.dumps(utterances))
    return _page(held, golden, None)


def _page(held: Snapshot, golden: dict[str, Any], next_after: str | None) -> dict[str, Any]:
    return {"registry_revision": held.registry_revision, "golden": golden, "next_after": next_after}


def _golden(entries: list[SnapshotEntry]) -> Iterator[tuple[str, Any]]:
    """In the order of the entries; a damaged row is left out."""
    for start in range(0, len(entries), _AT_ONCE):
        part = entries[start : start + _AT_ONCE]
        rows = Revision.objects.filter(pk__in=[entry.revision_id for entry in part])
        texts = dict(rows.values_list("pk", "capability_json"))
        for entry in part:
            utterances = _utterances(texts.get(entry.revision_id) or "")
            if utterances:
                yield entry.capability_id, utterances


def _utterances(text: str) -> Any:
    try:
        capability = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    found = capability.get("utterances") if isinstance(capability, dict) else None
    return found if isinstance(found, dict) and any(found.values()) else None
