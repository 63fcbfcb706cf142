"""`capability_skill_load` and `capability_skill_reload`: one bundle, pinned or the newest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from capability_kit import tracing
from capability_rules.bundles.supporting_files import PATH_MAX
from capability_rules.errors import InvalidRequest
from registry.common import rate_limits
from registry.common.errors import RevisionNotFound, SkillMalformed
from registry.core.queries import not_found, suggest_others
from registry.snapshot import Snapshot, SnapshotEntry, require_fresh
from registry.snapshot.pinned_revisions import find_pinned_revision
from registry.snapshot.response_cache import RenderedResponse, get_load_response, load_file
from registry.snapshot.visibility import find_entry, require_released, restricted_view
from registry.usage import usage_counters


def load_response(
    snapshot: Snapshot, caller: Caller, values: Mapping[str, Any], *, fresh: bool = False
) -> RenderedResponse:
    """Build the response to `{"capability_id", "digest"?, "revision"?}`; `fresh` bypasses every cache.

    Raises `InvalidRequest`, `CapabilityNotFound`, `CapabilityQuarantined`, `RevisionNotFound`, `SkillMalformed`,
    `RegistryUnavailable`.
    """
    entry, revision_id, revision = find_revision(snapshot, caller, values)
    exact = bool(values.get("digest"))
    try:
        rendered = get_load_response(
            entry, snapshot.confidence(entry), revision_id=revision_id, fresh=fresh, exact=exact
        )
    except SkillMalformed as error:
        known = restricted_view(snapshot, caller.principal)
        name, wanted = known.names.get(entry.capability_id, entry.capability_id), entry.capability_id
        error.extra |= {"capability_id": wanted, "name": name}
        error.extra["suggestions"] = suggest_others(wanted, known.ids, known.names)
        raise
    if entry.draft is None:
        usage_counters.count_load(entry.capability_id, revision, key_name=caller.key_name)
    return rendered


def file_response(snapshot: Snapshot, caller: Caller, values: Mapping[str, Any]) -> RenderedResponse:
    """Build the response to `{"capability_id", "path", "digest"?, "revision"?}`: one file; not counted as a load.

    Raises what `load_response` raises, and `SupportingFileNotFound`.
    """
    path = parameters.string(values, "path", most=PATH_MAX)
    if not path:
        raise InvalidRequest("path is missing; files of capability_skill_load names them all")
    entry, revision_id, _ = find_revision(snapshot, caller, values)
    return load_file(entry, path, revision_id=revision_id, exact=bool(values.get("digest")))


def find_revision(snapshot: Snapshot, caller: Caller, values: Mapping[str, Any]) -> tuple[SnapshotEntry, int, int]:
    """What `{"capability_id", "digest"?, "revision"?}` asks for, the row id of the revision, and its number.

    Raises `InvalidRequest`, `CapabilityNotFound`, `RevisionNotFound`, `RegistryUnavailable`.
    """
    wanted = parameters.capability_id(values)
    number = parameters.integer(values, "revision", least=1)
    digest = parameters.digest(values)
    entry = require_entry(snapshot, caller, wanted)
    tracing.annotate("studio.capability_id", entry.capability_id)
    if entry.draft is not None and not _agrees(entry, number, digest):
        # The pin is of something that was published.
        entry = find_entry(snapshot, caller.principal, wanted, published=True) or entry
    return entry, *_pin(entry, number, digest)


def require_entry(snapshot: Snapshot, caller: Caller, capability_id: str) -> SnapshotEntry:
    """What the caller knows by this id. Raises `CapabilityQuarantined`, `CapabilityNotFound` with what it can ask for
    instead, and `RegistryUnavailable` where that cannot be known."""
    entry = find_entry(snapshot, caller.principal, capability_id)
    if entry is None:
        require_released(snapshot, caller.principal, capability_id)
        # Each is looked up again, counted, and answered with the ids that are nearest.
        rate_limits.consume("uncached", caller.limit_subject)
        require_fresh()
        usage_counters.count_miss(capability_id, key_name=caller.key_name)
        known = restricted_view(snapshot, caller.principal)
        raise not_found(capability_id, known.ids, known.names, known.words)
    return entry


def _agrees(entry: SnapshotEntry, number: int | None, digest: str | None) -> bool:
    return number in (None, entry.revision) and digest in (None, entry.digest)


def _pin(entry: SnapshotEntry, number: int | None, digest: str | None) -> tuple[int, int]:
    """`(row id, number)` of the revision that is asked for."""
    if _agrees(entry, number, digest):
        return entry.revision_id, entry.revision
    name, read_only = entry.capability_id, entry.is_read_only
    found = (
        find_pinned_revision(name, number=number, digest=digest, read_only=read_only) if entry.draft is None else None
    )
    if found is not None:
        return found.revision_id, found.number
    if number is not None and digest is not None and find_pinned_revision(name, number=number):
        raise InvalidRequest(f"Revision {number} does not have the digest {digest}; send one of the two")
    wanted = f"revision {number}" if number is not None else f"revision with the digest {digest}"
    raise RevisionNotFound(f"'{name}' has no {wanted}")
