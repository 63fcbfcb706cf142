"""The texts of the round before: kept by the save that changes them, however soon it comes."""

from __future__ import annotations

import pytest

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import DraftVersion, Review
from registry.publishing import reviews
from registry.publishing.reviews import get_previous_round
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db

PAUL = Actor("operator", "paul")


def _submit(body: str, version: int | None) -> Review:
    saved = drafts.save_draft(capability_id="alpha", files=bundle(body=body), based_on=version, by=OLGA)
    return reviews.request_review(capability_id="alpha", draft_version=saved.version, by=OLGA, note="Look")


def test_each_round_has_the_texts_of_the_one_before() -> None:
    publish()
    first = _submit("One.", None)
    assert get_previous_round(first) is None
    version = first.draft_version
    for number, (before, body) in enumerate([("One.", "Two."), ("Two.", "Three.")], start=2):
        reviews.request_changes(review_id=first.pk, round_seen=number - 1, by=PAUL, words="Again")
        # Saves in quick succession, none of which would keep a version for its own sake.
        saved = drafts.save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=version, by=OLGA)
        review = _submit(body, saved.version)
        version = review.draft_version
        assert review.round == number
        assert get_previous_round(review) == bundle(body=before)


def test_what_is_submitted_unchanged_has_no_changes_and_what_is_gone_is_none() -> None:
    publish()
    first = _submit("One.", None)
    reviews.request_changes(review_id=first.pk, round_seen=1, by=PAUL, words="Why?")
    again = reviews.request_review(capability_id="alpha", draft_version=first.draft_version, by=OLGA, note="So")
    assert get_previous_round(again) == again.files
    reviews.request_changes(review_id=first.pk, round_seen=2, by=PAUL, words="Shorter")
    third = _submit("Two.", first.draft_version)
    DraftVersion.objects.all().delete()
    assert get_previous_round(third) is None
