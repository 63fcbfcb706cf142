"""Asking a second person before something is published.

A review stores the texts that were submitted. An approval is bound to them: once the draft is edited it is
void, and the review is requested again. Callers check who may decide; who cannot approve is checked here.
Its comments are in `registry.publishing.review_comments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from capability_rules.bundles.parsed_bundle import parse_bundle
from capability_rules.bundles.supporting_files import split_path
from capability_rules.errors import InvalidRequest
from capability_rules.validation import Report
from registry.access.operators import is_admin
from registry.access.teams import require_edit_permission
from registry.catalog.drafts import get_active_draft, get_draft, list_editors, validate_draft
from registry.common.actors import PEOPLE, Actor
from registry.common.errors import BundleRejected, Forbidden, NotFound, ReviewConflict, SelfApprovalForbidden
from registry.core import audit
from registry.core.queries import files_digest
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Capability, Draft, DraftVersion, Review, ReviewEntry
from registry.models.bundle_texts import BundleTexts
from registry.publishing.release_rules import get_rule, skill_groups_of

ACTIVE_STATES: Final = (Review.State.OPEN, Review.State.APPROVED, Review.State.CHANGES_REQUESTED)
COMMENT_LENGTH_MAX: Final = 4000


def request_review(*, capability_id: str, draft_version: int, by: Actor, note: str | None) -> Review:
    """Hand the draft in: a new review, or the next round of the one that is at work. `note` is what the author says of
    it, None where somebody else opens the review in the author's name.

    Raises `DraftNotFound`, `DraftConflict` where the draft has changed since it was read, `BundleRejected` where
    the texts have errors, `InvalidRequest` without a note, `ReviewConflict` where these very texts are being reviewed.
    """
    if note is not None:
        require_comment(note, "Say what the reviewer should look at")
    draft = get_draft(capability_id)
    report = validate_draft(draft)
    if not report.ok:
        raise BundleRejected("Fix the draft's errors before submitting it for review", report.findings)
    with write_transaction():
        require_edit_permission(capability_id, by)
        draft = get_draft(capability_id, version=draft_version)
        review = Review.objects.filter(capability=draft.capability, state__in=ACTIVE_STATES).first()
        if review is None:
            review = Review(capability=draft.capability, round=0)
        elif review.files_digest == report_digest(report) and not _may_be_submitted_again(review, report):
            raise ReviewConflict(
                f"These texts are in review already; the review is {review.state}", review_id=review.pk
            )
        _submit(review, draft, report, by=by, note=note or "")
    return review


def _may_be_submitted_again(review: Review, report: Report) -> bool:
    return review.state == Review.State.CHANGES_REQUESTED or is_waived_since(review, report)


def is_waived_since(review: Review, report: Report) -> bool:
    """Whether an error of these texts was waived after the review was decided: nobody has agreed to that."""
    decided = review.decided_at
    waivers = [finding.waiver for finding in report.waived if finding.severity == "error"]
    return decided is not None and any(one is not None and one.at > decided for one in waivers)


def require_comment(words: str, hint: str) -> None:
    """Raises `InvalidRequest` for none, and for too many."""
    if not words.strip():
        raise InvalidRequest(f"{hint}: a few words are needed")
    if len(words) > COMMENT_LENGTH_MAX:
        raise InvalidRequest(f"At most {COMMENT_LENGTH_MAX:,} characters are kept")


def report_digest(report: Report) -> str:
    """What an approval of the texts of a report is bound to."""
    return files_digest(dict(report.files))


def draft_digest(draft: Draft) -> str:
    """Like `report_digest`: a supporting file that the draft does not name is not part of what is approved."""
    return files_digest(split_path(draft.files))


def _submit(review: Review, draft: Draft, report: Report, *, by: Actor, note: str) -> None:
    review.round += 1
    review.state = Review.State.OPEN
    review.draft_version, review.files_digest = draft.version, report_digest(report)
    review.editors = list_editors(draft)
    review.files = dict(report.files)
    review.note, review.requested_at, review.requested_by = note, timezone.now(), str(by)
    review.decided_at, review.decided_by = None, ""
    review.save()
    kind = ReviewEntry.Kind.ASKED if review.round == 1 else ReviewEntry.Kind.ASKED_AGAIN
    add_entry(review, kind, by, note)
    record_event(review, by, "review.ask", note=note, round=review.round, draft_version=draft.version)


def add_entry(review: Review, kind: str, by: Actor, words: str, **place: Any) -> ReviewEntry:
    """One more, in the round that the review is in."""
    return ReviewEntry.objects.create(
        review=review, kind=kind, round=review.round, by=str(by), words=words.strip(), **place
    )


def record_event(review: Review, by: Actor, verb: str, **detail: Any) -> None:
    """Into the audit log, under the capability."""
    audit.record(
        by=by, verb=verb, subject=review.capability.capability_id, detail={"review_id": review.pk, **detail}
    )  # fmt: skip


def approve(*, review_id: int, round_seen: int, by: Actor, words: str = "") -> Review:
    """Approve the texts of the round that the caller has read.

    Raises `SelfApprovalForbidden` where `by` must be a second person, `ReviewConflict` where the review or the
    draft has moved on.
    """
    with write_transaction():
        review = _decidable(review_id, round_seen, by)
        draft = get_active_draft(review.capability)
        if draft is None or draft_digest(draft) != review.files_digest:
            raise ReviewConflict("The draft changed after submission. Resubmit it")
        if requires_independent_reviewer(review) and not is_independent_reviewer(review, str(by)):
            raise SelfApprovalForbidden("You can't approve your own changes")
        _decide(review, Review.State.APPROVED, by, words)
        record_event(review, by, "review.approve", round=review.round, words=words.strip())
    return review


def request_changes(*, review_id: int, round_seen: int, by: Actor, words: str) -> Review:
    """Ask for changes. Raises `InvalidRequest` without words, `ReviewConflict` where the review has changed."""
    require_comment(words, "Say what should change")
    with write_transaction():
        review = _decidable(review_id, round_seen, by)
        _decide(review, Review.State.CHANGES_REQUESTED, by, words)
        record_event(review, by, "review.send_back", round=review.round, words=words.strip())
    return review


def withdraw(*, review_id: int, by: Actor, words: str = "") -> Review:
    """End a review without a decision. Raises `ReviewConflict` if it has ended already, and `Forbidden` for anyone but
    the author and admins."""
    with write_transaction():
        review = get_changeable_review(review_id, by)
        if not may_withdraw(review, by):
            raise Forbidden("Only the author of the review and admins can cancel it")
        _end(review, Review.State.WITHDRAWN, by, words)
        record_event(review, by, "review.withdraw", words=words.strip())
    return review


def may_withdraw(review: Review, by: Actor) -> bool:
    """Whether `by` requested the review, is an admin, or acts for the registry itself.

    A publisher who disagrees with a review requests changes; withdrawing it would hide that from its author.
    """
    return person_id(str(by)) == person_id(review.requested_by) or is_admin(by)


def get_changeable_review(review_id: int, by: Actor) -> Review:
    """One that is at work, for who may change its capability. Raises `NotFound`, `ReviewConflict`, `Forbidden`."""
    review = get_review(review_id)
    if not review.is_active:
        raise ReviewConflict(f"The review has ended: it is {review.state}")
    require_edit_permission(review.capability.capability_id, by)
    return review


def _decidable(review_id: int, round_seen: int, by: Actor) -> Review:
    review = get_review(review_id)
    if review.round != round_seen:
        raise ReviewConflict("Other texts were submitted since you opened this page; reload it")
    if review.state != Review.State.OPEN:
        raise ReviewConflict(f"The review is {review.get_state_display().lower()} already")
    require_edit_permission(review.capability.capability_id, by)
    return review


def _decide(review: Review, state: str, by: Actor, words: str) -> None:
    update_row(review, state=state, decided_at=timezone.now(), decided_by=str(by))
    add_entry(review, state, by, words)


def _end(review: Review, state: str, by: Actor, words: str, revision: int | None = None) -> None:
    update_row(review, state=state, revision=revision)
    add_entry(review, state, by, words)


def person_id(actor: str) -> str:
    """The person behind an actor: a user of the command line is the operator of the same name."""
    kind, _, name = actor.partition(":")
    return f"person:{name}" if kind in PEOPLE else actor


def is_independent_reviewer(review: Review, actor: str) -> bool:
    """Whether they have neither requested the review nor worked on the texts."""
    return person_id(actor) not in {person_id(one) for one in (review.requested_by, *review.editors)}


def requires_independent_reviewer(review: Review) -> bool:
    """Whether the rules require a second person, by the groups of the texts and of what readers have."""
    now = parse_capability_json(review.capability.published_revision)
    return get_rule(skill_groups_of(parse_capability_json(review), now)).wants_second_person


def parse_capability_json(texts: BundleTexts | None) -> dict[str, Any]:
    """The parsed capability.json of stored texts; empty where it cannot be read."""
    value = parse_bundle(texts.files, {}).value("capability.json") if texts is not None else None
    return value if isinstance(value, dict) else {}


def get_approval(capability: Capability, report: Report) -> Review | None:
    """The approval by a second person that applies to exactly these texts, with what was waived in them by then."""
    review = Review.objects.filter(capability=capability, state=Review.State.APPROVED).first()
    if (
        review is None
        or review.files_digest != report_digest(report)
        or not is_independent_reviewer(review, review.decided_by)
        or is_waived_since(review, report)
    ):
        return None
    return review


def close_active(capability: Capability, report: Report, *, revision: int, by: Actor) -> None:
    """End what is at work for the capability: these texts were published, or others; in the publisher's transaction."""
    review = Review.objects.filter(capability=capability, state__in=ACTIVE_STATES).first()
    if review is None:
        return
    if review.files_digest == report_digest(report):
        _end(review, Review.State.PUBLISHED, by, f"Published as revision {revision}.", revision)
    else:
        _end(review, Review.State.WITHDRAWN, by, f"Other texts were published as revision {revision}.")


def get_review(review_id: int) -> Review:
    """The review of this number, with its capability and what is live of it. Raises `NotFound`."""
    found = Review.objects.select_related("capability__published_revision").filter(pk=review_id)
    return get_row(found, NotFound(f"There is no review {review_id}"))


def get_active_review(capability: Capability) -> Review | None:
    """The review that is at work for a capability, without its texts."""
    found = Review.objects.filter(capability=capability, state__in=ACTIVE_STATES)
    return found.defer(*Review.COLUMNS.values()).first()


def list_reviews(*, states: Sequence[str] = (), requested_by: str = "", search: str = "") -> QuerySet[Review]:
    """The newest first, with capability.json alone of their texts; of some states, of one asker, and of capabilities
    whose id, or a note, has `search` in it."""
    texts = (column for name, column in Review.COLUMNS.items() if name != "capability.json")
    found = Review.objects.select_related("capability").defer(*texts)
    if search:
        found = found.filter(Q(capability__capability_id__icontains=search) | Q(note__icontains=search))
    if states:
        found = found.filter(state__in=states)
    if requested_by:
        found = found.filter(requested_by=requested_by)
    return found.order_by("-requested_at", "-id")


def list_changes_requested() -> QuerySet[Review]:
    """Reviews whose draft waits for changes that a publisher has requested, the latest first. `comment` is what the
    publisher wrote, `is_changed` whether the draft was saved since it was submitted.

    A review leaves the list when its draft is submitted again, published or discarded.
    """
    comments = ReviewEntry.objects.filter(review=OuterRef("pk"), kind=ReviewEntry.Kind.CHANGES_REQUESTED).order_by(
        "-id"
    )
    drafts = Draft.objects.filter(capability=OuterRef("capability"), discarded_at__isnull=True)
    return (
        list_reviews(states=(Review.State.CHANGES_REQUESTED,))
        .filter(Exists(drafts))
        .annotate(
            comment=Subquery(comments.values("words")[:1]),
            is_changed=Exists(drafts.exclude(version=OuterRef("draft_version"))),
        )
        .order_by("-decided_at", "-id")
    )


def is_current(review: Review) -> bool:
    """Whether the draft is still what was submitted."""
    draft = get_active_draft(review.capability)
    return draft is not None and draft_digest(draft) == review.files_digest


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
