"""What the Studio shows of followed sources: a line each, and one with its bundles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from features.sources.drift import Drift, get_stored_drift
from features.sources.incidents import find_open_incident
from features.sources.models import GitSource, GitSourceItem
from features.sources.source_sync import get_source, sync_job_key
from registry.core.queries import LOADABLE_STATUSES
from registry.models import Capability, Incident, Job

# What an operator should review.
_TROUBLED = Q(items__status__in=["held", "foreign", "refused"])


@dataclass(frozen=True, slots=True)
class BundleRow:
    """One bundle of a source, and in what way it differs from what is here."""

    item: GitSourceItem
    difference: Drift | None


@dataclass(frozen=True, slots=True)
class SourcePage:
    """One source. `rows` has those that differ first; `next_look_at` is None where one is at work or due."""

    source: GitSource
    rows: list[BundleRow]
    differing: int
    next_look_at: datetime | None
    is_looking: bool
    incident: Incident | None


def list_source_rows() -> list[GitSource]:
    """All of them, in the order in which they came, in one query; with how many `bundles` they have, how many of these
    are `troubled` (refused, held or left alone, or removed at the source and still given to agents here), and whether
    there is an open incident: `has_incident`."""
    readable = Capability.objects.filter(status__in=LOADABLE_STATUSES).values("capability_id")
    gone = Q(
        items__upstream_state=GitSourceItem.UpstreamState.GONE,
        items__is_managed=True,
        items__capability_id__in=readable,
    )
    found = GitSource.objects.annotate(
        bundles=Count("items"),
        troubled=Count("items", filter=_TROUBLED | gone),
        has_incident=Exists(Incident.objects.filter(kind="source", source_id=OuterRef("pk"), closed_at__isnull=True)),
    )
    return list(found.order_by("pk"))


def get_source_page(source_id: int) -> SourcePage:
    """Raises `NotFound`. The source is not contacted: differences are those of its last sync."""
    source = get_source(source_id)
    differences = {(one.path, one.capability_id): one for one in get_stored_drift(source)}
    rows = [BundleRow(item, differences.get((item.path, item.capability_id))) for item in source.items.all()]
    rows.sort(key=lambda row: (row.difference is None, row.item.path))
    job = Job.objects.filter(dedupe_key=sync_job_key(source), state__in=["queued", "running"]).first()
    is_looking = job is not None and (job.state == Job.State.RUNNING or job.run_after <= timezone.now())
    return SourcePage(
        source=source,
        rows=rows,
        differing=len(differences),
        next_look_at=job.run_after if job is not None and not is_looking else None,
        is_looking=is_looking,
        incident=find_open_incident(source),
    )


def list_publishing_sources(capability_id: str) -> list[str]:
    """The addresses of the sources that publish what they have of this capability."""
    found = GitSource.objects.filter(
        mode=GitSource.Mode.PUBLISH, items__capability_id=capability_id, items__is_managed=True
    )
    return [source.spec for source in found.distinct()]


def capabilities_of_source(source_id: int) -> Sequence[str]:
    """The ids of the capabilities in the registry that came from the source."""
    found = GitSourceItem.objects.filter(source_id=source_id, is_managed=True).exclude(capability_id="")
    return list(found.order_by("capability_id").values_list("capability_id", flat=True).distinct())
