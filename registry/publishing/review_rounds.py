"""What a review was about in the round before: the texts that a reviewer has read already."""

from __future__ import annotations

from registry.bundles.supporting_files import split_path
from registry.models import AuditEvent, DraftVersion, Review


def get_previous_round(review: Review) -> dict[str, str] | None:
    """Return the texts of the round before; None in the first one, and where they are not kept any more.

    The audit log says which version of the draft was submitted; the history of the draft keeps that version.
    """
    if review.round == 1:
        return None
    submitted = AuditEvent.objects.filter(
        verb="review.ask",
        subject=review.capability.capability_id,
        detail__review_id=review.pk,
        detail__round=review.round - 1,
    ).last()
    version = submitted.detail.get("draft_version") if submitted else None
    if not isinstance(version, int):
        return None
    if version == review.draft_version:
        return review.files
    kept = DraftVersion.objects.filter(capability=review.capability, version=version).first()
    return split_path(kept.files) if kept else None
