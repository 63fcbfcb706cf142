"""What the gate shows of a capability beside its texts: who reads it, who looks at it, and what is planned."""

from __future__ import annotations

from dataclasses import dataclass

from registry.models import Capability, Review, ScheduledRelease
from registry.releases.audience import Audience, audience_of
from registry.releases.review_comments import open_comments
from registry.releases.reviews import active_review, is_current
from registry.releases.schedules import waiting_release


@dataclass(frozen=True, slots=True)
class Standing:
    """`review_is_current` says that the draft is still what was handed in; `open_comments` are those of the review."""

    audience: Audience
    review: Review | None
    review_is_current: bool
    open_comments: int
    release: ScheduledRelease | None


def standing_of(capability: Capability) -> Standing:
    """As things stand now."""
    review = active_review(capability)
    return Standing(
        audience=audience_of(capability.capability_id),
        review=review,
        review_is_current=review is not None and is_current(review),
        open_comments=open_comments(capability) if review is not None else 0,
        release=waiting_release(capability),
    )
