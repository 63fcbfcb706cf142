"""Every published capability held against today's rules: what fails is an incident, what passes closes it."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from capability_rules.validation import RULES_VERSION
from registry.catalog import integrity, revalidation
from registry.catalog.integrity import require_valid_revision
from registry.catalog.revalidation import QueueResult
from registry.common.errors import SkillMalformed
from registry.core.jobs import queue
from registry.models import AuditEvent, Capability, Incident, Job, Revision
from registry.publishing import publication
from tests.factories import OLGA, bundle, damage, publish, tool

pytestmark = pytest.mark.django_db


@pytest.fixture
def newer_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules of another version than those that passed what is stored."""
    monkeypatch.setattr(revalidation, "RULES_VERSION", "newer")
    monkeypatch.setattr(integrity, "RULES_VERSION", "newer")


def _do_all() -> list[str]:
    endings: list[str] = []
    while (ending := queue.run_next_job()) is not None:
        endings.append(ending)
    return endings


def _published() -> Revision:
    revision = Capability.objects.get(capability_id="alpha").published_revision
    assert revision is not None
    return revision


def _break() -> None:
    """As newer rules would: the texts are whole and no longer pass."""
    damage(_published(), tools_json='[{"name": "alpha_list"}]')


def test_what_readers_can_load_is_queued() -> None:
    publish("alpha")
    publish("beta")
    publication.deprecate(capability_id="beta", by=OLGA)
    publish("gone")
    publication.retire(capability_id="gone", by=OLGA)
    assert revalidation.queue_all(by=OLGA) == QueueResult(queued=2, already_queued=0)
    assert revalidation.queue_all(by=OLGA) == QueueResult(queued=0, already_queued=2)
    assert AuditEvent.objects.filter(verb="registry.revalidate", actor_name="olga").count() == 2
    assert _do_all() == ["done", "done"]
    assert not Incident.objects.exists()


def test_many_are_queued_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revalidation, "_JOBS_A_TRANSACTION", 2)
    for number in range(5):
        publish(f"alpha_{number}")
    assert revalidation.queue_all(by=OLGA).queued == 5


def test_what_fails_is_an_incident_before_an_agent_meets_it() -> None:
    publish(tools=[tool("alpha_list")])
    _break()
    revalidation.queue_all(by=OLGA)
    assert _do_all() == ["done"]
    incident = Incident.objects.get()
    assert (incident.closed_at, incident.message) == (None, "Skill 'alpha' has invalid tool schema")


def test_what_passes_again_closes_its_incident(newer_rules: None) -> None:
    publish(tools=[tool("alpha_list")])
    good = _published().tools_json
    _break()
    revalidation.queue_all(by=OLGA)
    _do_all()
    assert _published().rules_version == RULES_VERSION
    damage(_published(), tools_json=good)
    revalidation.queue_all(by=OLGA)
    _do_all()
    assert Incident.objects.get().closed_at is not None
    assert _published().rules_version == "newer"


def test_what_fails_is_checked_again_each_day_until_it_passes() -> None:
    publish(tools=[tool("alpha_list")])
    good = _published().tools_json
    _break()
    revalidation.queue_all(by=OLGA)
    _do_all()
    for is_open in (True, True, False):
        if not is_open:
            damage(_published(), tools_json=good)
        assert revalidation.queue_failing().queued == 1
        assert _do_all() == ["done"]
        assert (Incident.objects.get().closed_at is None) is is_open
    assert revalidation.queue_failing().queued == 0


def test_a_load_that_passes_closes_the_incident() -> None:
    publish(tools=[tool("alpha_list")])
    good = _published().tools_json
    _break()
    with pytest.raises(SkillMalformed):
        require_valid_revision(_published())
    assert Incident.objects.get().closed_at is None
    damage(_published(), tools_json=good)
    require_valid_revision(_published())
    assert Incident.objects.get().closed_at is not None


def test_what_other_rules_passed_is_checked_once(newer_rules: None) -> None:
    publish("alpha", tools=[tool("alpha_list")])
    publish("beta")
    _break()
    assert revalidation.queue_outdated() == QueueResult(queued=2, already_queued=0)
    _do_all()
    assert set(Revision.objects.values_list("name", "rules_version")) == {("Alpha", RULES_VERSION), ("Beta", "newer")}
    assert revalidation.queue_outdated() == QueueResult(0, 0)
    assert Incident.objects.get().count == 1


def test_what_todays_rules_passed_is_not_outdated() -> None:
    publish()
    assert revalidation.queue_outdated() == QueueResult(0, 0)


def test_a_release_meanwhile_makes_the_job_moot() -> None:
    publish(tools=[tool("alpha_list")])
    old = _published()
    revalidation.queue_all(by=OLGA)
    damage(old, tools_json="[{")
    publish(tools=[tool("alpha_list")], body="Fixed.")
    assert _do_all() == ["done"]
    assert not Incident.objects.exists()


def test_a_retired_one_has_no_incident() -> None:
    publish(tools=[tool("alpha_list")])
    _break()
    revalidation.queue_all(by=OLGA)
    publication.retire(capability_id="alpha", by=OLGA)
    assert _do_all() == ["done"]
    assert not Incident.objects.exists()


def test_a_revision_that_is_not_there_is_nothing_to_do() -> None:
    publish()
    revalidation.queue_all(by=OLGA)
    Job.objects.update(payload={"revision_id": 12345})
    assert _do_all() == ["done"]


def test_a_payload_that_says_nothing_is_a_failure() -> None:
    publish()
    revalidation.queue_all(by=OLGA)
    Job.objects.update(payload={})
    assert _do_all() == ["queued"]


def test_the_command_says_what_it_queued(capsys: pytest.CaptureFixture[str]) -> None:
    publication.publish(files=bundle(), by=OLGA)
    call_command("registry", "revalidate", "--format", "json")
    assert json.loads(capsys.readouterr().out) == {"queued": 1, "already_queued": 0}
    call_command("registry", "revalidate")
    assert capsys.readouterr().out.startswith("0 to be checked by the worker, 1 were queued already.")
