"""Older revisions that a session has pinned. Revisions never change, so what was once found stays true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from registry.common import caches
from registry.core.storage import require_database
from registry.models import Revision
from registry.snapshot.store import STORE


@dataclass(frozen=True, slots=True)
class PinnedRevision:
    """The row id of a revision that a reader named, its number in its capability, and its digest."""

    revision_id: int
    number: int
    digest: str


class _Unknown(Exception):
    """Keeps what was not found out of the cache: a later publish may make it."""


@require_database()
def find_pinned_revision(
    capability_id: str, *, number: int | None = None, digest: str | None = None, read_only: bool = False
) -> PinnedRevision | None:
    """The newest revision that agrees with what is given; None where there is none.

    With `read_only` the digest is that of what is left without write tools: it is what such a key has seen.
    """
    try:
        return _find(capability_id, number, digest, "read_only_digest" if read_only else "digest")
    except _Unknown:
        return None


@caches.register
def clear_cache() -> None:
    """After a restore, keys of rows may belong to others."""
    _find.cache_clear()


@lru_cache(maxsize=4096)
def _find(capability_id: str, number: int | None, digest: str | None, column: str) -> PinnedRevision:
    revisions = Revision.objects.filter(capability__capability_id=capability_id)
    if number is not None:
        revisions = revisions.filter(number=number)
    if digest is not None:
        revisions = revisions.filter(**{column: digest})
    row = revisions.order_by("-number").values_list("pk", "number", "digest").first()
    if row is None:
        raise _Unknown
    return PinnedRevision(*row)


STORE.on_epoch_change.append(clear_cache)
