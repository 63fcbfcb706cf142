"""The open comments of a review beside the draft: each at the line that has become of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.models import Capability
from registry.publishing import review_comments, reviews
from registry.publishing.review_comments import CommentThread


@dataclass(frozen=True)
class PlacedComment:
    """`line` is where it stands in the draft; None where its line is gone, or for one about the whole draft."""

    thread: CommentThread
    line: int | None

    @property
    def is_orphan(self) -> bool:
        return self.line is None and self.thread.entry.line is not None


def build_comments_context(capability: Capability, files: Mapping[str, str]) -> dict[str, Any]:
    """Nothing where no review is at work; first what is about the whole draft or about a line that is gone."""
    review = reviews.get_active_review(capability)
    if review is None:
        return {"comments": [], "review": None}
    threads = [thread for thread in review_comments.list_threads(review) if thread.is_open]
    placed = [PlacedComment(thread, thread.line_in(files.get(thread.entry.file, ""))) for thread in threads]
    return {"comments": sorted(placed, key=lambda one: one.line or 0), "review": review}
