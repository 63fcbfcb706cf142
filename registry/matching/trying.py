"""What messages are held against when somebody tries drafts in the Studio: drafts that pass, in the place of what is
published, whether any key previews them or not."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Final

from registry.matching.index import HOLDER, Index, IndexHolder
from registry.snapshot import Snapshot, current
from registry.snapshot.content import read_drafts

_SECONDS: Final = 2.0
_holder = IndexHolder(previews=True)
_made: tuple[object, Index] | None = None
_lock: Final = threading.Lock()


def tried(*, with_drafts: bool) -> tuple[Snapshot, Index]:
    """What there is, and the index over it. Raises `RegistryUnavailable` where nothing was ever read."""
    snapshot = current()
    if not with_drafts:
        return snapshot, HOLDER.get()
    drafts = read_drafts()
    snapshot = replace(snapshot, drafts=drafts, entries={**snapshot.entries, **drafts})
    return snapshot, _index(snapshot)


def _index(snapshot: Snapshot) -> Index:
    global _made
    drafts = tuple(sorted((name, entry.draft, entry.digest) for name, entry in snapshot.drafts.items()))
    key = (snapshot.registry_revision, snapshot.access_revision, snapshot.history, drafts)
    with _lock:
        if _made is None or _made[0] != key or _made[1].is_waiting:
            _made = (key, _holder.build(snapshot, seconds=_SECONDS))
        return _made[1]


def forget() -> None:
    """Begin again, as in a new process."""
    global _made
    with _lock:
        _made = None
        _holder.forget()
