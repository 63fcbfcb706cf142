"""The revisions of a capability as versions of a skill: when each was made, and its note."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from registry.core.storage import require_database
from registry.models import Capability, Revision


@dataclass(frozen=True, slots=True)
class SkillVersion:
    """One revision; `note` is that of its publisher."""

    revision_id: int
    number: int
    created_at: datetime
    note: str


def list_versions(
    capability_id: str, *, limit: int, below: int | None = None, number: int | None = None
) -> list[SkillVersion]:
    """The newest first; with `below` those of a lower number, with `number` that one. Raises `RegistryUnavailable`."""
    found = Revision.objects.filter(capability__capability_id=capability_id).order_by("-number")
    if below is not None:
        found = found.filter(number__lt=below)
    if number is not None:
        found = found.filter(number=number)
    return _read(found[:limit])


def list_versions_by_revision(revision_ids: Collection[int]) -> dict[int, SkillVersion]:
    """By the revision's own key. Raises `RegistryUnavailable`."""
    return {version.revision_id: version for version in _read(Revision.objects.filter(pk__in=revision_ids))}


@require_database()
def creation_times(capability_ids: Collection[str]) -> dict[str, datetime]:
    """When each capability came to be. Raises `RegistryUnavailable`."""
    found = Capability.objects.filter(capability_id__in=capability_ids)
    return dict(found.values_list("capability_id", "created_at"))


@require_database()
def ids_newest_first() -> list[str]:
    """All ids, the newest capability first. Raises `RegistryUnavailable`."""
    return list(Capability.objects.order_by("-pk").values_list("capability_id", flat=True))


@require_database()
def _read(found: QuerySet[Revision]) -> list[SkillVersion]:
    return [SkillVersion(*row) for row in found.values_list("pk", "number", "created_at", "note")]
