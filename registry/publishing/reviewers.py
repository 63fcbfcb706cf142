"""Who is asked by name to review, and what each of them has decided about the texts of this round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from capability_rules.errors import InvalidRequest
from registry.access.teams import list_publishers
from registry.common.actors import Actor
from registry.core.rows import update_row
from registry.core.transactions import write_transaction
from registry.models import Operator, Review, ReviewEntry
from registry.publishing.reviews import (
    get_changeable_review,
    is_independent_reviewer,
    record_event,
    requires_independent_reviewer,
)

REVIEWERS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class ReviewerState:
    """A person of the review, what they are called, and whether they were asked by name. `answer` is what they decided
    last in this round: `waiting`, `approved` or `sent_back`."""

    username: str
    name: str
    answer: str
    is_asked: bool


def add_reviewer(*, review_id: int, username: str, by: Actor) -> Review:
    """Ask a person by name, who sees it first on Home and gets an e-mail.

    Raises `InvalidRequest` for anyone who cannot decide about it and beyond 10, `ReviewConflict` where it has ended.
    """
    with write_transaction():
        review = get_changeable_review(review_id, by)
        if username not in {one.username for one in list_possible_reviewers(review)}:
            raise InvalidRequest(f"{username} cannot review this: choose a publisher or admin who did not write it")
        if username in review.reviewers:
            return review
        if len(review.reviewers) >= REVIEWERS_MAX:
            raise InvalidRequest(f"At most {REVIEWERS_MAX} people are asked to review")
        _store(review, [*review.reviewers, username], by, added=username)
    return review


def remove_reviewer(*, review_id: int, username: str, by: Actor) -> Review:
    """Ask them no longer; what they decided stays. Raises `ReviewConflict` where the review has ended."""
    with write_transaction():
        review = get_changeable_review(review_id, by)
        if username in review.reviewers:
            _store(review, [name for name in review.reviewers if name != username], by, removed=username)
    return review


def _store(review: Review, reviewers: list[str], by: Actor, *, added: str = "", removed: str = "") -> None:
    update_row(review, reviewers=reviewers)
    record_event(review, by, "review.reviewers", reviewers=reviewers, added=added, removed=removed)


def list_possible_reviewers(review: Review) -> list[Operator]:
    """Return who may decide about it, by username: publishers and admins, of the capability's team if it has one, and
    only people who did not write it where a second person is required."""
    is_second = requires_independent_reviewer(review)
    people = list_publishers(review.capability)
    return [one for one in people if not is_second or is_independent_reviewer(review, f"operator:{one.username}")]


def list_reviewer_states(review: Review) -> list[ReviewerState]:
    """Return those asked by name in the order in which they were asked, then others who decided in this round."""
    decisions = ReviewEntry.objects.filter(
        review=review,
        round=review.round,
        kind__in=[ReviewEntry.Kind.APPROVED, ReviewEntry.Kind.CHANGES_REQUESTED],
        by__startswith="operator:",
    )
    answers = {by.partition(":")[2]: kind for by, kind in decisions.values_list("by", "kind")}
    usernames = dict.fromkeys([*review.reviewers, *answers])
    names = {
        one.username: one.get_full_name() or one.username for one in Operator.objects.filter(username__in=usernames)
    }
    asked = set(review.reviewers)
    return [
        ReviewerState(name, names.get(name, name), answers.get(name, "waiting"), name in asked) for name in usernames
    ]
