"""What is said in a review: comments on a place or in general, answers to them, and whether they are settled.

A comment is open until somebody resolves it. Whether open comments stop a release is a matter of the rules.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from registry.actors import Actor
from registry.errors import InvalidRequest, NotFound, ReviewConflict
from registry.models import Capability, Review, ReviewEntry
from registry.releases.reviews import ACTIVE, add_entry, get_review, record, require_words
from registry.validation import BUNDLE_FILES
from registry.writing import writing

ENTRIES_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class Thread:
    """An entry of a review with the answers to it; what is no comment has none."""

    entry: ReviewEntry
    replies: tuple[ReviewEntry, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is a comment that nobody has resolved."""
        return self.entry.kind == ReviewEntry.Kind.COMMENT and self.entry.resolved_at is None

    @property
    def is_resolved(self) -> bool:
        return self.entry.resolved_at is not None


def comment(
    *, review_id: int, by: Actor, words: str, file: str = "", line: int | None = None, code: str = ""
) -> ReviewEntry:
    """Say something: in general, on a line of the texts that were handed in, or on a finding.

    Raises `NotFound`, and `InvalidRequest` for no words or a line that is not there.
    """
    require_words(words, "Write the comment")
    with writing():
        review = get_review(review_id)
        _require_place(review, file, line)
        _require_room(review)
        entry = add_entry(review, ReviewEntry.Kind.COMMENT, by, words, file=file, line=line, code=code[:64])
        place = {"file": file, "line": line} if file else {}
        record(review, by, "review.comment", **place, **({"code": entry.code} if code else {}))
    return entry


def _require_place(review: Review, file: str, line: int | None) -> None:
    if file and file not in {*BUNDLE_FILES, *review.files}:
        raise InvalidRequest(f"A bundle has no file '{file[:80]}'")
    if line is not None and not (file and 1 <= line <= review.files.get(file, "").count("\n") + 1):
        raise InvalidRequest(f"{file or 'The bundle'} has no line {line}")


def _require_room(review: Review) -> None:
    if review.entries.count() >= ENTRIES_MAX:
        raise InvalidRequest(f"A review keeps at most {ENTRIES_MAX:,} entries")


def reply(*, review_id: int, entry_id: int, by: Actor, words: str) -> ReviewEntry:
    """Answer a comment; an answer to an answer stands under the same comment.

    Raises `NotFound` where there is no such comment in the review, `InvalidRequest` without words.
    """
    require_words(words, "Write the answer")
    with writing():
        review, answered = _find(review_id, entry_id)
        _require_room(review)
        entry = add_entry(review, ReviewEntry.Kind.COMMENT, by, words, reply_to_id=answered.reply_to_id or answered.pk)
        record(review, by, "review.reply", entry_id=entry.reply_to_id)
    return entry


def resolve(*, review_id: int, entry_id: int, by: Actor) -> ReviewEntry:
    """Say that a comment is settled. Raises `NotFound`, `ReviewConflict` where somebody has said so already."""
    with writing():
        review, entry = _find_thread(review_id, entry_id)
        if entry.resolved_at is not None:
            raise ReviewConflict("The comment is resolved already", review_id=review.pk)
        entry.resolved_at, entry.resolved_by = timezone.now(), str(by)
        entry.save(update_fields=["resolved_at", "resolved_by"])
        record(review, by, "review.resolve", entry_id=entry.pk)
    return entry


def reopen(*, review_id: int, entry_id: int, by: Actor) -> ReviewEntry:
    """Say that a comment is not settled after all. Raises `NotFound`, `ReviewConflict` where it is open."""
    with writing():
        review, entry = _find_thread(review_id, entry_id)
        if entry.resolved_at is None:
            raise ReviewConflict("The comment is open already", review_id=review.pk)
        entry.resolved_at, entry.resolved_by = None, ""
        entry.save(update_fields=["resolved_at", "resolved_by"])
        record(review, by, "review.reopen", entry_id=entry.pk)
    return entry


def _find(review_id: int, entry_id: int) -> tuple[Review, ReviewEntry]:
    review = get_review(review_id)
    found = review.entries.filter(pk=entry_id, kind=ReviewEntry.Kind.COMMENT).first()
    if found is None:
        raise NotFound(f"Review {review_id} has no comment {entry_id}")
    return review, found


def _find_thread(review_id: int, entry_id: int) -> tuple[Review, ReviewEntry]:
    review, entry = _find(review_id, entry_id)
    if entry.reply_to_id is not None:
        raise NotFound(f"Comment {entry_id} is an answer: the comment that it answers is resolved")
    return review, entry


def threads_of(review: Review) -> list[Thread]:
    """Everything said and done in a review, in order, answers with what they answer; one query."""
    replies: dict[int, list[ReviewEntry]] = defaultdict(list)
    firsts: list[ReviewEntry] = []
    for entry in review.entries.all():
        if entry.reply_to_id is None:
            firsts.append(entry)
        else:
            replies[entry.reply_to_id].append(entry)
    return [Thread(entry, tuple(replies[entry.pk])) for entry in firsts]


def open_comments(capability: Capability) -> int:
    """How many comments nobody has resolved in the review that is at work for a capability."""
    return ReviewEntry.objects.filter(
        review__capability=capability,
        review__state__in=ACTIVE,
        kind=ReviewEntry.Kind.COMMENT,
        reply_to__isnull=True,
        resolved_at__isnull=True,
    ).count()
