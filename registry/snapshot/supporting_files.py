"""Supporting files of a capability, one at a time: agents fetch what they need of them (docs/requirements.md E)."""

from __future__ import annotations

import orjson

from registry.bundles.supporting_files import build_file_facts
from registry.common.errors import SupportingFileNotFound
from registry.snapshot.response_cache import RESPONSE_CACHE, RenderedResponse, get_bundle, response_key
from registry.snapshot.snapshot import SnapshotEntry


def load_file(entry: SnapshotEntry, path: str, *, revision_id: int | None = None) -> RenderedResponse:
    """`{"capability_id", "revision", "path", "digest", "size", "text"}`, of an entry or a pinned revision of it.

    Raises `SupportingFileNotFound` with the paths that there are, and what `load_body` raises.
    """
    key = (*response_key(entry, revision_id=revision_id), path)
    return RESPONSE_CACHE.get(key, lambda: _render(entry, path, revision_id or entry.revision_id))


def _render(entry: SnapshotEntry, path: str, revision_id: int) -> RenderedResponse:
    bundle, _, number = get_bundle(entry, revision_id)
    text = bundle.supporting_files.get(path)
    if text is None:
        raise SupportingFileNotFound(entry.capability_id, path, available=list(bundle.supporting_files))
    (facts,) = build_file_facts({path: text})
    return RenderedResponse(
        orjson.dumps({"capability_id": entry.capability_id, "revision": number, **facts, "text": text})
    )
