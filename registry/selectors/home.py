"""What the first page of the Studio shows: one function per section, each with a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Sum
from django.utils import timezone

from registry.catalog.facets import list_facets
from registry.core.jobs.admin import oldest_due_job
from registry.core.queries import list_open_incidents
from registry.models import (
    Capability,
    Draft,
    Incident,
    LoadCount,
    Proposal,
    Review,
    Revision,
    ScheduledRelease,
)
from registry.publishing.reviews import list_changes_requested, list_reviews
from registry.publishing.scheduled_releases import list_releases
from registry.usage import demand
from registry.usage.revision_health import Regression, find_regressions

SHOWN_MAX: Final = 5
LOAD_DAYS: Final = 30
# A worker polls once a second, and beside Celery after ten; the lease of a killed one lasts for a minute.
STALLED_AFTER: Final = timedelta(minutes=2)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DraftSummary:
    """A draft that agents do not see yet; `passes` as it was when it was saved. `saved_by` is an actor as stored.

    `changes_requested` says that a publisher has sent it back.
    """

    capability_id: str
    name: str
    saved_by: str
    saved_at: datetime
    passes: bool
    changes_requested: bool


@dataclass(frozen=True, slots=True)
class RecentPublish:
    """A revision that was published; `created_by` is an actor as stored."""

    capability_id: str
    name: str
    number: int
    note: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class UnmetRequest:
    """An id that agents asked for and that is not published."""

    capability_id: str
    count: int
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class OpenProposal:
    """A bundle that an agent has submitted for review."""

    proposal_id: UUID
    capability_id: str
    key_name: str
    note: str
    created_at: datetime


@dataclass(frozen=True)
class PanelItems(Generic[T]):
    """The first few of a section, and how many there are in all."""

    shown: Sequence[T]
    total: int


@dataclass(frozen=True, slots=True)
class Home:
    """`loads` has every day of the last `LOAD_DAYS` in order, days of UTC, zeros included."""

    incidents: PanelItems[Incident]
    changes_requested: PanelItems[Review]
    reviews: PanelItems[Review]
    releases: PanelItems[ScheduledRelease]
    drafts: PanelItems[DraftSummary]
    publishes: Sequence[RecentPublish]
    misses: Sequence[UnmetRequest]
    loads: Sequence[tuple[date, int]]
    statuses: Mapping[str, int]
    worse: PanelItems[Regression]
    proposals: PanelItems[OpenProposal]
    jobs_wait_since: datetime | None


def build_home(*, viewer: str = "") -> Home:
    """Every section, read now; `viewer` is an actor as stored, whose own drafts come first where they wait for them."""
    return Home(
        incidents=list_incidents(),
        changes_requested=changes_requested(viewer),
        reviews=list_open_reviews(),
        releases=list_scheduled_releases(),
        drafts=list_drafts(),
        publishes=list_recent_publishes(),
        misses=list_unmet_requests(),
        loads=count_loads_by_day(datetime.now(UTC).date()),
        statuses=count_statuses(),
        worse=list_regressions(),
        proposals=list_open_proposals(),
        jobs_wait_since=find_stalled_jobs(timezone.now()),
    )


def find_stalled_jobs(now: datetime) -> datetime | None:
    """Since when some job has been due, where that is long enough to say that no worker runs or keeps up."""
    since = oldest_due_job(now)
    return since if since is not None and now - since > STALLED_AFTER else None


def list_incidents() -> PanelItems[Incident]:
    """What agents could not be given, the latest first."""
    found = list_open_incidents()
    return PanelItems(list(found[:SHOWN_MAX]), found.count())


def changes_requested(viewer: str) -> PanelItems[Review]:
    """Drafts that a publisher has sent back, those that the viewer has submitted first."""
    found = list_changes_requested(first_of=viewer)
    return PanelItems(list(found[:SHOWN_MAX]), found.count())


def list_open_reviews() -> PanelItems[Review]:
    """Drafts that wait for a review, the latest first."""
    found = list_reviews(states=("open",))
    return PanelItems(list(found[:SHOWN_MAX]), found.count())


def list_scheduled_releases() -> PanelItems[ScheduledRelease]:
    """What will be published at a time, the next one first."""
    found = list_releases(waiting=True)
    return PanelItems(list(found[:SHOWN_MAX]), found.count())


def list_drafts() -> PanelItems[DraftSummary]:
    """Drafts that are neither published nor discarded, the latest first."""
    found = Draft.objects.filter(discarded_at__isnull=True).order_by("-saved_at", "-pk")
    columns = ("capability__capability_id", "capability_json", "saved_by", "saved_at", "digest")
    is_sent_back = Exists(list_changes_requested().filter(capability=OuterRef("capability")))
    shown = [
        DraftSummary(capability_id, list_facets(text).name_or(capability_id), by, at, bool(digest), sent_back)
        for capability_id, text, by, at, digest, sent_back in found.values_list(*columns, is_sent_back)[:SHOWN_MAX]
    ]
    return PanelItems(shown, found.count())


def list_recent_publishes() -> list[RecentPublish]:
    """The newest revisions, rollbacks included."""
    rows = Revision.objects.order_by("-pk").values_list(
        "capability__capability_id", "name", "number", "note", "created_by", "created_at"
    )
    return [RecentPublish(*row) for row in rows[:SHOWN_MAX]]


def list_unmet_requests() -> list[UnmetRequest]:
    """The ids that were requested most and are still not published."""
    found = demand.list_unknown_ids().values_list("capability_id", "count", "last_seen_at")
    return [UnmetRequest(*row) for row in found[:SHOWN_MAX]]


def count_loads_by_day(today: date) -> list[tuple[date, int]]:
    """How often anything was loaded on each day of UTC up to `today`."""
    days = [today - timedelta(days=back) for back in range(LOAD_DAYS - 1, -1, -1)]
    counted = LoadCount.objects.filter(day__gte=days[0], day__lte=today).order_by()
    by_day = dict(counted.values_list("day").annotate(Sum("count")))
    return [(day, by_day.get(day, 0)) for day in days]


def count_statuses() -> dict[str, int]:
    """How many capabilities there are of each status, zeros included."""
    found = Capability.objects.order_by().values_list("status").annotate(Count("pk"))
    return dict.fromkeys(Capability.Status.values, 0) | dict(found)


def list_regressions() -> PanelItems[Regression]:
    """Published revisions that fail more often than an earlier one did."""
    found = find_regressions()
    return PanelItems(found[:SHOWN_MAX], len(found))


def list_open_proposals() -> PanelItems[OpenProposal]:
    """Undecided proposals of agents, the latest first."""
    found = Proposal.objects.filter(status=Proposal.Status.DRAFT)
    columns = ("proposal_id", "capability__capability_id", "key_name", "note", "created_at")
    return PanelItems([OpenProposal(*row) for row in found.values_list(*columns)[:SHOWN_MAX]], found.count())
