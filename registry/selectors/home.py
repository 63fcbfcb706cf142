"""What the first page of the Studio shows: one function per section, each with a fixed number of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from django.db.models import Count, OuterRef, Q, Subquery, Sum
from django.utils import timezone

from registry.catalog.facets import find_display_names
from registry.core.events import TIMELINE_VERBS
from registry.core.jobs.admin import oldest_due_job
from registry.models import AuditEvent, Capability, Incident, LoadCount, MatchCount, Operator, Release
from registry.models.usage import UnknownCapabilityRequest
from registry.selectors import inbox
from registry.selectors.inbox import Inbox
from registry.usage import demand
from registry.usage.revision_health import find_failing

SHOWN_MAX: Final = 5
ACTIVITY_MAX: Final = 6
DAYS: Final = 30
# What the chart of loads can show.
CHART_DAYS: Final = (DAYS, 90)
# A worker polls once a second, and beside Celery after ten; the lease of a killed one lasts for a minute.
STALLED_AFTER: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Activity:
    """A row of the audit log, and the name of the capability that it is about."""

    event: AuditEvent
    name: str


@dataclass(frozen=True, slots=True)
class MatchesOfDay:
    """Messages that agents asked about on a day, and those of them that led to a capability."""

    asked: int
    matched: int


@dataclass(frozen=True, slots=True)
class Home:
    """Values by day are of days of UTC, in order, zeros included.

    `loads` has twice the days of the chart; `published` and `failing` have the last `DAYS`, after one that says how it
    was before them.
    """

    inbox: Inbox
    loads: Sequence[tuple[date, int]]
    matched: Sequence[MatchesOfDay]
    published: Sequence[int]
    failing: Sequence[int]
    released: Mapping[date, int]
    activity: Sequence[Activity]
    misses: Sequence[UnknownCapabilityRequest]
    is_empty: bool
    jobs_wait_since: datetime | None


def build_home(*, viewer: Operator, today_ends: datetime, chart_days: int = DAYS) -> Home:
    """Every section for one person, read now; `today_ends` is the end of their day, `chart_days` of `CHART_DAYS`."""
    today = datetime.now(UTC).date()
    statuses = count_statuses()
    failing = find_failing()
    released = list_releases_since(today - timedelta(days=chart_days - 1))
    first_day = today - timedelta(days=DAYS - 1)
    releases = [release for release in released if release[2].date() >= first_day]
    return Home(
        inbox=inbox.build_inbox(viewer, today_ends=today_ends, failing=failing),
        loads=count_loads_by_day(today, chart_days),
        matched=count_matches_by_day(today),
        published=count_published_by_day(today, statuses[Capability.Status.PUBLISHED], releases),
        failing=count_failing_by_day(today),
        released=Counter(at.date() for _, status, at in released if status == Capability.Status.PUBLISHED),
        activity=list_activity(),
        misses=list_unmet_requests(),
        is_empty=not any(statuses.values()),
        jobs_wait_since=find_stalled_jobs(timezone.now()),
    )


def find_stalled_jobs(now: datetime) -> datetime | None:
    """Since when some job has been due, where that is long enough to say that no worker runs or keeps up."""
    since = oldest_due_job(now)
    return since if since is not None and now - since > STALLED_AFTER else None


def list_activity() -> list[Activity]:
    """What happened to capabilities, the latest first: what everybody can read in their history."""
    events = list(AuditEvent.objects.filter(verb__in=TIMELINE_VERBS).order_by("-id")[:ACTIVITY_MAX])
    names = find_display_names({event.subject for event in events})
    return [Activity(event, names.get(event.subject, event.subject)) for event in events]


def list_unmet_requests() -> list[UnknownCapabilityRequest]:
    """The ids that were requested most and are still not published."""
    return list(demand.list_unknown_ids()[:SHOWN_MAX])


def _days(today: date, number: int) -> list[date]:
    return [today - timedelta(days=back) for back in range(number - 1, -1, -1)]


def count_loads_by_day(today: date, chart_days: int = DAYS) -> list[tuple[date, int]]:
    """How often anything was loaded on each day of UTC up to `today`, for the chart and the period before."""
    days = _days(today, 2 * chart_days)
    counted = LoadCount.objects.filter(day__gte=days[0], day__lte=today).order_by()
    by_day = dict(counted.values_list("day").annotate(Sum("count")))
    return [(day, by_day.get(day, 0)) for day in days]


def count_matches_by_day(today: date) -> list[MatchesOfDay]:
    """How many messages there were on each day of UTC, and how many led to a capability: twice `DAYS`, in order."""
    days = _days(today, 2 * DAYS)
    rows = MatchCount.objects.filter(day__gte=days[0], day__lte=today).values_list("day", "decision", "count")
    asked: Counter[date] = Counter()
    matched: Counter[date] = Counter()
    for day, decision, count in rows:
        asked[day] += count
        matched[day] += count if decision == "match" else 0
    return [MatchesOfDay(asked[day], matched[day]) for day in days]


def count_statuses() -> dict[str, int]:
    """How many capabilities there are of each status, zeros included."""
    found = Capability.objects.order_by().values_list("status").annotate(Count("pk"))
    return dict.fromkeys(Capability.Status.values, 0) | dict(found)


def list_releases_since(day: date) -> list[tuple[str, str, datetime]]:
    """`(capability_id, status, at)` of what agents were given since then, the latest first."""
    since = datetime.combine(day, datetime.min.time(), UTC)
    found = Release.objects.filter(at__gte=since).order_by("-registry_revision")
    return list(found.values_list("capability__capability_id", "status", "at"))


def count_published_by_day(today: date, now: int, releases: Sequence[tuple[str, str, datetime]]) -> list[int]:
    """How many were published at the end of each day, from what is published now and the releases since."""
    days = _days(today, DAYS)
    since = datetime.combine(days[0], datetime.min.time(), UTC)
    earlier = Release.objects.filter(capability=OuterRef("pk"), at__lt=since).order_by("-registry_revision")
    changed = Capability.objects.filter(pk__in=Release.objects.filter(at__gte=since).order_by().values("capability"))
    before = dict(changed.values_list("capability_id", Subquery(earlier.values("status")[:1])))
    change: Counter[date] = Counter()
    published = {name: status == Capability.Status.PUBLISHED for name, status in before.items()}
    for name, status, at in reversed(releases):
        is_published = status == Capability.Status.PUBLISHED
        change[at.astimezone(UTC).date()] += is_published - published.get(name, False)
        published[name] = is_published
    counts = [now]
    for day in reversed(days):
        counts.append(counts[-1] - change[day])
    return counts[::-1]


def count_failing_by_day(today: date) -> list[int]:
    """How many incidents were open at the end of each day."""
    days = [today - timedelta(days=DAYS), *_days(today, DAYS)]
    since = datetime.combine(days[1], datetime.min.time(), UTC)
    found = Incident.objects.filter(Q(closed_at__isnull=True) | Q(closed_at__gte=since))
    rows = [
        (opened.date(), closed.date() if closed else None)
        for opened, closed in found.values_list("first_seen_at", "closed_at")
    ]
    return [sum(opened <= day and (closed is None or closed > day) for opened, closed in rows) for day in days]
