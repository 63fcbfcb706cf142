"""Who is affected by a release: who has loaded the capability lately, and how often."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from registry.models import LoadCount

DAYS: Final = 30
KEYS_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class AudienceKey:
    """One key; `key_name` is empty for reads without one. `revision` is the newest that it has loaded."""

    key_name: str
    loads: int
    last_day: date
    revision: int


@dataclass(frozen=True, slots=True)
class Audience:
    """Loads of the last `DAYS` days, today (UTC) included. `readers` are the busiest, `by_day` has every day.

    Reads without a key count as one of the `keys`; `keyless_loads` are theirs.
    """

    loads: int
    keys: int
    keyless_loads: int
    readers: tuple[AudienceKey, ...]
    by_day: tuple[tuple[date, int], ...]


def get_audience(capability_id: str, *, today: date | None = None) -> Audience:
    """In one query. What was counted in the last seconds may be missing."""
    last = today or datetime.now(UTC).date()
    first = last - timedelta(days=DAYS - 1)
    rows = LoadCount.objects.filter(capability_id=capability_id, day__gte=first, day__lte=last)
    loads: Counter[str] = Counter()
    days: Counter[date] = Counter()
    newest: dict[str, tuple[date, int]] = {}
    for day, key_name, revision, count in rows.values_list("day", "key_name", "revision", "count"):
        loads[key_name] += count
        days[day] += count
        seen_day, seen = newest.get(key_name, (day, revision))
        newest[key_name] = (max(seen_day, day), max(seen, revision))
    busiest = sorted(loads.items(), key=lambda item: (-item[1], item[0]))[:KEYS_SHOWN]
    readers = tuple(AudienceKey(name, count, *newest[name]) for name, count in busiest)
    by_day = tuple((first + timedelta(days=n), days[first + timedelta(days=n)]) for n in range(DAYS))
    return Audience(sum(loads.values()), len(loads), loads[""], readers, by_day)
