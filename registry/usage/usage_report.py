"""What is loaded how often, by capability, by revision and by key; what is not loaded at all; and who came first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Max, QuerySet, Sum

from registry.core.queries import LOADABLE_STATUSES
from registry.models import AgentKey, Capability, LoadCount
from registry.usage.rollup import RETENTION_DAYS

PERIODS: Final = (7, 30, 90, 365)
# What a row of the table represents, and the columns that make it.
VIEWS: Final = {"capability": ("capability_id",), "revision": ("capability_id", "revision"), "key": ("key_name",)}
SORTS: Final = ("loads", "name", "others", "last")


@dataclass(frozen=True, slots=True)
class RequestedCapability:
    """`days` is one of `PERIODS`, `by` one of `VIEWS`, `sort` one of `SORTS`, downwards with `-`; empty `capability_id`
    or `key_name` is any."""

    days: int = 30
    by: str = "capability"
    sort: str = "-loads"
    capability_id: str = ""
    key_name: str | None = None

    @property
    def since(self) -> date:
        """The first day (UTC). Beyond 90 days loads are kept by month, on its first day: the period begins with one."""
        since = datetime.now(UTC).date() - timedelta(days=self.days - 1)
        return since.replace(day=1) if self.days > RETENTION_DAYS else since


@dataclass(frozen=True, slots=True)
class UsageRow:
    """`others` counts what else took part: keys of a capability or a revision, capabilities of a key. A public read has
    an empty `key_name`."""

    capability_id: str
    revision: int | None
    key_name: str | None
    loads: int
    others: int
    last_day: date


def _counted(asked: RequestedCapability) -> QuerySet[LoadCount]:
    found = LoadCount.objects.filter(day__gte=asked.since).order_by()
    if asked.capability_id:
        found = found.filter(capability_id=asked.capability_id)
    if asked.key_name is not None:
        found = found.filter(key_name=asked.key_name)
    return found


def list_usage_rows(asked: RequestedCapability) -> list[UsageRow]:
    """The loads of a period, grouped and sorted as asked; one query."""
    columns = VIEWS[asked.by]
    other = "capability_id" if asked.by == "key" else "key_name"
    rows = _counted(asked).values(*columns).annotate(
        loads=Sum("count"), others=Count(other, distinct=True), last_day=Max("day")
    )  # fmt: skip
    found = sorted((_row(row) for row in rows), key=_name)
    # Rows that are equal stay in the order of their names.
    return sorted(found, key=_ORDERS[asked.sort.removeprefix("-")], reverse=asked.sort.startswith("-"))


def _row(row: dict[str, Any]) -> UsageRow:
    return UsageRow(
        row.get("capability_id", ""),
        row.get("revision"),
        row.get("key_name"),
        row["loads"],
        row["others"],
        row["last_day"],
    )


def _name(row: UsageRow) -> tuple[str, str, int]:
    return (row.capability_id, row.key_name or "", row.revision or 0)


_ORDERS: Final = {
    "loads": lambda row: row.loads,
    "name": _name,
    "others": lambda row: row.others,
    "last": lambda row: row.last_day,
}


def list_keys_by_revision(capability_id: str, *, days: int = 30) -> dict[int, list[str]]:
    """Who has loaded each revision in the last days, most loads first; an empty name is a public read. One query."""
    asked = RequestedCapability(days=days, capability_id=capability_id)
    found: dict[int, list[str]] = {}
    rows = _counted(asked).values_list("revision", "key_name").annotate(loads=Sum("count"))
    for revision, key_name, _ in rows.order_by("-loads", "key_name"):
        found.setdefault(revision, []).append(key_name)
    return found


def count_loads_by_day(asked: RequestedCapability) -> list[tuple[date, int]]:
    """Every day of the period, or every month's first day beyond what is kept by day, zeros included."""
    counted = dict(_counted(asked).values_list("day").annotate(Sum("count")))
    today = datetime.now(UTC).date()
    if asked.days <= RETENTION_DAYS:
        days = [asked.since + timedelta(days=n) for n in range((today - asked.since).days + 1)]
        return [(day, counted.get(day, 0)) for day in days]
    months: dict[date, int] = {}
    month = asked.since
    while month <= today:
        months[month] = 0
        month = (month + timedelta(days=31)).replace(day=1)
    for day, count in counted.items():
        months[day.replace(day=1)] += count
    return list(months.items())


@dataclass(frozen=True, slots=True)
class StillLoaded:
    """A deprecated capability that a key goes on loading; an empty `key_name` is a public read."""

    capability_id: str
    replaced_by: str
    key_name: str
    loads: int
    last_day: date


def list_deprecated_loads(asked: RequestedCapability) -> list[StillLoaded]:
    """Who still loads what is on its way out, the most loads first; two queries."""
    rows = Capability.objects.filter(status=Capability.Status.DEPRECATED)
    replaced = dict(rows.values_list("capability_id", "replaced_by__capability_id"))
    counted = _counted(asked).filter(capability_id__in=rows.values("capability_id"))
    found = counted.values_list("capability_id", "key_name").annotate(Sum("count"), Max("day"))
    told = [StillLoaded(name, replaced.get(name) or "", key, loads, last) for name, key, loads, last in found]
    return sorted(told, key=lambda one: (-one.loads, one.capability_id, one.key_name))


def list_unused(asked: RequestedCapability) -> Sequence[str]:
    """The ids of what can be loaded and was not in the period, in order; what was published within it counts too."""
    loaded = LoadCount.objects.filter(day__gte=asked.since).values("capability_id")
    found = Capability.objects.filter(status__in=LOADABLE_STATUSES).exclude(capability_id__in=loaded)
    return list(found.order_by("capability_id").values_list("capability_id", flat=True))


@dataclass(frozen=True, slots=True)
class FirstLoad:
    """An empty `key_name` is a public read; `at` is when that key was last used, and None where that is unknown."""

    key_name: str
    at: datetime | None


def find_first_load(capability_id: str, revision: int) -> FirstLoad | None:
    """Who has loaded a revision, the first that was counted. A count is in the database about a second after the load
    (registry/snapshot/watcher.py)."""
    found = LoadCount.objects.filter(capability_id=capability_id, revision=revision).order_by("pk")
    key_name = found.values_list("key_name", flat=True).first()
    if key_name is None:
        return None
    return FirstLoad(key_name, AgentKey.objects.filter(name=key_name).values_list("last_used_at", flat=True).first())
