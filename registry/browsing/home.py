"""What the first page of the Studio tells: one function a section, each with a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Generic, TypeVar
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Sum
from django.utils import timezone

from registry.browsing.facets import facets
from registry.figures import due_since
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
from registry.queries import open_incidents
from registry.releases.reviews import list_changes_requested, list_reviews
from registry.releases.schedules import list_releases
from registry.usage import demand
from registry.usage.lifecycle import Worse, worse_revisions

SHOWN_MAX: Final = 5
LOAD_DAYS: Final = 30
# A worker looks once a second, and beside Celery after ten; a lease that a killed one held lasts for a minute.
JOBS_WAIT_AT_LEAST: Final = timedelta(minutes=2)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WaitingDraft:
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
class Publish:
    """A revision that was published; `created_by` is an actor as stored."""

    capability_id: str
    name: str
    number: int
    note: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Miss:
    """An id that agents asked for and that nobody has published."""

    capability_id: str
    count: int
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class OpenProposal:
    """A bundle that an agent has handed in for review."""

    proposal_id: UUID
    capability_id: str
    key_name: str
    note: str
    created_at: datetime


@dataclass(frozen=True)
class Some(Generic[T]):
    """The first few of a section, and how many there are in all."""

    shown: Sequence[T]
    total: int


@dataclass(frozen=True, slots=True)
class Home:
    """`loads` has every day of the last `LOAD_DAYS` in order, days of UTC, zeros included."""

    incidents: Some[Incident]
    changes_requested: Some[Review]
    reviews: Some[Review]
    releases: Some[ScheduledRelease]
    drafts: Some[WaitingDraft]
    publishes: Sequence[Publish]
    misses: Sequence[Miss]
    loads: Sequence[tuple[date, int]]
    statuses: Mapping[str, int]
    worse: Some[Worse]
    proposals: Some[OpenProposal]
    jobs_wait_since: datetime | None


def home(*, viewer: str = "") -> Home:
    """Every section, read now; `viewer` is an actor as stored, whose own drafts come first where they wait for them."""
    return Home(
        incidents=incidents(),
        changes_requested=changes_requested(viewer),
        reviews=open_reviews(),
        releases=planned_releases(),
        drafts=waiting_drafts(),
        publishes=recent_publishes(),
        misses=top_misses(),
        loads=loads_by_day(datetime.now(UTC).date()),
        statuses=statuses(),
        worse=worse(),
        proposals=open_proposals(),
        jobs_wait_since=jobs_wait_since(timezone.now()),
    )


def jobs_wait_since(now: datetime) -> datetime | None:
    """Since when some job has been due, where that is long enough to say that no worker runs or keeps up."""
    since = due_since(now)
    return since if since is not None and now - since > JOBS_WAIT_AT_LEAST else None


def incidents() -> Some[Incident]:
    """What agents could not be given, the latest first."""
    found = open_incidents()
    return Some(list(found[:SHOWN_MAX]), found.count())


def changes_requested(viewer: str) -> Some[Review]:
    """Drafts that a publisher has sent back, those that the viewer has submitted first."""
    found = list_changes_requested(first_of=viewer)
    return Some(list(found[:SHOWN_MAX]), found.count())


def open_reviews() -> Some[Review]:
    """Drafts that wait for somebody to approve them or send them back, the latest first."""
    found = list_reviews(states=("open",))
    return Some(list(found[:SHOWN_MAX]), found.count())


def planned_releases() -> Some[ScheduledRelease]:
    """What will be published at a time, the next one first."""
    found = list_releases(waiting=True)
    return Some(list(found[:SHOWN_MAX]), found.count())


def waiting_drafts() -> Some[WaitingDraft]:
    """Drafts that somebody has not published or discarded, the latest first."""
    found = Draft.objects.filter(discarded_at__isnull=True).order_by("-saved_at", "-pk")
    columns = ("capability__capability_id", "capability_json", "saved_by", "saved_at", "digest")
    is_sent_back = Exists(list_changes_requested().filter(capability=OuterRef("capability")))
    shown = [
        WaitingDraft(capability_id, facets(text).name_or(capability_id), by, at, bool(digest), sent_back)
        for capability_id, text, by, at, digest, sent_back in found.values_list(*columns, is_sent_back)[:SHOWN_MAX]
    ]
    return Some(shown, found.count())


def recent_publishes() -> list[Publish]:
    """The newest revisions, rollbacks included."""
    rows = Revision.objects.order_by("-pk").values_list(
        "capability__capability_id", "name", "number", "note", "created_by", "created_at"
    )
    return [Publish(*row) for row in rows[:SHOWN_MAX]]


def top_misses() -> list[Miss]:
    """The ids that were asked for most and that are still not there."""
    found = demand.misses().values_list("capability_id", "count", "last_seen_at")
    return [Miss(*row) for row in found[:SHOWN_MAX]]


def loads_by_day(today: date) -> list[tuple[date, int]]:
    """How often anything was loaded on each day of UTC up to `today`."""
    days = [today - timedelta(days=back) for back in range(LOAD_DAYS - 1, -1, -1)]
    counted = LoadCount.objects.filter(day__gte=days[0], day__lte=today).order_by()
    by_day = dict(counted.values_list("day").annotate(Sum("count")))
    return [(day, by_day.get(day, 0)) for day in days]


def statuses() -> dict[str, int]:
    """How many capabilities there are of each status, zeros included."""
    found = Capability.objects.order_by().values_list("status").annotate(Count("pk"))
    return dict.fromkeys(Capability.Status.values, 0) | dict(found)


def worse() -> Some[Worse]:
    """Published revisions that fail more often than an earlier one did."""
    found = worse_revisions()
    return Some(found[:SHOWN_MAX], len(found))


def open_proposals() -> Some[OpenProposal]:
    """What agents have handed in and nobody has decided on, the latest first."""
    found = Proposal.objects.filter(status=Proposal.Status.DRAFT)
    columns = ("proposal_id", "capability__capability_id", "key_name", "note", "created_at")
    return Some([OpenProposal(*row) for row in found.values_list(*columns)[:SHOWN_MAX]], found.count())
