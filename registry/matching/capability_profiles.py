"""What is published, as matching knows it; read from the database, and kept by revision."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from django.db.models.functions import Left

from capability_rules.bundles.profile import CapabilityProfile, profile_from_text
from capability_rules.bundles.skill_prose import READ_MAX
from registry.common import caches
from registry.models import Capability, Draft, Revision
from registry.snapshot.snapshot import SnapshotEntry

_AT_ONCE: Final = 500
_BEGINNING: Final = Left("skill_md", READ_MAX)
_profile_cache: dict[int, CapabilityProfile] = {}
_lock = threading.Lock()


def profiles_of_revisions(wanted: dict[int, str]) -> dict[str, CapabilityProfile]:
    """`{capability_id: Known}` for `{revision's row id: capability_id}`; a damaged row is left out."""
    global _profile_cache
    with _lock:
        found = {number: _profile_cache[number] for number in wanted if number in _profile_cache}
        missing = [number for number in wanted if number not in found]
        for at in range(0, len(missing), _AT_ONCE):
            rows = Revision.objects.filter(pk__in=missing[at : at + _AT_ONCE]).values_list(
                "pk", "capability_json", _BEGINNING
            )
            found |= {number: profile_from_text(text or "", doc or "") for number, text, doc in rows}
        _profile_cache = found
    by_id = ((wanted[number], one) for number, one in found.items())
    return {capability_id: one for capability_id, one in sorted(by_id) if one.capability_id == capability_id}


def profiles_of_drafts(drafts: Mapping[str, SnapshotEntry]) -> dict[str, CapabilityProfile]:
    """`{capability_id: Known}` of drafts as they were when the entries were read; one saved since is left out."""
    wanted = {entry.draft: capability_id for capability_id, entry in drafts.items() if entry.draft is not None}
    rows = Draft.objects.filter(pk__in=[pk for pk, _ in wanted]).values_list(
        "pk", "version", "capability_json", _BEGINNING
    )
    found = {
        wanted[pk, version]: profile_from_text(text or "", doc or "")
        for pk, version, text, doc in rows
        if (pk, version) in wanted
    }
    return {capability_id: one for capability_id, one in found.items() if one.capability_id == capability_id}


def published_profiles() -> dict[str, CapabilityProfile]:
    """The profiles of everything that readers can load, by the current rows."""
    rows = Capability.objects.filter(status__in=("published", "deprecated"))
    return profiles_of_revisions(dict(rows.values_list("published_revision_id", "capability_id")))


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    global _profile_cache
    with _lock:
        _profile_cache = {}
