"""The counts beside the Studio's navigation: what waits for this person, and nothing else."""

from __future__ import annotations

import pytest

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import Operator, Review, UnknownCapabilityRequest
from registry.publishing import reviews
from registry.selectors import inbox
from tests.factories import OLGA, bundle

pytestmark = pytest.mark.django_db

PAUL = Actor("operator", "paul")


def _review() -> Review:
    version = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA).version
    return reviews.request_review(capability_id="alpha", draft_version=version, by=OLGA, note="Look")


def test_an_open_review_waits_for_those_who_may_decide_it() -> None:
    _review()
    counts = {role: inbox.count_reviews(Operator(username="paul", role=role)) for role in Operator.Role.values}
    assert counts == {"viewer": 0, "author": 0, "publisher": 1, "admin": 1}
    # Nobody decides what they have asked for.
    assert inbox.count_reviews(Operator(username="olga", role="admin")) == 0


def test_a_review_that_was_sent_back_waits_for_its_author() -> None:
    review = _review()
    reviews.request_changes(review_id=review.pk, round_seen=review.round, by=PAUL, words="Say more.")
    assert inbox.count_reviews(Operator(username="olga", role="author")) == 1
    assert inbox.count_reviews(Operator(username="olga", role="viewer")) == 0
    assert inbox.count_reviews(Operator(username="paul", role="publisher")) == 0


def test_unmet_requests_wait_for_those_who_can_act_on_them() -> None:
    UnknownCapabilityRequest.objects.create(capability_id="sleep", count=3)
    assert inbox.count_unmet_requests(Operator(username="olga", role="author")) == 1
    assert inbox.count_unmet_requests(Operator(username="olga", role="viewer")) == 0
