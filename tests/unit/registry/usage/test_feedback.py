"""What agents tell is kept as events; where that led can be counted anew."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, RevisionNotFound
from registry.models import AuditEvent, Capability, Confidence, FeedbackEvent
from registry.publishing import publication
from registry.snapshot import STORE, current_snapshot
from registry.snapshot.snapshot import read_confidences
from registry.usage import feedback
from registry.usage.confidence import NEUTRAL, OUTCOMES, ConfidenceScore, ReportedOutcome, recount
from registry.usage.feedback import get_stored_confidence, record_outcome
from registry.usage.revision_health import OutcomeCounts, count_outcomes, count_outcomes_by_revision, recount_ends
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db
AGENT = Actor("agent_key", "agent")


def _tell(outcome: str, revision: int | None = None, capability_id: str = "alpha") -> feedback.FeedbackResult:
    return record_outcome(capability_id=capability_id, outcome=outcome, revision=revision, by=AGENT)


def _alpha() -> Capability:
    return Capability.objects.get(capability_id="alpha")


def _recomputed(**wanted: int) -> ConfidenceScore:
    """Of one key, which has its full weight."""
    score = NEUTRAL
    for outcome in FeedbackEvent.objects.filter(**wanted).order_by("id").values_list("outcome", flat=True):
        score = score.after(outcome)
    return score


def _stored_by_revision() -> dict[int, ConfidenceScore]:
    rows = Confidence.objects.filter(revision__gt=0)
    return {row.revision: ConfidenceScore(row.percent, row.uses, row.confirmed) for row in rows}


def test_an_outcome_is_kept_with_who_and_which_revision() -> None:
    publish()
    publish(body="Two.")
    told = _tell("likely_success")
    event = FeedbackEvent.objects.get()
    assert (event.event_id, event.revision, event.outcome, event.key_name) == (
        *(told.event_id, 2),
        *("likely_success", "agent"),
    )
    assert told.score == ConfidenceScore(53, 1, 0, is_single_key=True)
    row = AuditEvent.objects.get(verb="feedback.record")
    assert row.detail == {"outcome": "likely_success", "revision": 2, "event_id": str(told.event_id)}


@pytest.mark.both_databases
def test_what_is_kept_is_what_the_events_lead_to() -> None:
    publish()
    publish(body="Two.")
    chance = random.Random(7)
    for _ in range(60):
        _tell(chance.choice(OUTCOMES), chance.choice([None, 1, 2]))
    assert get_stored_confidence(_alpha()) == _recomputed() != NEUTRAL
    for number in (1, 2):
        assert _stored_by_revision()[number] == _recomputed(revision=number)
        assert _stored_by_revision()[number].uses > 5
    assert read_confidences() == {"alpha": replace(_recomputed(), is_single_key=True)}
    told = {
        number: count_outcomes(Counter(FeedbackEvent.objects.filter(revision=number).values_list("outcome", flat=True)))
        for number in (1, 2)
    }
    assert count_outcomes_by_revision([_alpha().pk]) == {_alpha().pk: told}
    whole = _alpha().confidences.get(revision=0)
    assert (whole.good, whole.bad) == (told[1].good + told[2].good, told[1].bad + told[2].bad)


def test_counts_of_an_older_version_are_made_anew() -> None:
    publish()
    for outcome in ("used", "likely_success", "confirmed_failure", "likely_failure"):
        _tell(outcome)
    before = count_outcomes_by_revision([_alpha().pk])
    assert before[_alpha().pk][1] == OutcomeCounts(good=1, bad=2, used=1)
    Confidence.objects.update(good=0, bad=0)
    recount_ends()
    assert count_outcomes_by_revision([_alpha().pk]) == before
    assert _alpha().confidences.get(revision=0).bad == 2


def test_a_report_counts_no_events_but_its_keys_of_today() -> None:
    publish()
    _tell("likely_success")
    record_outcome(capability_id="alpha", outcome="used", by=Actor("agent_key", "other"))
    with CaptureQueriesContext(connection) as asked:
        _tell("likely_failure")
    counted = [one["sql"] for one in asked.captured_queries if "feedbackevent" in one["sql"] and "COUNT(" in one["sql"]]
    assert len(counted) == 1
    assert '"key_name" = ' in counted[0]
    assert '"at" >= ' in counted[0]


def test_a_worse_revision_shows_beside_the_one_before() -> None:
    publish()
    _tell("confirmed_success")
    publish(body="Worse.")
    _tell("confirmed_failure")
    assert _stored_by_revision() == {1: ConfidenceScore(60, 1, 1), 2: ConfidenceScore(40, 1, 0)}
    assert get_stored_confidence(_alpha()) == ConfidenceScore(50, 2, 1)


@pytest.mark.both_databases
def test_nothing_told_is_neutral() -> None:
    publish()
    assert get_stored_confidence(_alpha()) == NEUTRAL
    assert _stored_by_revision() == {}


def test_what_agents_cannot_load_takes_none() -> None:
    publish("gone")
    publication.retire(capability_id="gone", by=OLGA)
    Capability.objects.create(capability_id="sketch")
    for name in ("gone", "sketch", "nobody"):
        with pytest.raises(CapabilityNotFound):
            _tell("used", capability_id=name)
    publish()
    with pytest.raises(RevisionNotFound):
        _tell("used", 2)
    with pytest.raises(InvalidRequest, match="confirmed_success, likely_success"):
        _tell("great")
    assert not FeedbackEvent.objects.exists()
    assert not Confidence.objects.exists()


def test_a_deprecated_one_still_learns() -> None:
    publish()
    publication.deprecate(capability_id="alpha", by=OLGA)
    assert _tell("used").score == ConfidenceScore(51, 1, 0, is_single_key=True)


def test_a_watched_process_takes_it_up_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is served never moves with each request."""
    publication.publish(files=bundle(), by=OLGA)
    now = [1000.0]
    monkeypatch.setattr("registry.snapshot.store.time.monotonic", lambda: now[0])
    before = STORE.refresh()
    _tell("used")
    now[0] += 1.9
    assert STORE.refresh(at_once=False) is before
    now[0] += 0.2
    after = STORE.refresh(at_once=False)
    assert after.confidences == {"alpha": ConfidenceScore(51, 1, 0, is_single_key=True)}
    assert (after.entries is before.entries, after.answers is before.answers) == (True, True)
    _tell("used")
    assert STORE.refresh(at_once=False) is after
    publish("beta")
    assert STORE.refresh(at_once=False).confidences == {"alpha": ConfidenceScore(52, 2, 0, is_single_key=True)}


def test_asking_at_once_sees_it() -> None:
    publish()
    current_snapshot()
    _tell("used")
    assert current_snapshot().confidences["alpha"].uses == 1


def _tell_as(key: str, outcome: str, times: int = 1) -> ConfidenceScore:
    by = Actor("agent_key", key)
    return [record_outcome(capability_id="alpha", outcome=outcome, by=by) for _ in range(times)][-1].score


@pytest.mark.both_databases
def test_one_key_among_several_does_not_make_the_score() -> None:
    publish()
    _tell_as("fleet", "confirmed_success", 3)
    # 0.20 down and no further, however often; the uses count. So does what the other has reported before.
    assert _tell_as("angry", "confirmed_failure", 5) == ConfidenceScore(50, 8, 3)
    # The way up has a share of its own, and the last step of it is cut.
    assert _tell_as("angry", "likely_success", 10) == ConfidenceScore(70, 18, 3)
    assert get_stored_confidence(_alpha()) == _stored_by_revision()[1] == ConfidenceScore(70, 18, 3)
    assert list(FeedbackEvent.objects.filter(key_name="angry").order_by("id").values_list("step", flat=True)) == [
        *(None, None, 0, 0, 0),
        *[None] * 6,
        *(2, 0, 0, 0),
    ]
    assert AuditEvent.objects.filter(verb="feedback.record").order_by("-id")[0].detail["step"] == 0


@pytest.mark.both_databases
def test_the_only_key_that_reports_has_its_full_weight() -> None:
    publish()
    assert _tell_as("fleet", "confirmed_success", 5) == ConfidenceScore(100, 5, 5, is_single_key=True)
    FeedbackEvent.objects.update(key_name="gone", at=timezone.now() - timedelta(days=31))
    # What the other reported alone is worth its share of that day from now on.
    assert _tell_as("fleet", "confirmed_failure", 5) == ConfidenceScore(20, 10, 5)
    assert _tell_as("third", "used") == ConfidenceScore(51, 11, 5)


def test_what_the_only_key_reported_counts_by_the_day_once_another_reports() -> None:
    publish()
    assert _tell_as("angry", "confirmed_failure", 50) == ConfidenceScore(0, 50, 0, is_single_key=True)
    assert _tell_as("other", "confirmed_success") == ConfidenceScore(40, 51, 1)
    assert _tell_as("angry", "confirmed_failure", 5) == ConfidenceScore(40, 56, 1)
    assert read_confidences() == {"alpha": ConfidenceScore(40, 56, 1)}


def test_each_day_of_the_only_key_has_a_share_and_each_revision_its_score() -> None:
    publish()
    _tell_as("angry", "confirmed_failure", 9)
    FeedbackEvent.objects.update(at=timezone.now() - timedelta(days=1))
    publish(body="Two.")
    _tell_as("angry", "confirmed_failure", 9)
    assert _tell_as("other", "likely_success") == ConfidenceScore(13, 19, 0)
    assert _stored_by_revision() == {1: ConfidenceScore(30, 9, 0), 2: ConfidenceScore(33, 10, 0)}


def test_outcomes_are_read_again_only_when_a_key_is_no_longer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def counting(reports: Iterable[ReportedOutcome]) -> dict[int, ConfidenceScore]:
        counted.append(1)
        return recount(reports)

    monkeypatch.setattr(feedback, "recount", counting)
    publish()
    _tell_as("one", "used", 3)
    assert not counted
    for key in ("two", "one", "two", "three", "three", "one"):
        _tell_as(key, "used")
    assert len(counted) == 1


@pytest.mark.both_databases
def test_a_key_has_a_new_share_on_the_next_day() -> None:
    publish()
    _tell_as("other", "used")
    assert _tell_as("angry", "confirmed_failure", 3).percent == 31
    FeedbackEvent.objects.filter(key_name="angry").update(at=timezone.now() - timedelta(days=1))
    assert _tell_as("angry", "confirmed_failure", 3).percent == 11
