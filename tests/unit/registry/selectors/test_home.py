"""What Home tells."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.catalog import drafts, incidents
from registry.common.actors import Actor
from registry.models import Job, LoadCount, MatchCount, Operator, Release, Revision
from registry.publishing import publication
from registry.selectors import home
from registry.selectors.onboarding import completed_steps
from registry.usage import usage_counters
from tests.factories import OLGA, agent_key, bundle, publish, tampering

pytestmark = pytest.mark.django_db


def test_activity_says_who_did_what_to_which() -> None:
    publication.publish(files=bundle(name="The First"), by=OLGA, note="because")
    drafts.save_draft(capability_id="alpha", files={"skill.md": ""}, based_on=None, by=OLGA)
    (one,) = home.list_activity()
    assert (one.name, one.event.verb, one.event.actor_name) == ("The First", "capability.publish", "olga")


def test_misses_are_those_that_are_still_not_there() -> None:
    for wanted, count in (("sleep", 3), ("alpha", 9), ("beta", 5)):
        for _ in range(count):
            usage_counters.count_miss(wanted)
    usage_counters.flush()
    publish("alpha")
    publish("beta")
    publication.retire(capability_id="beta", by=OLGA)
    assert [(one.capability_id, one.count) for one in home.list_unmet_requests()] == [("beta", 5), ("sleep", 3)]


def test_loads_have_every_day_and_nothing_older() -> None:
    today = date(2026, 3, 1)
    for day, count in ((today, 2), (today - timedelta(days=59), 5), (today - timedelta(days=60), 7)):
        LoadCount.objects.create(day=day, capability_id="alpha", revision=1, count=count)
    LoadCount.objects.create(day=today, capability_id="beta", revision=1, key_name="k", count=3)
    found = home.count_loads_by_day(today)
    assert [day for day, _ in found] == [date(2026, 1, 1) + timedelta(days=number) for number in range(60)]
    assert (found[0][1], found[-1][1], sum(count for _, count in found)) == (5, 5, 10)


def test_matches_have_every_day_of_both_periods() -> None:
    today = date(2026, 3, 1)
    for back, decision, count in ((0, "match", 3), (0, "none", 1), (59, "ambiguous", 2), (60, "match", 7)):
        MatchCount.objects.create(day=today - timedelta(days=back), decision=decision, count=count)
    found = home.count_matches_by_day(today)
    assert len(found) == 60
    assert (found[0].asked, found[0].matched, found[-1].asked, found[-1].matched) == (2, 0, 4, 3)
    assert sum(day.asked for day in found) == 6


def test_every_status_has_its_number() -> None:
    publish()
    assert home.count_statuses() == {"draft": 0, "published": 1, "deprecated": 0, "retired": 0, "quarantined": 0}


@pytest.mark.both_databases
def test_published_and_failing_are_told_as_they_were() -> None:
    today = datetime.now(UTC).date()
    publish("alpha")
    publish("beta")
    with tampering():
        Release.objects.filter(capability__capability_id="alpha").update(at=timezone.now() - timedelta(days=60))
        Release.objects.filter(capability__capability_id="beta").update(at=timezone.now() - timedelta(days=3))
    publish("alpha", body="Another.")
    publication.retire(capability_id="beta", by=OLGA)
    releases = home.list_releases_since(today - timedelta(days=29))
    counts = home.count_published_by_day(today, 1, releases)
    assert counts == [1] * 27 + [2] * 3 + [1]
    for revision in Revision.objects.order_by("pk")[:1]:
        incidents.open_incident(revision=revision, message="m", details="d", findings=())
    assert home.count_failing_by_day(today) == [0] * 30 + [1]


def test_the_number_of_queries_does_not_grow() -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            home.build_home(viewer=viewer, today_ends=timezone.now())
        return len(queries)

    viewer = Operator.objects.create_user("ann", role=Operator.Role.PUBLISHER)
    publish()
    few = count()
    for number in range(10):
        publish(f"c{number}")
        drafts.save_draft(capability_id=f"c{number}", files={"skill.md": ""}, based_on=None, by=OLGA)
        usage_counters.count_miss(f"m{number}")
        usage_counters.count_load(f"c{number}", 1, key_name="")
    usage_counters.flush()
    assert count() == few <= 23


def test_the_first_steps_are_what_one_has_written_oneself() -> None:
    bob = Actor("operator", "bob")
    assert completed_steps(by=OLGA) == frozenset()
    drafts.save_draft(capability_id="alpha", files={"skill.md": ""}, based_on=None, by=OLGA)
    assert completed_steps(by=OLGA) == {"make"}
    publish()
    agent_key()
    assert completed_steps(by=OLGA) == {"make", "publish", "key"}
    assert completed_steps(by=bob) == frozenset()


@pytest.mark.parametrize(
    ("columns", "is_told"),
    [
        ({"run_after": timedelta(minutes=-3)}, True),
        ({"run_after": timedelta(minutes=-1)}, False),
        ({"run_after": timedelta(minutes=3)}, False),
        ({"state": "running", "lease_expires_at": timedelta(minutes=-3)}, True),
        ({"state": "running", "lease_expires_at": timedelta(seconds=30)}, False),
        ({"state": "parked", "finished_at": timedelta(minutes=-3), "run_after": timedelta(minutes=-9)}, False),
    ],
)
def test_jobs_that_nobody_does_are_seen(columns: dict[str, Any], is_told: bool) -> None:
    now = datetime.now(UTC)
    row = {name: now + value if isinstance(value, timedelta) else value for name, value in columns.items()}
    Job.objects.create(kind="revalidate", **row)
    assert (home.find_stalled_jobs(now) is not None) == is_told
