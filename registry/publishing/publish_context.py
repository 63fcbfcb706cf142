"""What the gate shows of a capability beside its texts: who reads it, who looks at it, and what is planned."""

from __future__ import annotations

from dataclasses import dataclass

from registry.models import Capability, Review, ScheduledRelease
from registry.publishing.audience import Audience, get_audience
from registry.publishing.review_comments import count_open_threads
from registry.publishing.reviews import get_active_review, is_current
from registry.publishing.scheduled_releases import find_pending_release


@dataclass(frozen=True, slots=True)
class PublishContext:
    """`review_is_current` says that the draft is still what was submitted; `open_comments` are those of the review."""

    audience: Audience
    review: Review | None
    review_is_current: bool
    open_comments: int
    release: ScheduledRelease | None


def get_publish_context(capability: Capability) -> PublishContext:
    """The registry's current state."""
    review = get_active_review(capability)
    return PublishContext(
        audience=get_audience(capability.capability_id),
        review=review,
        review_is_current=review is not None and is_current(review),
        open_comments=count_open_threads(capability) if review is not None else 0,
        release=find_pending_release(capability.capability_id),
    )
