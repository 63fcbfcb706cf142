"""Supporting files of a capability, one at a time: agents fetch what they need of them (SPEC-SEEDS E)."""

from __future__ import annotations

import orjson

from registry.errors import SupportingFileNotFound
from registry.snapshot.bodies import BODIES, Rendered, body_key, bundle_for
from registry.snapshot.content import Entry
from registry.validation.supporting import file_facts


def load_file(entry: Entry, path: str, *, revision_id: int | None = None) -> Rendered:
    """`{"capability_id", "revision", "path", "digest", "size", "text"}`, of an entry or a pinned revision of it.

    Raises `SupportingFileNotFound` with the paths that there are, and what `load_body` raises.
    """
    key = (*body_key(entry, revision_id=revision_id), path)
    return BODIES.get(key, lambda: _render(entry, path, revision_id or entry.revision_id))


def _render(entry: Entry, path: str, revision_id: int) -> Rendered:
    bundle, _, number = bundle_for(entry, revision_id)
    text = bundle.supporting_files.get(path)
    if text is None:
        raise SupportingFileNotFound(entry.capability_id, path, available=list(bundle.supporting_files))
    (facts,) = file_facts({path: text})
    return Rendered(orjson.dumps({"capability_id": entry.capability_id, "revision": number, **facts, "text": text}))
