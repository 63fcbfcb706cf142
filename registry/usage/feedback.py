"""Feedback of agents (docs/contract.md 4): the stored events, and the confidence that results from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count
from django.utils import timezone

from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, InvalidRequest
from registry.core import audit
from registry.core.queries import LOADABLE_STATUSES, find_revision
from registry.core.rows import get_row, update_row
from registry.core.transactions import bump_feedback_revision, write_transaction
from registry.models import Capability, Confidence, FeedbackEvent
from registry.usage.confidence import NEUTRAL, OUTCOMES, STEPS, ConfidenceScore, remaining_step
from registry.usage.reporting_keys import find_only_keys

_WHOLE = 0
# Whose outcomes of these days count as those of other keys.
OTHER_KEYS_DAYS: Final = 30


@dataclass(frozen=True)
class FeedbackResult:
    """`score` is the capability's after the event."""

    capability_id: str
    event_id: UUID
    score: ConfidenceScore


def record_outcome(*, capability_id: str, outcome: str, by: Actor, revision: int | None = None) -> FeedbackResult:
    """Store how a use of a capability ended, and update its confidence; `revision` is the published one by default.

    Raises `InvalidRequest` for an unknown outcome, `CapabilityNotFound` for what agents cannot load, and
    `RevisionNotFound`.
    """
    if outcome not in OUTCOMES:
        raise InvalidRequest(f"outcome must be one of {', '.join(OUTCOMES)}")
    with write_transaction() as state:
        capability = _loadable(capability_id)
        used = find_revision(capability, number=revision) if revision is not None else capability.published_revision
        number = used.number if used is not None else 0
        step = _step_of_key(capability, outcome, by.name)
        event = FeedbackEvent.objects.create(
            capability=capability, revision=number, outcome=outcome, key_name=by.name, step=step
        )
        score = replace(
            _move(capability, _WHOLE, outcome, step), is_single_key=capability.pk in find_only_keys([capability.pk])
        )
        _move(capability, number, outcome, step)
        bump_feedback_revision(state)
        detail = {"outcome": outcome, "revision": number, "event_id": str(event.event_id)}
        if step is not None:
            detail["step"] = step
        audit.record(by=by, verb="feedback.record", subject=capability_id, detail=detail)
    return FeedbackResult(capability_id, event.event_id, score)


def _loadable(capability_id: str) -> Capability:
    found = Capability.objects.filter(capability_id=capability_id, status__in=LOADABLE_STATUSES)
    return get_row(found.select_related("published_revision"), CapabilityNotFound(capability_id))


def _step_of_key(capability: Capability, outcome: str, key_name: str) -> int | None:
    """What the outcome still moves the score by; None for its whole step.

    Where several keys report, none of them makes the score by itself. The only key that reports has nobody to drown
    out: a fleet of agents often has one key.
    """
    now = timezone.now()
    of_capability = FeedbackEvent.objects.filter(capability=capability)
    others = of_capability.filter(at__gt=now - timedelta(days=OTHER_KEYS_DAYS)).exclude(key_name=key_name)
    if not others.exists():
        return None
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    up = down = 0
    today = of_capability.filter(key_name=key_name, at__gte=midnight).order_by()
    for earlier, stored, count in today.values_list("outcome", "step").annotate(count=Count("id")):
        moved = count * (STEPS[earlier] if stored is None else stored)
        up, down = up + max(0, moved), down - min(0, moved)
    step = remaining_step(outcome, moved_up=up, moved_down=down)
    return None if step == STEPS[outcome] else step


def _move(capability: Capability, revision: int, outcome: str, step: int | None) -> ConfidenceScore:
    row, _ = Confidence.objects.get_or_create(capability=capability, revision=revision)
    score = _score(row).after(outcome, step)
    update_row(row, percent=score.percent, uses=score.uses, confirmed=score.confirmed)
    return score


def _score(row: Confidence) -> ConfidenceScore:
    return ConfidenceScore(row.percent, row.uses, row.confirmed)


def get_stored_confidence(capability: Capability) -> ConfidenceScore:
    """As it was kept with the last event: what all events lead to, without reading them."""
    row = Confidence.objects.filter(capability=capability, revision=_WHOLE).first()
    return _score(row) if row is not None else NEUTRAL
