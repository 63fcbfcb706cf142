"""What messages are matched against when an operator tries drafts in the Studio: drafts that pass replace what is
published, whether any key previews them or not."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Final

from registry.common import caches
from registry.matching.index import PUBLISHED_INDEX, MatchIndex, MatchIndexCache
from registry.snapshot import Snapshot, current_snapshot
from registry.snapshot.snapshot import read_drafts

_SECONDS: Final = 2.0
_holder = MatchIndexCache(previews=True)
_made: tuple[object, MatchIndex] | None = None
_lock: Final = threading.Lock()


def get_drafts_index(*, with_drafts: bool) -> tuple[Snapshot, MatchIndex]:
    """What there is, and the index over it. Raises `RegistryUnavailable` where nothing was ever read."""
    snapshot = current_snapshot()
    if not with_drafts:
        return snapshot, PUBLISHED_INDEX.get()
    drafts = read_drafts()
    snapshot = replace(snapshot, drafts=drafts, entries={**snapshot.entries, **drafts})
    return snapshot, _index(snapshot)


def _index(snapshot: Snapshot) -> MatchIndex:
    global _made
    drafts = tuple(sorted((name, entry.draft, entry.digest) for name, entry in snapshot.drafts.items()))
    key = (snapshot.registry_revision, snapshot.access_revision, snapshot.epoch, drafts)
    with _lock:
        if _made is None or _made[0] != key or _made[1].is_waiting:
            _made = (key, _holder.build(snapshot, seconds=_SECONDS))
        return _made[1]


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    global _made
    with _lock:
        _made = None
        _holder.forget()
