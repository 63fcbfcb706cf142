"""Feedback of agents (docs/contract.md 4): the stored events, and the confidence that results from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, F, OuterRef, QuerySet
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.catalog import incidents
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound
from registry.core import audit
from registry.core.queries import LOADABLE_STATUSES, find_revision
from registry.core.rows import get_row
from registry.core.transactions import bump_feedback_revision, write_transaction
from registry.models import Capability, Confidence, FeedbackEvent
from registry.usage.confidence import (
    NEUTRAL,
    OUTCOMES,
    STEPS,
    ConfidenceScore,
    ReportedOutcome,
    recount,
    remaining_step,
)
from registry.usage.outcome_reports import ReportedReason, keep_report
from registry.usage.reporting_keys import is_single_key
from registry.usage.revision_health import BAD_OUTCOMES, GOOD_OUTCOMES, OutcomeCounts, fails_in_use

_WHOLE = 0
NOTHING_SAID: Final = ReportedReason()
# Whose outcomes of these days count as those of other keys.
OTHER_KEYS_DAYS: Final = 30


@dataclass(frozen=True)
class FeedbackResult:
    """`score` is the capability's after the event."""

    capability_id: str
    event_id: UUID
    score: ConfidenceScore


def record_outcome(
    *, capability_id: str, outcome: str, by: Actor, revision: int | None = None, said: ReportedReason = NOTHING_SAID
) -> FeedbackResult:
    """Store how a use of a capability ended, and update its confidence; `revision` is the published one by default.
    `said` is why, which nothing else keeps.

    Raises `InvalidRequest` for an unknown outcome, `CapabilityNotFound` for what agents cannot load, and
    `RevisionNotFound`.
    """
    if outcome not in OUTCOMES:
        raise InvalidRequest(f"outcome must be one of {', '.join(OUTCOMES)}")
    # A member has one voice, however many assistants they have; a column is shorter than a username may be.
    voice = by.name[:80]
    with write_transaction() as state:
        capability = _loadable(capability_id)
        used = find_revision(capability, number=revision) if revision is not None else capability.published_revision
        number = used.number if used is not None else 0
        ends_sole_word = _ends_sole_word(capability, voice)
        step = _step_of_key(capability, outcome, voice)
        event = FeedbackEvent.objects.create(
            capability=capability, revision=number, outcome=outcome, key_name=voice, step=step
        )
        score = _recount(capability) if ends_sole_word else _move(capability, number, outcome, step)
        is_single = Capability.objects.filter(is_single_key(OuterRef("pk")), pk=capability.pk).exists()
        score = replace(score, is_single_key=is_single)
        bump_feedback_revision(state)
        detail = {"outcome": outcome, "revision": number, "event_id": str(event.event_id)}
        if step is not None:
            detail["step"] = step
        audit.record(by=by, verb="feedback.record", subject=capability_id, detail=detail)
        keep_report(event, said, by)
        _count_end(capability, number, outcome)
        _follow_failures(capability, number)
    return FeedbackResult(capability_id, event.event_id, score)


def _count_end(capability: Capability, number: int, outcome: str) -> None:
    """Beside the scores, which are there by now: how uses end is read from here, however many there were."""
    kind = "good" if outcome in GOOD_OUTCOMES else "bad" if outcome in BAD_OUTCOMES else ""
    if kind:
        capability.confidences.filter(revision__in=(_WHOLE, number)).update(**{kind: F(kind) + 1})


def _follow_failures(capability: Capability, number: int) -> None:
    """Open an incident where the published revision fails in use now, and close it where it no longer does."""
    published = capability.published_revision
    if published is None or published.number != number:
        return
    row = capability.confidences.get(revision=number)
    counts = OutcomeCounts(row.good, row.bad)
    if fails_in_use(counts):
        incidents.open_use_incident(revision=published, bad=counts.bad, known=counts.known)
    else:
        incidents.close_incidents(capability, kind="use")


def _loadable(capability_id: str) -> Capability:
    found = Capability.objects.filter(capability_id=capability_id, status__in=LOADABLE_STATUSES)
    return get_row(found.select_related("published_revision"), CapabilityNotFound(capability_id))


def _step_of_key(capability: Capability, outcome: str, key_name: str) -> int | None:
    """What the outcome still moves the score by; None for its whole step.

    Where several keys report, none of them makes the score by itself. The only key that reports has nobody to drown
    out, until another one reports (`_recount`): a fleet of agents often has one key.
    """
    now = timezone.now()
    of_capability = FeedbackEvent.objects.filter(capability=capability)
    if _is_alone(of_capability, key_name, now):
        return None
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    up = down = 0
    today = of_capability.filter(key_name=key_name, at__gte=midnight).order_by()
    for earlier, stored, count in today.values_list("outcome", "step").annotate(count=Count("id")):
        moved = count * (STEPS[earlier] if stored is None else stored)
        up, down = up + max(0, moved), down - min(0, moved)
    step = remaining_step(outcome, moved_up=up, moved_down=down)
    return None if step == STEPS[outcome] else step


def _is_alone(reported: QuerySet[FeedbackEvent], key_name: str, at: datetime) -> bool:
    """Whether no other key has reported in the days before."""
    recent = reported.filter(at__gt=at - timedelta(days=OTHER_KEYS_DAYS))
    # Either side of it by the index: what it has reported itself is not read.
    return not (recent.filter(key_name__lt=key_name).exists() or recent.filter(key_name__gt=key_name).exists())


def _ends_sole_word(capability: Capability, key_name: str) -> bool:
    """Whether the outcomes up to now have the full weight of another key that reported alone."""
    reported = FeedbackEvent.objects.filter(capability=capability)
    last = reported.order_by("-id").first()
    return last is not None and last.key_name != key_name and _is_alone(reported, last.key_name, last.at)


def _recount(capability: Capability) -> ConfidenceScore:
    """What all outcomes lead to by the share of a day that each key has: what one of them reported while it was alone
    would outweigh all that the others say from now on."""
    columns = ("revision", "outcome", "key_name", "at")
    rows = FeedbackEvent.objects.filter(capability=capability).order_by("id").values_list(*columns)
    reports = (
        ReportedOutcome(number, outcome, key, at.astimezone(UTC).date())
        for number, outcome, key, at in rows.iterator(chunk_size=5000)
    )
    scores = recount(reports)
    for revision, score in scores.items():
        _store(capability, revision, score)
    return scores[_WHOLE]


def _move(capability: Capability, number: int, outcome: str, step: int | None) -> ConfidenceScore:
    """The scores of the capability, which is returned, and of a revision after one more outcome."""
    kept = {row.revision: _score(row) for row in capability.confidences.filter(revision__in=(_WHOLE, number))}
    scores = {revision: kept.get(revision, NEUTRAL).after(outcome, step) for revision in (_WHOLE, number)}
    for revision, score in scores.items():
        _store(capability, revision, score)
    return scores[_WHOLE]


def _store(capability: Capability, revision: int, score: ConfidenceScore) -> None:
    values = {"percent": score.percent, "uses": score.uses, "confirmed": score.confirmed}
    Confidence.objects.update_or_create(capability=capability, revision=revision, defaults=values)


def _score(row: Confidence) -> ConfidenceScore:
    return ConfidenceScore(row.percent, row.uses, row.confirmed)


def get_stored_confidence(capability: Capability) -> ConfidenceScore:
    """As it was kept with the last event: what all events lead to, without reading them."""
    row = Confidence.objects.filter(capability=capability, revision=_WHOLE).first()
    return _score(row) if row is not None else NEUTRAL
