"""Asking a second person before something is published.

A review holds the texts that were handed in. An approval is bound to them: once the draft is edited it stands for
nothing, and the review is asked for again. Who may decide is settled at the door, who cannot be the second person here.
What is said meanwhile is in `registry.releases.review_comments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Case, Exists, OuterRef, QuerySet, Subquery, When
from django.utils import timezone

from registry import audit
from registry.access.teams import require_may_change
from registry.actors import Actor
from registry.bundle_texts import BundleTexts
from registry.drafts import active_draft, draft_report, editors_of, get_draft
from registry.errors import (
    BundleRefused,
    DraftConflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    OwnReview,
    ReviewConflict,
)
from registry.models import Capability, Draft, Operator, Review, ReviewEntry
from registry.queries import texts_digest
from registry.releases.rules import groups_in, rule_for
from registry.validation import Report
from registry.validation.supporting import parts_of
from registry.writing import writing

ACTIVE: Final = (Review.State.OPEN, Review.State.APPROVED, Review.State.SENT_BACK)
WORDS_MAX: Final = 4000


def ask_review(*, capability_id: str, draft_version: int, by: Actor, note: str) -> Review:
    """Hand the draft in: a new review, or the next round of the one that is at work.

    Raises `DraftNotFound`, `DraftConflict` where the draft has moved on since it was looked at, `BundleRefused` where
    the texts have errors, `InvalidRequest` without a note, `ReviewConflict` where these very texts are being reviewed.
    """
    require_words(note, "Say what the reviewer should look at")
    draft = get_draft(capability_id)
    report = draft_report(draft)
    if not report.ok:
        raise BundleRefused("The draft has errors: mend them before somebody is asked to look", report.findings)
    with writing():
        require_may_change(capability_id, by)
        draft = get_draft(capability_id)
        if draft.version != draft_version:
            raise DraftConflict(yours={}, theirs=draft.files, draft_version=draft.version)
        review = Review.objects.filter(capability=draft.capability, state__in=ACTIVE).first()
        if review is None:
            review = Review(capability=draft.capability, round=0)
        elif review.texts_digest == digest_of(report) and review.state != Review.State.SENT_BACK:
            raise ReviewConflict(
                f"These texts are in review already; the review is {review.state}", review_id=review.pk
            )
        _hand_in(review, draft, report, by=by, note=note)
    return review


def require_words(words: str, hint: str) -> None:
    """Raises `InvalidRequest` for none, and for too many."""
    if not words.strip():
        raise InvalidRequest(f"{hint}: a few words are needed")
    if len(words) > WORDS_MAX:
        raise InvalidRequest(f"At most {WORDS_MAX:,} characters are kept")


def digest_of(report: Report) -> str:
    """What an approval of the texts of a report is bound to."""
    return texts_digest(dict(report.files))


def digest_of_draft(draft: Draft) -> str:
    """As `digest_of`: a text that the draft holds and nobody names is no part of what is approved."""
    return texts_digest(parts_of(draft.files))


def _hand_in(review: Review, draft: Draft, report: Report, *, by: Actor, note: str) -> None:
    review.round += 1
    review.state = Review.State.OPEN
    review.draft_version, review.texts_digest = draft.version, digest_of(report)
    review.editors = editors_of(draft)
    review.files = dict(report.files)
    review.note, review.asked_at, review.asked_by = note, timezone.now(), str(by)
    review.decided_at, review.decided_by = None, ""
    review.save()
    kind = ReviewEntry.Kind.ASKED if review.round == 1 else ReviewEntry.Kind.ASKED_AGAIN
    add_entry(review, kind, by, note)
    record(review, by, "review.ask", note=note, round=review.round, draft_version=draft.version)


def add_entry(review: Review, kind: str, by: Actor, words: str, **place: Any) -> ReviewEntry:
    """One more, in the round that the review is in."""
    return ReviewEntry.objects.create(
        review=review, kind=kind, round=review.round, by=str(by), words=words.strip(), **place
    )


def record(review: Review, by: Actor, verb: str, **detail: Any) -> None:
    """Into the audit log, under the capability."""
    audit.record(
        by=by, verb=verb, subject=review.capability.capability_id, detail={"review_id": review.pk, **detail}
    )  # fmt: skip


def approve(*, review_id: int, round_seen: int, by: Actor, words: str = "") -> Review:
    """Approve the texts of the round that was looked at.

    Raises `OwnReview` where a second person is asked for and `by` is none, `ReviewConflict` where the review or the
    draft has moved on.
    """
    with writing():
        review = _decidable(review_id, round_seen)
        require_may_change(review.capability.capability_id, by)
        draft = active_draft(review.capability)
        if draft is None or digest_of_draft(draft) != review.texts_digest:
            raise ReviewConflict(
                "The draft was changed or put away since it was handed in: it has to be asked for again"
            )
        if review_wants_second_person(review) and not is_second_person(review, str(by)):
            raise OwnReview(
                "You have worked on these texts or asked for this review; somebody else has to approve them"
            )
        _decide(review, Review.State.APPROVED, by, words)
        record(review, by, "review.approve", round=review.round, words=words.strip())
    return review


def send_back(*, review_id: int, round_seen: int, by: Actor, words: str) -> Review:
    """Ask for changes. Raises `InvalidRequest` without words, `ReviewConflict` where the review has moved on."""
    require_words(words, "Say what should change")
    with writing():
        review = _decidable(review_id, round_seen)
        require_may_change(review.capability.capability_id, by)
        _decide(review, Review.State.SENT_BACK, by, words)
        record(review, by, "review.send_back", round=review.round, words=words.strip())
    return review


def withdraw(*, review_id: int, by: Actor, words: str = "") -> Review:
    """End a review without a decision. Raises `ReviewConflict` if it has ended already, and `Forbidden` for anyone but
    the author and admins."""
    with writing():
        review = get_review(review_id)
        if not review.is_active:
            raise ReviewConflict(f"The review has ended: it is {review.state}")
        require_may_change(review.capability.capability_id, by)
        if not may_withdraw(review, by):
            raise Forbidden("Only the author of the review and admins can withdraw it")
        _end(review, Review.State.WITHDRAWN, by, words)
        record(review, by, "review.withdraw", words=words.strip())
    return review


def may_withdraw(review: Review, by: Actor) -> bool:
    """Whether `by` asked for the review, is an admin, or acts for the registry itself.

    A publisher who finds fault with a review requests changes; withdrawing it would hide that from its author.
    """
    if person_of(str(by)) == person_of(review.asked_by):
        return True
    if by.kind == "operator":
        return Operator.objects.filter(username=by.name, is_active=True, role=Operator.Role.ADMIN).exists()
    return by.kind != "agent_key"


def _decidable(review_id: int, round_seen: int) -> Review:
    review = get_review(review_id)
    if review.round != round_seen:
        raise ReviewConflict("Other texts were handed in since you opened this page; look again")
    if review.state != Review.State.OPEN:
        raise ReviewConflict(f"The review is {review.get_state_display().lower()} already")
    return review


def _decide(review: Review, state: str, by: Actor, words: str) -> None:
    review.state, review.decided_at, review.decided_by = state, timezone.now(), str(by)
    review.save(update_fields=["state", "decided_at", "decided_by"])
    add_entry(review, state, by, words)


def _end(review: Review, state: str, by: Actor, words: str, revision: int | None = None) -> None:
    review.state, review.revision = state, revision
    review.save(update_fields=["state", "revision"])
    add_entry(review, state, by, words)


def person_of(actor: str) -> str:
    """Who an actor is: somebody at the command line is the operator of the same name."""
    kind, _, name = actor.partition(":")
    return f"person:{name}" if kind in ("operator", "command_line") else actor


def is_second_person(review: Review, actor: str) -> bool:
    """Whether they have neither asked for the review nor worked on the texts."""
    return person_of(actor) not in {person_of(one) for one in (review.asked_by, *review.editors)}


def review_wants_second_person(review: Review) -> bool:
    """Whether the rules ask for somebody else, by the groups of the texts and of what readers have."""
    now = capability_value(review.capability.published_revision)
    return rule_for(groups_in(capability_value(review), now)).wants_second_person


def capability_value(texts: BundleTexts | None) -> dict[str, Any]:
    """What the capability.json of stored texts holds; nothing where it cannot be read."""
    from registry.validation.documents import read

    value = read(texts.files, {}).value("capability.json") if texts is not None else None
    return value if isinstance(value, dict) else {}


def approval_of(capability: Capability, report: Report) -> Review | None:
    """The approval by a second person that holds for exactly these texts."""
    review = Review.objects.filter(capability=capability, state=Review.State.APPROVED).first()
    if review is None or review.texts_digest != digest_of(report) or not is_second_person(review, review.decided_by):
        return None
    return review


def note_published(capability: Capability, report: Report, *, revision: int, by: Actor) -> None:
    """End what is at work for the capability: these texts were published, or others; in the publisher's transaction."""
    review = Review.objects.filter(capability=capability, state__in=ACTIVE).first()
    if review is None:
        return
    if review.texts_digest == digest_of(report):
        _end(review, Review.State.PUBLISHED, by, f"Published as revision {revision}.", revision)
    else:
        _end(review, Review.State.WITHDRAWN, by, f"Other texts were published as revision {revision}.")


def get_review(review_id: int) -> Review:
    """Raises `NotFound`."""
    found = Review.objects.select_related("capability__published_revision").filter(pk=review_id).first()
    if found is None:
        raise NotFound(f"There is no review {review_id}")
    return found


def active_review(capability: Capability) -> Review | None:
    """The review that is at work for a capability, without its texts."""
    found = Review.objects.filter(capability=capability, state__in=ACTIVE)
    return found.defer(*Review.COLUMNS.values()).first()


def list_reviews(*, states: Sequence[str] = (), asked_by: str = "") -> QuerySet[Review]:
    """The newest first, without their texts; of some states, and of one asker."""
    found = Review.objects.select_related("capability").defer(*Review.COLUMNS.values())
    if states:
        found = found.filter(state__in=states)
    if asked_by:
        found = found.filter(asked_by=asked_by)
    return found.order_by("-asked_at", "-id")


def list_changes_requested(*, first_of: str = "") -> QuerySet[Review]:
    """Reviews whose draft waits for changes that a publisher has asked for: those that `first_of`, an actor as stored,
    has submitted come first, then the latest. `comment` is what the publisher wrote.

    A review leaves the list when its draft is submitted again, published or discarded.
    """
    comments = ReviewEntry.objects.filter(review=OuterRef("pk"), kind=ReviewEntry.Kind.SENT_BACK).order_by("-id")
    drafts = Draft.objects.filter(capability=OuterRef("capability"), discarded_at__isnull=True)
    return (
        list_reviews(states=(Review.State.SENT_BACK,))
        .filter(Exists(drafts))
        .annotate(
            comment=Subquery(comments.values("words")[:1]),
            is_of_others=Case(When(asked_by=first_of, then=False), default=True),
        )
        .order_by("is_of_others", "-decided_at", "-id")
    )


def is_current(review: Review) -> bool:
    """Whether the draft is still what was handed in."""
    draft = active_draft(review.capability)
    return draft is not None and digest_of_draft(draft) == review.texts_digest
