"""How revisions fare: counted from the events, and compared so that chance does not speak."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.common.actors import Actor
from registry.models import AuditEvent, Capability, FeedbackEvent, Incident, LoadCount, Operator
from registry.publishing.publication import retire, rollback
from registry.selectors.home import count_failing_by_day
from registry.selectors.inbox import build_inbox
from registry.usage.confidence import OUTCOMES, ConfidenceScore
from registry.usage.feedback import record_outcome
from registry.usage.revision_health import (
    BAD_OUTCOMES,
    EVENTS_SHOWN_MAX,
    GOOD_OUTCOMES,
    CapabilityHealthList,
    OutcomeCounts,
    find_failing,
    find_regressions,
    get_health_report,
    is_regression,
)
from registry.usage.usage_report import list_keys_by_revision
from studio.pages.charts import LINE_HEIGHT, WIDTH, build_confidence_line
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db
AGENT = Actor("agent_key", "agent")
OTHER = Actor("agent_key", "other")


def _tell(outcome: str, times: int = 1, revision: int | None = None, capability_id: str = "alpha") -> None:
    for _ in range(times):
        record_outcome(capability_id=capability_id, outcome=outcome, revision=revision, by=AGENT)


def _alpha() -> Capability:
    return Capability.objects.select_related("published_revision").get(capability_id="alpha")


def _worse_than_before(capability_id: str = "alpha") -> None:
    publish(capability_id)
    _tell("confirmed_success", 10, capability_id=capability_id)
    publish(capability_id, body="Worse.")
    _tell("confirmed_failure", 4, capability_id=capability_id)
    _tell("likely_success", 2, capability_id=capability_id)


def test_every_outcome_has_its_place() -> None:
    assert set(OUTCOMES) == {*GOOD_OUTCOMES, *BAD_OUTCOMES, "used"}


@pytest.mark.parametrize(
    ("newer", "older", "expected"),
    [
        ((2, 4), (10, 0), True),
        ((3, 2), (10, 0), True),
        # One failure of five may be chance; four outcomes are too few to say anything.
        ((4, 1), (10, 0), False),
        ((0, 4), (10, 0), False),
        ((0, 5), (4, 0), False),
        ((50, 50), (50, 50), False),
        ((60, 40), (50, 50), False),
        ((700, 300), (800, 200), True),
    ],
)
def test_a_revision_does_worse_where_chance_does_not_explain_it(
    newer: tuple[int, int], older: tuple[int, int], expected: bool
) -> None:
    assert is_regression(OutcomeCounts(*newer), OutcomeCounts(*older)) is expected


def test_uses_without_an_end_say_nothing() -> None:
    assert not is_regression(OutcomeCounts(2, 2, 100), OutcomeCounts(10))
    assert OutcomeCounts(used=3).failure_percent is None


def test_the_published_revision_is_held_against_the_nearest_one_of_which_enough_is_known() -> None:
    publish()
    _tell("confirmed_success", 10)
    publish(body="Two.")
    _tell("likely_success")
    publish(body="Three.")
    _tell("confirmed_failure", 5)
    (worse,) = find_regressions()
    assert (worse.capability_id, worse.number, worse.before) == ("alpha", 3, 1)
    assert (worse.newer, worse.older) == (OutcomeCounts(0, 5), OutcomeCounts(10, 0))
    assert get_health_report(_alpha()).worse == worse


def test_the_word_of_one_key_alone_is_named_as_such() -> None:
    _worse_than_before()
    assert get_health_report(_alpha()).only_key == "agent"
    (worse,) = find_regressions()
    assert worse.only_key == "agent"
    assert get_health_report(_alpha()).worse == worse
    assert [row.only_key for row in CapabilityHealthList().rows(offset=0, limit=5)] == ["agent"]
    assert _calls() == [("alpha", "agent")]
    # Another key's word about the revision of before says nothing about this one.
    record_outcome(capability_id="alpha", outcome="confirmed_success", revision=1, by=OTHER)
    assert get_health_report(_alpha()).only_key == ""
    assert [one.only_key for one in find_regressions()] == ["agent"]
    assert _calls() == [("alpha", "agent")]
    record_outcome(capability_id="alpha", outcome="confirmed_failure", by=OTHER)
    assert [one.only_key for one in find_regressions()] == [""]
    assert _calls() == [("alpha", "")]
    assert [row.only_key for row in CapabilityHealthList().rows(offset=0, limit=5)] == [""]


def _calls() -> list[tuple[str, str]]:
    """The regressions in the list of what needs a person, and by which key where it is one alone."""
    return _rows("regression")


def _rows(kind: str) -> list[tuple[str, str]]:
    admin = Operator(username="olga", role="admin")
    found = build_inbox(admin, today_ends=timezone.now(), failing=find_failing())
    return [(item.capability_id, item.by) for item in found.items if item.kind == kind]


def test_after_the_rollback_nothing_is_worse() -> None:
    _worse_than_before()
    assert [one.capability_id for one in find_regressions()] == ["alpha"]
    rollback(capability_id="alpha", to=1, by=OLGA)
    assert find_regressions() == []
    assert get_health_report(_alpha()).worse is None


def test_what_is_retired_is_not_offered() -> None:
    _worse_than_before()
    retire(capability_id="alpha", by=OLGA)
    assert find_regressions() == []
    assert get_health_report(_alpha()).worse is None


@pytest.mark.both_databases
def test_points_lead_to_the_score_that_is_kept() -> None:
    publish()
    _tell("confirmed_success", 2)
    publish(body="Two.")
    _tell("likely_failure")
    found = get_health_report(_alpha())
    assert [point.percent for point in found.points] == [60, 70, 65]
    assert [point.revision for point in found.points] == [1, 1, 2]
    assert found.score == ConfidenceScore(65, 3, 2)
    assert found.figures == OutcomeCounts(2, 1)
    assert [(one.number, one.score.percent, one.is_published) for one in found.revisions] == [
        (2, 45, True),
        (1, 70, False),
    ]
    assert [point.percent for point in get_health_report(_alpha(), revision=2).points] == [45]


@pytest.mark.slow
def test_only_the_last_points_are_kept_and_they_are_right() -> None:
    publish()
    _tell("used", EVENTS_SHOWN_MAX + 1)
    points = get_health_report(_alpha()).points
    assert (len(points), points[0].percent) == (EVENTS_SHOWN_MAX, 52)


def test_the_list_has_playbooks_and_what_was_told_of() -> None:
    publish("silent")
    publish("told")
    _tell("confirmed_failure", capability_id="told")
    rows = CapabilityHealthList().rows(offset=0, limit=10)
    assert [(one.capability_id, one.score.percent, one.revision) for one in rows] == [("told", 40, 1)]
    assert len(CapabilityHealthList(kind="playbook")) == 0
    assert len(CapabilityHealthList(kind="other", sort="uses")) == 1


@pytest.mark.both_databases
def test_a_trend_compares_two_times() -> None:
    publish()
    _tell("confirmed_failure", 4)
    FeedbackEvent.objects.update(at=timezone.now() - timedelta(days=40))
    assert CapabilityHealthList().rows(offset=0, limit=1)[0].trend == ""
    _tell("confirmed_success", 4)
    row = CapabilityHealthList().rows(offset=0, limit=1)[0]
    assert (row.recent, row.earlier, row.trend) == (OutcomeCounts(4, 0), OutcomeCounts(0, 4), "better")


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow() -> None:
    counts = []
    for amount in (1, 12):
        for number in range(amount):
            _worse_than_before(f"c{amount}_{number}")
        with CaptureQueriesContext(connection) as queries:
            CapabilityHealthList().rows(offset=0, limit=50)
        counts.append(len(queries))
    # Facets of what is new are read once.
    assert counts[0] == counts[1] <= 11


def test_a_line_goes_through_every_event() -> None:
    publish()
    _tell("confirmed_success", 2)
    publish(body="Two.")
    _tell("likely_failure")
    line = build_confidence_line(get_health_report(_alpha()).points)
    assert [step.kind for step in line.steps] == ["good", "good", "bad"]
    assert [step.y for step in line.steps] == [LINE_HEIGHT - 60, LINE_HEIGHT - 70, LINE_HEIGHT - 65]
    assert [(turn.number, turn.x) for turn in line.turns] == [(2, round(WIDTH / 3 * 2, 2))]
    assert line.path.startswith("0.00,40 200.00,40 200.00,30")


def test_a_first_release_that_fails_in_use_is_failing_and_in_the_inbox() -> None:
    publish()
    publish("beta")
    for outcome, count in (("confirmed_success", 4), ("confirmed_failure", 2), ("likely_failure", 1), ("used", 9)):
        _tell(outcome, count)
    for outcome, count in (("confirmed_success", 20), ("confirmed_failure", 5)):
        for _ in range(count):
            record_outcome(capability_id="beta", outcome=outcome, by=OTHER)
    today = datetime.now(UTC).date()
    assert (find_failing(), count_failing_by_day(today)[-2:]) == ([], [0, 0])
    _tell("confirmed_failure", 1)
    (failing,) = find_failing()
    assert (failing.capability_id, failing.number, failing.failed, failing.known) == ("alpha", 1, 4, 8)
    assert failing.only_key == "agent"
    assert count_failing_by_day(today)[-2:] == [0, 1]
    assert _rows("fails_in_use") == [("alpha", "agent")]
    publish(body="Two.")
    assert find_failing() == []


def test_an_incident_opens_once_and_closes_by_itself() -> None:
    publish()
    _tell("confirmed_success", 4)
    _tell("confirmed_failure", 6)
    incident = Incident.objects.get(kind="use")
    assert (incident.closed_at, incident.count, incident.revision) == (None, 6, _alpha().published_revision)
    assert "6 of 10" in incident.details
    assert AuditEvent.objects.filter(verb="incident.open", subject="alpha").count() == 1
    _tell("confirmed_success", 30)
    assert Incident.objects.get(kind="use").closed_at is not None
    assert AuditEvent.objects.filter(verb="incident.close", subject="alpha").count() == 1
    publish(body="Two.")
    _tell("confirmed_failure", 9, revision=1)
    assert not Incident.objects.filter(closed_at__isnull=True).exists()
    _tell("confirmed_failure", 8)
    assert Incident.objects.get(closed_at__isnull=True).revision == _alpha().published_revision
    publish(body="Three.")
    assert not Incident.objects.filter(closed_at__isnull=True).exists()


@pytest.mark.both_databases
def test_what_does_worse_than_before_is_one_row() -> None:
    _worse_than_before()
    _tell("confirmed_failure", 5)
    assert len(find_failing()) == 1
    assert (_rows("fails_in_use"), _rows("regression")) == ([], [("alpha", "agent")])


def test_who_loads_which_revision_is_known_by_name() -> None:
    publish()
    today = datetime.now(UTC).date()
    for revision, key, count in ((1, "old", 3), (1, "", 5), (2, "new", 1)):
        LoadCount.objects.create(day=today, capability_id="alpha", revision=revision, key_name=key, count=count)
    past = today - timedelta(days=40)
    LoadCount.objects.create(day=past, capability_id="alpha", revision=1, key_name="gone", count=9)
    assert list_keys_by_revision("alpha") == {1: ["", "old"], 2: ["new"]}
