"""What the overview of a capability says about its use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

from registry.core import audit
from registry.models import AuditEvent, Capability, LoadCount
from registry.usage.confidence import ConfidenceScore
from registry.usage.feedback import get_stored_confidence
from registry.usage.revision_health import OutcomeCounts, count_outcomes_by_revision

DAYS: Final = 30
_HIGH_FROM: Final = 70
_LOW_BELOW: Final = 40
_STATUS_VERBS: Final = {
    "deprecated": "capability.deprecate",
    "retired": "capability.retire",
    "quarantined": "capability.quarantine",
}
Level = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class CapabilityUse:
    """Loads of the last `DAYS` days (UTC), today included, and of the `DAYS` before; `keys` counts the API keys of the
    last ones. Outcomes and confidence are of all time."""

    by_day: Sequence[int]
    loads: int
    before: int
    keys: int
    outcomes: OutcomeCounts
    confidence: ConfidenceScore

    @property
    def change_percent(self) -> int | None:
        """Against the days before; None where there were no loads."""
        return round(100 * (self.loads - self.before) / self.before) if self.before else None

    @property
    def succeeded_percent(self) -> int | None:
        """Of the outcomes that are known; None where none is."""
        return None if self.outcomes.failure_percent is None else 100 - self.outcomes.failure_percent

    @property
    def level(self) -> Level:
        """The confidence in a word."""
        percent = self.confidence.percent
        return "high" if percent >= _HIGH_FROM else "low" if percent < _LOW_BELOW else "medium"


def find_status_event(capability: Capability) -> AuditEvent | None:
    """By whom, when and why it was deprecated, retired or quarantined; None where it is none of these."""
    verb = _STATUS_VERBS.get(capability.status)
    return audit.find_last(capability.capability_id, verb) if verb else None


def describe_use(capability: Capability) -> CapabilityUse:
    """In three queries. What was counted in the last seconds may be missing."""
    last = datetime.now(UTC).date()
    first, earliest = last - timedelta(days=DAYS - 1), last - timedelta(days=2 * DAYS - 1)
    found = LoadCount.objects.filter(capability_id=capability.capability_id, day__gte=earliest, day__lte=last)
    days: Counter[date] = Counter()
    keys: set[str] = set()
    for day, key_name, count in found.order_by().values_list("day", "key_name", "count"):
        days[day] += count
        if day >= first and key_name:
            keys.add(key_name)
    by_day = [days[first + timedelta(days=n)] for n in range(DAYS)]
    outcomes = count_outcomes_by_revision([capability.pk]).get(capability.pk, {}).values()
    return CapabilityUse(
        by_day=by_day,
        loads=sum(by_day),
        before=sum(days.values()) - sum(by_day),
        keys=len(keys),
        outcomes=sum(outcomes, OutcomeCounts()),
        confidence=get_stored_confidence(capability),
    )
