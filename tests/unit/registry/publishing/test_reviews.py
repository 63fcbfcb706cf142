"""Asking a second person: the rounds of a review, and what an approval is bound to."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from registry.access import operators
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import (
    BundleRejected,
    DraftConflict,
    DraftNotFound,
    Forbidden,
    NotFound,
    ReviewConflict,
    SelfApprovalForbidden,
)
from registry.models import AuditEvent, Draft, Review
from registry.publishing import publication, reviews
from tests.factories import OLGA, bundle, publish
from tests.unit.registry.publishing.test_release_rules import set_rule

pytestmark = pytest.mark.django_db

PAUL = Actor("operator", "paul")


def _save(by: Actor = OLGA, **fields: Any) -> int:
    current = Draft.objects.filter(capability__capability_id="alpha", discarded_at__isnull=True).first()
    files = bundle(**fields)
    based_on = current.version if current else None
    return drafts.save_draft(capability_id="alpha", files=files, based_on=based_on, by=by).version


def _ask(by: Actor = OLGA, **fields: Any) -> Review:
    version = _save(by, **({"body": "New."} | fields))
    return reviews.request_review(capability_id="alpha", draft_version=version, by=by, note="Please look")


def _kinds(review: Review) -> list[tuple[str, int]]:
    return list(review.entries.values_list("kind", "round"))


def test_asked_approved_and_published() -> None:
    publish()
    set_rule(four_eyes=True)
    review = _ask()
    reviews.approve(review_id=review.pk, round_seen=1, by=PAUL, words="Good")
    outcome = publication.publish_draft(capability_id="alpha", by=OLGA, note="Out")
    assert outcome.status == "published"
    review.refresh_from_db()
    assert (review.state, review.revision, review.decided_by) == ("published", 2, "operator:paul")
    assert _kinds(review) == [("asked", 1), ("approved", 1), ("published", 1)]
    verbs = list(AuditEvent.objects.filter(verb__startswith="review.").values_list("verb", "actor_name"))
    assert verbs == [("review.ask", "olga"), ("review.approve", "paul")]


def test_sent_back_mended_and_handed_in_again() -> None:
    review = _ask()
    reviews.request_changes(review_id=review.pk, round_seen=1, by=PAUL, words="Shorter")
    again = _ask(body="Short.")
    assert (again.pk, again.round, again.state) == (review.pk, 2, "open")
    assert "Short." in again.files["skill.md"]
    assert _kinds(again) == [("asked", 1), ("sent_back", 1), ("asked_again", 2)]


def test_what_was_sent_back_may_be_handed_in_unchanged() -> None:
    review = _ask()
    reviews.request_changes(review_id=review.pk, round_seen=1, by=PAUL, words="Why?")
    again = reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="Because")
    assert again.round == 2


@pytest.mark.parametrize(
    "who", [OLGA, Actor("command_line", "olga"), Actor("operator", "eva"), Actor("command_line", "eva")]
)
def test_whoever_asked_or_has_worked_on_it_is_no_second_person(who: Actor) -> None:
    set_rule(four_eyes=True)
    _save(Actor("operator", "eva"), body="Begun.")
    review = _ask()
    with pytest.raises(SelfApprovalForbidden):
        reviews.approve(review_id=review.pk, round_seen=1, by=who)
    assert reviews.approve(review_id=review.pk, round_seen=1, by=PAUL).state == "approved"


def test_without_a_rule_anybody_who_may_publish_approves() -> None:
    review = _ask()
    assert reviews.approve(review_id=review.pk, round_seen=1, by=OLGA).state == "approved"


def test_who_worked_on_a_draft_that_was_put_away_is_free_again() -> None:
    set_rule(four_eyes=True)
    _save(PAUL, body="Begun.")
    drafts.discard_draft(capability_id="alpha", by=PAUL)
    review = _ask()
    assert reviews.approve(review_id=review.pk, round_seen=1, by=PAUL).state == "approved"


def test_an_edit_after_the_approval_asks_again() -> None:
    set_rule(four_eyes=True)
    review = _ask()
    reviews.approve(review_id=review.pk, round_seen=1, by=PAUL)
    _save(body="New. And more.")
    refused = publication.publish_draft(capability_id="alpha", by=OLGA, note="x")
    assert [finding.code for finding in refused.findings] == ["APPROVAL_REQUIRED"]
    again = reviews.request_review(capability_id="alpha", draft_version=2, by=OLGA, note="Once more")
    assert (again.pk, again.state, again.decided_by) == (review.pk, "open", "")


def test_an_edit_while_it_is_looked_at_cannot_be_approved() -> None:
    review = _ask()
    _save(body="Something else.")
    assert not reviews.is_current(review)
    with pytest.raises(ReviewConflict, match="changed after submission"):
        reviews.approve(review_id=review.pk, round_seen=1, by=PAUL)
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    with pytest.raises(ReviewConflict):
        reviews.approve(review_id=review.pk, round_seen=1, by=PAUL)


def test_another_round_than_the_one_looked_at_is_not_decided() -> None:
    review = _ask()
    _ask(body="Else.")
    for verb in (reviews.approve, reviews.request_changes):
        with pytest.raises(ReviewConflict, match="reload it"):
            verb(review_id=review.pk, round_seen=1, by=PAUL, words="x")


def test_a_decision_is_made_once() -> None:
    review = _ask()
    reviews.approve(review_id=review.pk, round_seen=1, by=PAUL)
    for verb in (reviews.approve, reviews.request_changes):
        with pytest.raises(ReviewConflict, match="approved already"):
            verb(review_id=review.pk, round_seen=1, by=PAUL, words="x")


def test_the_same_texts_are_not_handed_in_twice() -> None:
    _ask()
    with pytest.raises(ReviewConflict, match="in review already"):
        reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="Again")


def test_withdrawn_ends_it_and_another_can_begin() -> None:
    review = _ask()
    reviews.withdraw(review_id=review.pk, by=OLGA, words="Too early")
    with pytest.raises(ReviewConflict):
        reviews.withdraw(review_id=review.pk, by=OLGA)
    assert _ask(body="Later.").pk != review.pk


def test_only_its_author_and_admins_withdraw_a_review() -> None:
    review = _ask()
    for role in ("publisher", "admin"):
        operators.create_operator(username=f"the-{role}", password="Correct-horse-battery-9", role=role, by=OLGA)
    others = (PAUL, Actor("operator", "the-publisher"), Actor("agent_key", "ci"))
    for by in others:
        with pytest.raises(Forbidden, match="Only the author of the review and admins"):
            reviews.withdraw(review_id=review.pk, by=by)
    assert reviews.get_review(review.pk).state == "open"
    assert reviews.may_withdraw(review, Actor("command_line", "root"))
    reviews.withdraw(review_id=review.pk, by=Actor("operator", "the-admin"))
    assert reviews.get_review(review.pk).state == "withdrawn"


def _returned() -> list[tuple[str, str]]:
    # The type of a model does not know what a query adds to it.
    found = reviews.list_changes_requested()
    return [(review.capability.capability_id, vars(review)["comment"]) for review in found]


def test_requested_changes_are_listed_until_the_draft_is_submitted_again() -> None:
    review = _ask()
    assert _returned() == []
    reviews.request_changes(review_id=review.pk, round_seen=1, by=PAUL, words="Shorter")
    assert _returned() == [("alpha", "Shorter")]
    _save(body="Short.")
    assert _returned() == [("alpha", "Shorter")]
    _ask(body="Short.")
    assert _returned() == []
    reviews.request_changes(review_id=review.pk, round_seen=2, by=PAUL, words="Shorter still")
    assert _returned() == [("alpha", "Shorter still")]


def test_requested_changes_end_with_the_draft() -> None:
    review = _ask()
    reviews.request_changes(review_id=review.pk, round_seen=1, by=PAUL, words="Shorter")
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert _returned() == []
    drafts.restore_draft(capability_id="alpha", version=1, by=OLGA)
    assert _returned() == [("alpha", "Shorter")]
    assert publication.publish_draft(capability_id="alpha", by=OLGA, note="Out").status == "published"
    assert _returned() == []


def test_the_latest_requested_changes_come_first() -> None:
    for capability_id, by in (("alpha", OLGA), ("beta", PAUL), ("gamma", OLGA)):
        files = bundle(capability_id)
        version = drafts.save_draft(capability_id=capability_id, files=files, based_on=None, by=by).version
        review = reviews.request_review(capability_id=capability_id, draft_version=version, by=by, note="Look")
        reviews.request_changes(review_id=review.pk, round_seen=1, by=Actor("operator", "vera"), words=capability_id)
    assert [name for name, _ in _returned()] == ["gamma", "beta", "alpha"]


def test_other_texts_that_are_published_end_it() -> None:
    review = _ask()
    publish(body="From elsewhere.")
    review.refresh_from_db()
    assert (review.state, review.revision) == ("withdrawn", None)
    last = review.entries.last()
    assert last is not None
    assert last.words == "Other texts were published as revision 1."


def test_what_cannot_be_asked_for() -> None:
    publish()
    with pytest.raises(DraftNotFound):
        reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="x")
    version = _save(body="New.")
    with pytest.raises(InvalidRequest):
        reviews.request_review(capability_id="alpha", draft_version=version, by=OLGA, note=" ")
    with pytest.raises(DraftConflict):
        reviews.request_review(capability_id="alpha", draft_version=version + 1, by=OLGA, note="x")
    drafts.save_draft(
        capability_id="alpha", files=bundle() | {"skill.md": "# A\n"}, based_on=version, by=OLGA
    )  # fmt: skip
    with pytest.raises(BundleRejected):
        reviews.request_review(capability_id="alpha", draft_version=version + 1, by=OLGA, note="x")
    with pytest.raises(NotFound):
        reviews.get_review(1)
    assert not Review.objects.exists()


def test_sending_back_needs_words() -> None:
    review = _ask()
    with pytest.raises(InvalidRequest):
        reviews.request_changes(review_id=review.pk, round_seen=1, by=PAUL, words=" ")
