"""What became of the texts of a review that has ended, and what they changed when it was at work."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from registry.core import audit
from registry.models import AuditEvent, Capability, Release, Review, ReviewEntry, Revision


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """`ending` is the entry that ended the review. `live` is the number of the revision that the capability points at
    now, None for none; `status` is the capability's. `rollback` is the row of the audit log by which readers were
    moved from the published revision back to `live`, None where they were not."""

    ending: ReviewEntry | None
    live: int | None
    status: str
    rollback: AuditEvent | None = None


def get_outcome(review: Review) -> ReviewOutcome:
    """What is true now of a review that has ended."""
    capability = review.capability
    live = capability.published_revision.number if capability.published_revision else None
    ending = review.entries.filter(kind=review.state).last()
    is_older = review.revision is not None and live is not None and live < review.revision
    rollback = _find_rollback(capability, live) if is_older and live is not None else None
    return ReviewOutcome(ending, live, capability.status, rollback)


def _find_rollback(capability: Capability, to: int) -> AuditEvent | None:
    return audit.find_last(capability.capability_id, "capability.rollback", detail__to=to)


def find_base(review: Review) -> Revision | None:
    """What readers had before a review that has ended: before its texts were published, else when they were submitted.
    None where they had nothing."""
    releases = Release.objects.filter(capability=review.capability)
    if review.state != Review.State.PUBLISHED or review.revision is None:
        return _newest(releases.filter(at__lte=review.requested_at))
    first = releases.filter(revision__number=review.revision).first()
    if first is None:
        return None
    return _newest(releases.filter(registry_revision__lt=first.registry_revision))


def _newest(releases: QuerySet[Release]) -> Revision | None:
    found = releases.select_related("revision").last()
    return found.revision if found is not None else None


def find_discard(capability: Capability) -> AuditEvent | None:
    """Who discarded the draft of a capability and when; None where it has a draft, or never had one discarded."""
    if capability.drafts.filter(discarded_at__isnull=True).exists():
        return None
    return audit.find_last(capability.capability_id, "draft.discard")
