"""Reviewers asked by name: who may be, what they see, and what they decided."""

from __future__ import annotations

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden, ReviewConflict
from registry.models import AuditEvent, Operator, Review
from registry.publishing import reviewers, reviews
from registry.selectors.inbox import build_inbox
from registry.usage.revision_health import find_failing
from tests.factories import OLGA, bundle
from tests.unit.registry.publishing.test_release_rules import set_rule

pytestmark = pytest.mark.django_db

ANN = Actor("operator", "ann")


def _person(username: str, role: str = "publisher", **fields: str) -> Operator:
    return Operator.objects.create(username=username, role=role, **fields)


def _review(capability_id: str = "alpha", note: str = "Look") -> Review:
    drafts.save_draft(capability_id=capability_id, files=bundle(capability_id), based_on=None, by=ANN)
    return reviews.request_review(capability_id=capability_id, draft_version=1, by=ANN, note=note)


def test_a_publisher_is_asked_once_with_an_audit_row_for_each_change() -> None:
    _person("paul")
    review = _review()
    for _ in range(2):
        review = reviewers.add_reviewer(review_id=review.pk, username="paul", by=ANN)
    assert review.reviewers == ["paul"]
    reviewers.remove_reviewer(review_id=review.pk, username="paul", by=ANN)
    reviewers.remove_reviewer(review_id=review.pk, username="paul", by=ANN)
    details = list(AuditEvent.objects.filter(verb="review.reviewers").order_by("id").values_list("detail", flat=True))
    assert [(one["added"], one["removed"], one["reviewers"]) for one in details] == [
        ("paul", "", ["paul"]),
        ("", "paul", []),
    ]


def test_only_people_who_can_decide_are_asked() -> None:
    for username, role in (("paul", "publisher"), ("ada", "admin"), ("vera", "viewer"), ("otto", "author")):
        _person(username, role)
    Operator.objects.create(username="gone", role="publisher", is_active=False)
    review = _review()
    assert [one.username for one in reviewers.list_possible_reviewers(review)] == ["ada", "paul"]
    for username in ("vera", "otto", "gone", "nobody", ""):
        with pytest.raises(InvalidRequest, match="cannot review this"):
            reviewers.add_reviewer(review_id=review.pk, username=username, by=ANN)


def test_where_a_second_person_is_required_the_author_is_not_offered() -> None:
    _person("ann")
    _person("paul")
    review = _review()
    assert [one.username for one in reviewers.list_possible_reviewers(review)] == ["ann", "paul"]
    set_rule(four_eyes=True)
    assert [one.username for one in reviewers.list_possible_reviewers(review)] == ["paul"]


def test_of_a_capability_of_a_team_its_members_and_admins_are_offered() -> None:
    paul = _person("paul")
    _person("pia")
    _person("ada", "admin")
    review = _review()
    team = teams.create_team(name="Health", by=OLGA)
    teams.add_member(key=team.pk, username=paul.username, by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    review.refresh_from_db()
    assert [one.username for one in reviewers.list_possible_reviewers(reviews.get_review(review.pk))] == ["ada", "paul"]
    with pytest.raises(Forbidden):
        reviewers.add_reviewer(review_id=review.pk, username="paul", by=Actor("operator", "pia"))


def test_a_review_that_has_ended_keeps_its_reviewers() -> None:
    _person("paul")
    review = _review()
    reviews.withdraw(review_id=review.pk, by=ANN)
    for verb in (reviewers.add_reviewer, reviewers.remove_reviewer):
        with pytest.raises(ReviewConflict):
            verb(review_id=review.pk, username="paul", by=ANN)


def test_ten_are_enough() -> None:
    review = _review()
    for number in range(11):
        _person(f"p{number}")
    for number in range(10):
        reviewers.add_reviewer(review_id=review.pk, username=f"p{number}", by=ANN)
    with pytest.raises(InvalidRequest, match="At most 10"):
        reviewers.add_reviewer(review_id=review.pk, username="p10", by=ANN)


def test_what_each_decided_in_this_round_is_listed() -> None:
    _person("paul", first_name="Paul Stein")
    _person("olga")
    review = _review()
    reviewers.add_reviewer(review_id=review.pk, username="paul", by=ANN)
    states = reviewers.list_reviewer_states(reviews.get_review(review.pk))
    assert [(one.name, one.answer, one.is_asked) for one in states] == [("Paul Stein", "waiting", True)]
    reviews.request_changes(review_id=review.pk, round_seen=1, by=Actor("operator", "olga"), words="Shorter")
    states = reviewers.list_reviewer_states(reviews.get_review(review.pk))
    assert [(one.username, one.answer, one.is_asked) for one in states] == [
        ("paul", "waiting", True),
        ("olga", "sent_back", False),
    ]
    drafts.save_draft(capability_id="alpha", files=bundle(body="Short."), based_on=1, by=ANN)
    reviews.request_review(capability_id="alpha", draft_version=2, by=ANN, note="Again")
    states = reviewers.list_reviewer_states(reviews.get_review(review.pk))
    assert [(one.username, one.answer) for one in states] == [("paul", "waiting")], "a new round, the same people"


def test_who_is_asked_by_name_sees_it_first() -> None:
    paul = _person("paul")
    _review("alpha", "First")
    second = _review("beta", "Second")
    reviewers.add_reviewer(review_id=second.pk, username="paul", by=ANN)
    inbox = build_inbox(paul, today_ends=timezone.now(), failing=find_failing())
    assert [one.capability_id for one in inbox.items if one.kind == "review"] == ["beta", "alpha"]
