"""Comments of a review: on a place or in general, replies to them, and whether they are resolved.

A comment is open until it is resolved. Whether open comments stop a release depends on the rules.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from capability_rules.errors import InvalidRequest
from capability_rules.validation import BUNDLE_FILES
from registry.common.actors import Actor
from registry.common.errors import NotFound, ReviewConflict
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Capability, Review, ReviewEntry
from registry.publishing.comment_anchors import QUOTE_MAX, find_line, quote_line
from registry.publishing.reviews import ACTIVE_STATES, add_entry, get_review, record_event, require_comment

COMMENTS_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class CommentThread:
    """An entry of a review with its replies; only comments have any."""

    entry: ReviewEntry
    replies: tuple[ReviewEntry, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is an unresolved comment."""
        return self.entry.kind == ReviewEntry.Kind.COMMENT and self.entry.resolved_at is None

    def line_in(self, text: str) -> int | None:
        """Return the line of an edited text that it stands on; None where that is gone, and for one without a line."""
        entry = self.entry
        return find_line(entry.quote, entry.line, text) if entry.line is not None else None

    @property
    def is_resolved(self) -> bool:
        return self.entry.resolved_at is not None


def add_comment(
    *,
    review_id: int,
    by: Actor,
    words: str,
    file: str = "",
    line: int | None = None,
    code: str = "",
    suggestion: str = "",
) -> ReviewEntry:
    """Say something: in general, on a line of the texts that were submitted, or on a finding. `suggestion` is what the
    line should be; with one, words are optional.

    Raises `NotFound`, and `InvalidRequest` for no words, a line that is not there, or a suggestion that changes nothing
    or has no line.
    """
    if not suggestion:
        require_comment(words, "Enter a comment")
    with write_transaction():
        review = get_review(review_id)
        _require_place(review, file, line)
        _require_room(review)
        place = {"file": file, "line": line, "quote": quote_line(review.files.get(file, ""), line)}
        _require_suggestion(suggestion, place)
        entry = add_entry(review, ReviewEntry.Kind.COMMENT, by, words, **place, suggestion=suggestion, code=code[:64])
        said = {"file": file, "line": line} if file else {}
        record_event(review, by, "review.comment", **said, **({"code": entry.code} if code else {}))
    return entry


def _require_place(review: Review, file: str, line: int | None) -> None:
    if file and file not in {*BUNDLE_FILES, *review.files}:
        raise InvalidRequest(f"A bundle has no file '{file[:80]}'")
    if line is not None and not (file and 1 <= line <= review.files.get(file, "").count("\n") + 1):
        raise InvalidRequest(f"{file or 'The bundle'} has no line {line}")


def _require_suggestion(suggestion: str, place: dict[str, Any]) -> None:
    if suggestion and place["line"] is None:
        raise InvalidRequest("A suggestion belongs to a line")
    if suggestion and suggestion == place["quote"]:
        raise InvalidRequest("The suggestion changes nothing: edit the line")
    if len(suggestion) > QUOTE_MAX:
        raise InvalidRequest(f"A suggestion has at most {QUOTE_MAX:,} characters")


def _require_room(review: Review) -> None:
    if review.entries.count() >= COMMENTS_MAX:
        raise InvalidRequest(f"A review keeps at most {COMMENTS_MAX:,} entries")


def add_reply(*, review_id: int, entry_id: int, by: Actor, words: str) -> ReviewEntry:
    """Reply to a comment; a reply to a reply is added to the same comment.

    Raises `NotFound` where there is no such comment in the review, `InvalidRequest` without words.
    """
    require_comment(words, "Enter a reply")
    with write_transaction():
        review, answered = _find(review_id, entry_id)
        _require_room(review)
        entry = add_entry(review, ReviewEntry.Kind.COMMENT, by, words, reply_to_id=answered.reply_to_id or answered.pk)
        record_event(review, by, "review.reply", entry_id=entry.reply_to_id)
    return entry


def resolve_thread(*, review_id: int, entry_id: int, by: Actor, is_accepted: bool = False) -> ReviewEntry:
    """Resolve a comment; `is_accepted` says that its suggestion was taken into the draft, of which the audit log keeps
    who wrote it. Raises `NotFound`, `ReviewConflict` where it is resolved already."""
    with write_transaction():
        review, entry = _find_thread(review_id, entry_id)
        if entry.resolved_at is not None:
            raise ReviewConflict("The comment is resolved already", review_id=review.pk)
        update_row(entry, resolved_at=timezone.now(), resolved_by=str(by))
        accepted = {"suggested_by": entry.by} if is_accepted and entry.suggestion else {}
        record_event(review, by, "review.resolve", entry_id=entry.pk, **accepted)
    return entry


def reopen_thread(*, review_id: int, entry_id: int, by: Actor) -> ReviewEntry:
    """Say that a comment is not settled after all. Raises `NotFound`, `ReviewConflict` where it is open."""
    with write_transaction():
        review, entry = _find_thread(review_id, entry_id)
        if entry.resolved_at is None:
            raise ReviewConflict("The comment is open already", review_id=review.pk)
        update_row(entry, resolved_at=None, resolved_by="")
        record_event(review, by, "review.reopen", entry_id=entry.pk)
    return entry


def _find(review_id: int, entry_id: int) -> tuple[Review, ReviewEntry]:
    review = get_review(review_id)
    found = review.entries.filter(pk=entry_id, kind=ReviewEntry.Kind.COMMENT)
    return review, get_row(found, NotFound(f"Review {review_id} has no comment {entry_id}"))


def _find_thread(review_id: int, entry_id: int) -> tuple[Review, ReviewEntry]:
    review, entry = _find(review_id, entry_id)
    if entry.reply_to_id is not None:
        raise NotFound(f"Comment {entry_id} is a reply: resolve the comment that it replies to")
    return review, entry


def list_threads(review: Review) -> list[CommentThread]:
    """Comments and actions of a review, in order, replies with their comment; one query."""
    replies: dict[int, list[ReviewEntry]] = defaultdict(list)
    firsts: list[ReviewEntry] = []
    for entry in review.entries.all():
        if entry.reply_to_id is None:
            firsts.append(entry)
        else:
            replies[entry.reply_to_id].append(entry)
    return [CommentThread(entry, tuple(replies[entry.pk])) for entry in firsts]


def count_open_threads(capability: Capability) -> int:
    """How many comments are unresolved in the current review of a capability."""
    return ReviewEntry.objects.filter(
        review__capability=capability,
        review__state__in=ACTIVE_STATES,
        kind=ReviewEntry.Kind.COMMENT,
        reply_to__isnull=True,
        resolved_at__isnull=True,
    ).count()
