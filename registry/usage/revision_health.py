"""Health of capabilities by their outcomes: each revision alone, over time, and against the one before."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import sqrt
from typing import Final

from django.db.models import Count, F, Q
from django.utils import timezone

from capability_kit.outcome_reports import FAILURES
from registry.catalog.facets import FacetRow, get_facets
from registry.core.queries import LOADABLE_STATUSES
from registry.models import Capability, Confidence, FeedbackEvent, Incident, Revision
from registry.usage.confidence import NEUTRAL, ConfidenceScore
from registry.usage.reporting_keys import find_only_keys

GOOD_OUTCOMES: Final = ("confirmed_success", "likely_success")
BAD_OUTCOMES: Final = FAILURES
# Fewer good or bad outcomes than this are not significant for a revision.
OUTCOMES_MIN: Final = 5
# A revision does worse where, in 95 of 100 cases, its share of failures is higher than the other's by more than this.
MARGIN: Final = 0.05
_Z: Final = 1.645
TREND_DAYS: Final = 30
# What is published fails in use where so many of its ends are known, and in 95 of 100 cases more than this share of
# them are failures.
KNOWN_MIN: Final = 8
FAILURES_SHARE: Final = 0.2
EVENTS_SHOWN_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """Outcomes of a revision: `good` and `bad` ones, and uses without a known outcome."""

    good: int = 0
    bad: int = 0
    used: int = 0

    def __add__(self, other: OutcomeCounts) -> OutcomeCounts:
        return OutcomeCounts(self.good + other.good, self.bad + other.bad, self.used + other.used)

    @property
    def known(self) -> int:
        """How many ends are known."""
        return self.good + self.bad

    @property
    def total(self) -> int:
        """All uses, with a known outcome or without."""
        return self.known + self.used

    @property
    def failure_percent(self) -> int | None:
        """Of the ends that are known; None where none is."""
        return round(100 * self.bad / self.known) if self.known else None


def count_outcomes(counted: Mapping[str, int]) -> OutcomeCounts:
    """Of `{outcome: how many}`."""
    return OutcomeCounts(
        sum(counted.get(one, 0) for one in GOOD_OUTCOMES),
        sum(counted.get(one, 0) for one in BAD_OUTCOMES),
        counted.get("used", 0),
    )


def is_regression(newer: OutcomeCounts, older: OutcomeCounts) -> bool:
    """Whether the newer one fails more often, and not by chance (Wilson's lower bound, one-sided 95 %)."""
    if min(newer.known, older.known) < OUTCOMES_MIN:
        return False
    return _lower_bound(newer.bad, newer.known) > older.bad / older.known + MARGIN


def _lower_bound(hits: int, of: int) -> float:
    share, square = hits / of, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    return (share + square / (2 * of) - spread) / (1 + square / of)


@dataclass(frozen=True, slots=True)
class Regression:
    """The published revision fails more often than an earlier one: `number` against `before`."""

    capability_id: str
    number: int
    before: int
    newer: OutcomeCounts
    older: OutcomeCounts
    # The name of the key that has reported all outcomes of the newer one, where it is one: its word alone.
    only_key: str = ""


def find_regressions(keys: Collection[int] | None = None) -> list[Regression]:
    """Where the published revision does worse than the nearest earlier one of which enough is known; by id.

    `keys` limits it to these capabilities (row ids). Four queries at most, whatever there is.
    """
    found = Capability.objects.filter(status__in=LOADABLE_STATUSES, published_revision__number__gt=1)
    # Only where what is published has enough feedback is the rest counted.
    told = Confidence.objects.filter(revision=F("capability__published_revision__number"), uses__gte=OUTCOMES_MIN)
    found = found.filter(pk__in=told.values("capability"))
    found = found if keys is None else found.filter(pk__in=keys)
    rows = list(found.order_by("capability_id").values_list("pk", "capability_id", "published_revision__number"))
    figures = count_outcomes_by_revision([pk for pk, _, _ in rows])
    compared = ((pk, _worse(name, number, figures.get(pk, {}))) for pk, name, number in rows)
    worse = {pk: one for pk, one in compared if one is not None}
    only = find_only_keys(worse.keys(), {pk: one.number for pk, one in worse.items()}) if worse else {}
    return [replace(one, only_key=only.get(pk, "")) for pk, one in worse.items()]


def _worse(capability_id: str, number: int, figures: Mapping[int, OutcomeCounts]) -> Regression | None:
    newer = figures.get(number, OutcomeCounts())
    before = max((n for n, one in figures.items() if n < number and one.known >= OUTCOMES_MIN), default=None)
    if before is None or not is_regression(newer, figures[before]):
        return None
    return Regression(capability_id, number, before, newer, figures[before])


def count_outcomes_by_revision(keys: Collection[int]) -> dict[int, dict[int, OutcomeCounts]]:
    """`{capability's row id: {revision: counts}}` in one query, of a row a revision that has feedback."""
    counted: dict[int, dict[int, OutcomeCounts]] = defaultdict(dict)
    rows = Confidence.objects.filter(capability__in=keys, revision__gt=0).order_by("revision")
    for pk, number, uses, good, bad in rows.values_list("capability_id", "revision", "uses", "good", "bad"):
        counted[pk][number] = OutcomeCounts(good, bad, uses - good - bad)
    return counted


def recount_ends() -> None:
    """Count the successes and failures of all scores by their events: rows of an older version are without them."""
    counted: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    rows = FeedbackEvent.objects.order_by().values_list("capability_id", "revision", "outcome")
    for pk, number, outcome, count in rows.annotate(Count("pk")):
        for revision in (0, number):
            counted[pk, revision][outcome] += count
    scores = list(Confidence.objects.all())
    for row in scores:
        counts = count_outcomes(counted[row.capability_id, row.revision])
        row.good, row.bad = counts.good, counts.bad
    Confidence.objects.bulk_update(scores, ["good", "bad"], batch_size=500)


def fails_in_use(counts: OutcomeCounts) -> bool:
    """Whether more uses fail than may, and not by chance (Wilson's lower bound, one-sided 95 %)."""
    return counts.known >= KNOWN_MIN and _lower_bound(counts.bad, counts.known) > FAILURES_SHARE


@dataclass(frozen=True, slots=True)
class FailingCapability:
    """The published revision fails in use: `failed` of its `known` ends, which has an incident `since` then."""

    capability_id: str
    number: int
    failed: int
    known: int
    since: datetime
    only_key: str = ""


def find_failing() -> list[FailingCapability]:
    """What fails in use, by its own figures, so that a first release counts too; by id.

    What has an open incident of that: two queries, and one more where there is any.
    """
    open_ones = Incident.objects.filter(
        kind=Incident.Kind.USE,
        closed_at__isnull=True,
        capability__status__in=LOADABLE_STATUSES,
        revision=F("capability__published_revision"),
    )
    columns = ("capability", "capability__capability_id", "revision__number", "first_seen_at")
    rows = list(open_ones.order_by("capability__capability_id").values_list(*columns))
    if not rows:
        return []
    only = find_only_keys([pk for pk, *_ in rows], {pk: number for pk, _, number, _ in rows})
    figures = count_outcomes_by_revision([pk for pk, *_ in rows])
    return [
        FailingCapability(name, number, counts.bad, counts.known, since, only.get(pk, ""))
        for pk, name, number, since in rows
        if (counts := figures.get(pk, {}).get(number)) is not None
    ]


@dataclass(frozen=True, slots=True)
class CapabilityHealth:
    """A line of the list; `recent` and `earlier` are the last `TREND_DAYS` days and those before them."""

    capability_id: str
    name: str
    is_playbook: bool
    revision: int
    score: ConfidenceScore
    recent: OutcomeCounts
    earlier: OutcomeCounts
    worse: Regression | None
    only_key: str

    @property
    def trend(self) -> str:
        """`better`, `worse` or `steady`; empty where one of the two periods has too little."""
        now, then = self.recent.failure_percent, self.earlier.failure_percent
        if now is None or then is None:
            return ""
        return "steady" if abs(now - then) < 100 * MARGIN else "better" if now < then else "worse"


SORTS: Final = ("confidence", "uses", "id")


@dataclass(frozen=True, slots=True)
class _RegressionCandidate:
    row: FacetRow
    name: str
    is_playbook: bool
    score: ConfidenceScore


class CapabilityHealthList:
    """Playbooks, and everything else with feedback, that can be loaded; `rows` reads a part of them."""

    def __init__(self, *, kind: str = "", sort: str = "") -> None:
        """`kind` is `playbook`, `other` or empty for all; the lowest confidence comes first by default."""
        columns = ("pk", "capability_id", "status", "published_revision_id", "draft_counter")
        rows = [FacetRow(*row) for row in Capability.objects.filter(status__in=LOADABLE_STATUSES).values_list(*columns)]
        facets = get_facets(rows)
        kept = Confidence.objects.filter(revision=0)
        figures = kept.values_list("capability_id", "percent", "uses", "confirmed")
        scores: dict[int, ConfidenceScore] = {
            pk: ConfidenceScore(percent, uses, confirmed) for pk, percent, uses, confirmed in figures
        }
        found = [
            _RegressionCandidate(
                row,
                facets[row.key].name or row.capability_id,
                facets[row.key].profile == "playbook",
                scores.get(row.key, NEUTRAL),
            )
            for row in rows
        ]
        found = [one for one in found if one.is_playbook or one.score.uses]
        if kind:
            found = [one for one in found if one.is_playbook == (kind == "playbook")]
        self._found = sorted(found, key=_ORDERS.get(sort, _ORDERS["confidence"]))

    def __len__(self) -> int:
        return len(self._found)

    def rows(self, *, offset: int, limit: int) -> list[CapabilityHealth]:
        """The number of rows."""
        shown = self._found[offset : offset + limit]
        keys = [one.row.key for one in shown]
        numbers = dict(Capability.objects.filter(pk__in=keys).values_list("pk", "published_revision__number"))
        worse = {one.capability_id: one for one in find_regressions(keys)}
        trends = _trends(keys)
        only = find_only_keys(keys)
        return [
            CapabilityHealth(
                one.row.capability_id,
                one.name,
                one.is_playbook,
                numbers.get(one.row.key) or 0,
                one.score,
                *trends.get(one.row.key, (OutcomeCounts(), OutcomeCounts())),
                worse.get(one.row.capability_id),
                only.get(one.row.key, ""),
            )
            for one in shown
        ]


_ORDERS: Final = {
    "confidence": lambda one: (one.score.percent, -one.score.uses, one.row.capability_id),
    "uses": lambda one: (-one.score.uses, one.row.capability_id),
    "id": lambda one: one.row.capability_id,
}


def _trends(keys: Sequence[int]) -> dict[int, tuple[OutcomeCounts, OutcomeCounts]]:
    if not keys:
        return {}
    now = timezone.now()
    turn, start = now - timedelta(days=TREND_DAYS), now - timedelta(days=2 * TREND_DAYS)
    recent, earlier = Count("pk", filter=Q(at__gte=turn)), Count("pk", filter=Q(at__lt=turn))
    rows = FeedbackEvent.objects.filter(capability__in=keys, at__gte=start).order_by()
    counted: dict[int, tuple[Counter[str], Counter[str]]] = defaultdict(lambda: (Counter(), Counter()))
    for pk, outcome, new, old in rows.values_list("capability", "outcome").annotate(recent=recent, earlier=earlier):
        counted[pk][0][outcome] += new
        counted[pk][1][outcome] += old
    return {pk: (count_outcomes(new), count_outcomes(old)) for pk, (new, old) in counted.items()}


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One event with the confidence that it led to, in hundredths."""

    at: datetime
    outcome: str
    revision: int
    key_name: str
    percent: int

    @property
    def is_good(self) -> bool:
        return self.outcome in GOOD_OUTCOMES

    @property
    def is_bad(self) -> bool:
        return self.outcome in BAD_OUTCOMES


@dataclass(frozen=True, slots=True)
class RevisionHealth:
    """A revision with its own outcomes."""

    number: int
    published_at: datetime | None
    note: str
    score: ConfidenceScore
    figures: OutcomeCounts
    is_published: bool


@dataclass(frozen=True)
class HealthReport:
    """`points` are the last `EVENTS_SHOWN_MAX` events, the oldest first; `revisions` the newest first; `only_key` names
    the key that has reported everything, and is empty where there are several."""

    score: ConfidenceScore
    points: Sequence[TrendPoint]
    revisions: Sequence[RevisionHealth]
    worse: Regression | None
    figures: OutcomeCounts
    only_key: str = ""


def get_health_report(capability: Capability, *, revision: int | None = None) -> HealthReport:
    """Recomputed from the events; with `revision` the points are those of one revision alone."""
    points = _points(capability, revision)
    figures = count_outcomes_by_revision([capability.pk]).get(capability.pk, {})
    published = capability.published_revision.number if capability.published_revision else 0
    worse = _worse(capability.capability_id, published, figures) if capability.status in LOADABLE_STATUSES else None
    if worse is not None:
        only = find_only_keys([capability.pk], {capability.pk: published})
        worse = replace(worse, only_key=only.get(capability.pk, ""))
    whole = Confidence.objects.filter(capability=capability)
    rows = whole.values_list("revision", "percent", "uses", "confirmed")
    scores = {number: ConfidenceScore(percent, uses, confirmed) for number, percent, uses, confirmed in rows}
    return HealthReport(
        score=scores.get(0, NEUTRAL),
        points=points,
        revisions=_revisions(capability, figures, scores, published),
        worse=worse,
        figures=sum(figures.values(), OutcomeCounts()),
        only_key=find_only_keys([capability.pk]).get(capability.pk, ""),
    )


def _points(capability: Capability, revision: int | None) -> list[TrendPoint]:
    events = FeedbackEvent.objects.filter(capability=capability).order_by("id")
    if revision is not None:
        events = events.filter(revision=revision)
    kept: deque[TrendPoint] = deque(maxlen=EVENTS_SHOWN_MAX)
    score = NEUTRAL
    columns = ("at", "outcome", "revision", "key_name", "step")
    for at, outcome, number, key_name, step in events.values_list(*columns).iterator():
        score = score.after(outcome, step)
        kept.append(TrendPoint(at, outcome, number, key_name, score.percent))
    return list(kept)


def _revisions(
    capability: Capability, figures: Mapping[int, OutcomeCounts], scores: Mapping[int, ConfidenceScore], published: int
) -> list[RevisionHealth]:
    rows = Revision.objects.filter(capability=capability).order_by("-number")
    return [
        RevisionHealth(
            number, at, note, scores.get(number, NEUTRAL), figures.get(number, OutcomeCounts()), number == published
        )
        for number, at, note in rows.values_list("number", "created_at", "note")[:EVENTS_SHOWN_MAX]
    ]
