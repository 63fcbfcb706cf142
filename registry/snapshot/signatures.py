"""Signatures of revisions as they are served. They never change, so what was once rendered stays true."""

from __future__ import annotations

import json

import orjson

from registry.common.errors import SignatureNotFound
from registry.core.storage import require_database
from registry.models import Revision
from registry.snapshot.response_cache import RESPONSE_CACHE, RenderedResponse
from registry.snapshot.snapshot import SnapshotEntry


def load_signature(entry: SnapshotEntry, revision_id: int) -> RenderedResponse:
    """`{"capability_id", "revision", "envelope"}` of an entry, or a pinned revision of it.

    Raises `SignatureNotFound`, also for a draft, and `RegistryUnavailable`.
    """
    if entry.draft is not None:
        raise SignatureNotFound(f"The draft of '{entry.capability_id}' is not signed: only revisions are")
    return RESPONSE_CACHE.get(("signature", revision_id), lambda: _render(entry, revision_id))


def _render(entry: SnapshotEntry, revision_id: int) -> RenderedResponse:
    with require_database():
        number, signature = Revision.objects.values_list("number", "signature").get(pk=revision_id)
    if not signature:
        raise SignatureNotFound(
            f"Revision {number} of '{entry.capability_id}' was published before revisions were signed; "
            "an operator can sign it: registry sign"
        )
    answer = {"capability_id": entry.capability_id, "revision": number, "envelope": json.loads(signature)}
    return RenderedResponse(orjson.dumps(answer))
