"""The revisions of a capability as versions of a skill: when each was made, and what was said of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import DatabaseError, InterfaceError
from django.db.models import QuerySet

from registry import outages
from registry.errors import RegistryUnavailable
from registry.models import Capability, Revision


@dataclass(frozen=True, slots=True)
class Version:
    """One revision; `note` is what its publisher said of it."""

    revision_id: int
    number: int
    created_at: datetime
    note: str


def versions_of(
    capability_id: str, *, limit: int, below: int | None = None, number: int | None = None
) -> list[Version]:
    """The newest first; with `below` those of a lower number, with `number` that one. Raises `RegistryUnavailable`."""
    found = Revision.objects.filter(capability__capability_id=capability_id).order_by("-number")
    if below is not None:
        found = found.filter(number__lt=below)
    if number is not None:
        found = found.filter(number=number)
    return _read(found[:limit])


def versions_by_revision(revision_ids: Collection[int]) -> dict[int, Version]:
    """By the revision's own key. Raises `RegistryUnavailable`."""
    return {version.revision_id: version for version in _read(Revision.objects.filter(pk__in=revision_ids))}


def begun(capability_ids: Collection[str]) -> dict[str, datetime]:
    """When each capability came to be. Raises `RegistryUnavailable`."""
    try:
        found = Capability.objects.filter(capability_id__in=capability_ids)
        return dict(found.values_list("capability_id", "created_at"))
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(outages.notice(error).words) from error


def by_age() -> list[str]:
    """All ids, the newest capability first. Raises `RegistryUnavailable`."""
    try:
        return list(Capability.objects.order_by("-pk").values_list("capability_id", flat=True))
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(outages.notice(error).words) from error


def _read(found: QuerySet[Revision]) -> list[Version]:
    try:
        rows = found.values_list("pk", "number", "created_at", "note")
        return [Version(*row) for row in rows]
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(outages.notice(error).words) from error
