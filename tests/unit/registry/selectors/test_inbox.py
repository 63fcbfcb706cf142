"""The counts beside the Studio's navigation: what waits for this person, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Operator, Review, UnknownCapabilityRequest
from registry.publishing import publication, quarantine, reviews
from registry.selectors import inbox
from registry.usage.revision_health import find_failing
from tests.factories import OLGA, bundle, publish, tampering

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


@pytest.mark.both_databases
def test_unmet_requests_are_counted_only_as_far_as_the_sidebar_shows_them() -> None:
    unknown = [UnknownCapabilityRequest(capability_id=f"sleep_{number}", count=1) for number in range(120)]
    UnknownCapabilityRequest.objects.bulk_create(unknown)
    assert inbox.count_unmet_requests(Operator(username="olga", role="author")) == inbox.COUNTED_MAX == 100


def _items(username: str) -> list[tuple[str, str, str, int, int]]:
    operator = Operator.objects.get_or_create(username=username, defaults={"role": "publisher"})[0]
    found = inbox.build_inbox(operator, today_ends=timezone.now(), failing=find_failing()).items
    return [(one.kind, one.by, one.text, one.before, one.count) for one in found]


def test_a_rollback_waits_for_those_whose_text_it_took_as_long_as_it_holds() -> None:
    publish()
    publication.publish(files=bundle(body="Two."), by=Actor("operator", "ann"))
    publication.rollback(capability_id="alpha", to=1, by=PAUL, note="Wrong")
    assert _items("ann") == [("rolled_back", "operator:paul", "Wrong", 2, 1)]
    # Neither who did it, nor who wrote what is live again.
    assert _items("paul") == _items("olga") == []
    publication.publish(files=bundle(body="Three."), by=PAUL)
    assert _items("ann") == []


def test_a_rollback_waits_on_after_a_quarantine_has_ended() -> None:
    Operator.objects.create(username="vera", role="admin")
    publish()
    publication.publish(files=bundle(body="Two."), by=Actor("operator", "ann"))
    publication.rollback(capability_id="alpha", to=1, by=PAUL, note="Wrong")
    quarantine.quarantine(capability_id="alpha", by=PAUL, note="Leaks")
    assert [kind for kind, *_ in _items("olga")] == ["quarantined"]
    publication.restore(capability_id="alpha", by=Actor("operator", "vera"), note="Fine")
    assert _items("ann") == [("rolled_back", "operator:paul", "Wrong", 2, 1)]


def test_a_quarantine_and_a_retirement_wait_for_authors_and_owners() -> None:
    publish()
    team = teams.create_team(name="Desk", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    for name in ("vera", "paul"):
        Operator.objects.create(username=name, role="publisher")
        teams.add_member(key=team.pk, username=name, by=OLGA)
    quarantine.quarantine(capability_id="alpha", by=PAUL, note="Leaks")
    assert _items("olga") == _items("vera") == [("quarantined", "operator:paul", "Leaks", 0, 0)]
    assert _items("paul") == _items("somebody else") == []
    publication.restore(capability_id="alpha", by=Actor("operator", "vera"), note="Fine")
    assert _items("olga") == []
    publication.retire(capability_id="alpha", by=PAUL)
    assert _items("olga") == _items("vera") == [("retired", "operator:paul", "", 0, 0)]


@pytest.mark.both_databases
def test_a_retirement_is_listed_for_two_weeks_and_a_quarantine_as_long_as_it_lasts() -> None:
    publish()
    publish("beta")
    quarantine.quarantine(capability_id="alpha", by=PAUL)
    publication.retire(capability_id="beta", by=PAUL)
    assert [kind for kind, *_ in _items("olga")] == ["quarantined", "retired"]
    with tampering():
        AuditEvent.objects.update(at=timezone.now() - timedelta(days=inbox.TAKEN_DAYS + 1))
    assert [kind for kind, *_ in _items("olga")] == ["quarantined"]
