"""Releases at a time, made by the worker itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.acceptances.held_passages import accept_passages, list_pending
from features.acceptances.models import Acceptance
from registry.access import operators
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import DraftConflict, NotFound, StatusConflict
from registry.core.jobs import admin
from registry.models import AuditEvent, Capability, Incident, Job, Operator, Revision, ScheduledRelease
from registry.operations.worker import Worker
from registry.publishing import publication, scheduled_releases
from tests.factories import DOUBT, OLGA, bundle, publish, tool
from tests.unit.registry.publishing.test_release_rules import ADMIN, set_rule

pytestmark = pytest.mark.django_db

SOON = timedelta(hours=1)
PASSWORD = "Correct-horse-battery-9"


@pytest.fixture(autouse=True)
def olga() -> None:
    operators.create_operator(username="olga", password=PASSWORD, role="publisher", by=ADMIN)


def _plan(**fields: Any) -> ScheduledRelease:
    files = bundle(**({"body": "Later."} | fields))
    draft = drafts.replace_draft(capability_id="alpha", files=files, by=OLGA)
    assert draft is not None
    done = scheduled_releases.schedule_release(
        capability_id="alpha", draft_version=draft.version, due_at=timezone.now() + SOON, by=OLGA, note="In time"
    )
    assert done.release is not None, done.outcome.findings
    return done.release


def _when_due(release: ScheduledRelease) -> ScheduledRelease:
    """The hour has passed, and a worker that has just started looks for work."""
    Job.objects.filter(kind=scheduled_releases.KIND, state="queued").update(run_after=timezone.now())
    Worker().run_due()
    release.refresh_from_db()
    return release


def _published() -> int | None:
    revision = Capability.objects.get(capability_id="alpha").published_revision
    return revision.number if revision else None


def test_it_waits_for_its_time_and_is_made_in_the_name_of_who_planned_it() -> None:
    publish()
    release = _plan()
    Worker().run_due()
    assert _published() == 1
    release = _when_due(release)
    assert (release.state, release.revision, _published()) == ("done", 2, 2)
    revision = Revision.objects.get(number=2)
    assert (revision.note, revision.created_by) == ("In time", "operator:olga")
    verbs = list(AuditEvent.objects.filter(verb__startswith="release.").values_list("verb", flat=True))
    assert verbs == ["release.schedule", "release.done"]
    assert not Incident.objects.exists()


def test_a_first_release_can_be_planned() -> None:
    assert _when_due(_plan()).revision == 1


def test_a_draft_that_was_edited_since_is_not_published_and_that_is_an_incident() -> None:
    publish()
    release = _plan()
    drafts.save_draft(
        capability_id="alpha", files=bundle(body="Edited."), based_on=release.draft_version, by=OLGA
    )  # fmt: skip
    release = _when_due(release)
    assert (release.state, _published()) == ("failed", 1)
    incident = Incident.objects.get()
    assert incident.message == "The scheduled release of 'alpha' failed"
    assert incident.details == release.reason == "The draft was changed after the release was scheduled"
    assert (incident.kind, incident.revision) == ("release", Capability.objects.get().published_revision)


def test_the_incident_of_a_failed_release_closes_with_its_draft() -> None:
    release = _plan()
    drafts.save_draft(
        capability_id="alpha", files=bundle(body="Edited."), based_on=release.draft_version, by=OLGA
    )  # fmt: skip
    assert _when_due(release).state == "failed"
    assert Incident.objects.get().closed_at is None
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert Incident.objects.get().closed_at is not None


def test_a_draft_that_was_put_away_without_any_revision_is_an_incident_too() -> None:
    release = _plan()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert _when_due(release).reason == "The draft was discarded or published after the release was scheduled"
    assert Incident.objects.get().revision is None


def test_what_the_gate_refuses_by_then_says_why() -> None:
    publish("beta")
    release = _plan(tools=[tool("shared_name")])
    publish("beta", [tool("shared_name")])
    release = _when_due(release)
    assert release.state == "failed"
    assert "shared_name" in release.reason
    assert Incident.objects.get().findings[0]["code"] == "TOOL_NAME_COLLISION"


def test_a_rule_that_came_meanwhile_holds() -> None:
    release = _plan()
    set_rule(four_eyes=True)
    assert "second person" in _when_due(release).reason


def test_passage_that_is_doubted_by_then_is_an_incident_and_waits_for_a_decision() -> None:
    drafts.replace_draft(capability_id="alpha", files=bundle(body=DOUBT), by=OLGA)
    terminal = Actor("command_line", "root")
    accept_passages(capability_id="alpha", by=terminal, reason="Known")
    release = _plan(body=DOUBT)
    Acceptance.passages.all().delete()
    release = _when_due(release)
    assert (release.state, "A person has to decide" in release.reason) == ("failed", True)
    assert Incident.objects.get().kind == "release"
    assert [one.capability_id for one in list_pending()] == ["alpha"]


@pytest.mark.parametrize("how", ["disabled", "demoted"])
def test_who_lost_the_right_publishes_nothing(how: str) -> None:
    release = _plan()
    if how == "disabled":
        operators.disable_operator(username="olga", by=ADMIN)
    else:
        Operator.objects.filter(username="olga").update(role="author")
    assert _when_due(release).reason == "olga, who scheduled it, can no longer publish"
    assert _published() is None


def test_a_good_publish_closes_the_incident() -> None:
    release = _plan()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    _when_due(release)
    publish()
    assert Incident.objects.get().closed_at is not None


def test_another_time() -> None:
    release = _plan()
    later = timezone.now() + timedelta(days=2)
    scheduled_releases.reschedule_release(scheduled_id=release.pk, due_at=later, by=OLGA)
    job = Job.objects.get(kind=scheduled_releases.KIND)
    assert (job.run_after, job.state) == (later, "queued")
    assert _when_due(release).state == "done"


def test_cancelled_is_never_made() -> None:
    release = _plan()
    scheduled_releases.cancel_release(scheduled_id=release.pk, by=OLGA)
    assert Job.objects.get(kind=scheduled_releases.KIND).state == "cancelled"
    assert _when_due(release).state == "cancelled"
    assert _published() is None
    for verb in (scheduled_releases.cancel_release, scheduled_releases.reschedule_release):
        more: dict[str, Any] = (
            {"due_at": timezone.now() + SOON} if verb is scheduled_releases.reschedule_release else {}
        )
        with pytest.raises(StatusConflict, match="no longer pending"):
            verb(scheduled_id=release.pk, by=OLGA, **more)


def test_what_is_published_at_once_calls_it_off() -> None:
    release = _plan()
    publication.publish_draft(capability_id="alpha", by=OLGA, note="Now")
    release = _when_due(release)
    assert (release.state, release.reason) == ("cancelled", "Revision 1 was published before its time came")
    assert Revision.objects.count() == 1


def test_one_waits_at_a_time() -> None:
    release = _plan()
    again: dict[str, Any] = {"capability_id": "alpha", "due_at": timezone.now() + SOON, "by": OLGA, "note": "x"}
    with pytest.raises(StatusConflict, match="already scheduled"):
        scheduled_releases.schedule_release(draft_version=release.draft_version, **again)
    # One that an edit has stopped makes room.
    assert _plan(body="Another.").state == "waiting"


@pytest.mark.parametrize("away", [timedelta(seconds=-1), timedelta(days=400)])
def test_an_odd_time_is_refused(away: timedelta) -> None:
    release = _plan()
    with pytest.raises(InvalidRequest):
        scheduled_releases.reschedule_release(scheduled_id=release.pk, due_at=timezone.now() + away, by=OLGA)
    with pytest.raises(InvalidRequest):
        scheduled_releases.schedule_release(
            capability_id="alpha", draft_version=1, due_at=timezone.now() + away, by=OLGA, note="x"
        )


def test_what_is_refused_now_is_not_planned() -> None:
    publish(tools=[tool("a_save", "write")])
    draft = drafts.replace_draft(
        capability_id="alpha", files=bundle(tools=[tool("a_save", "write", requires_approval=False)]), by=OLGA
    )
    assert draft is not None
    due_at = timezone.now() + SOON
    done = scheduled_releases.schedule_release(
        capability_id="alpha", draft_version=draft.version, due_at=due_at, by=OLGA, note="x"
    )  # fmt: skip
    assert (done.release, done.outcome.status) == (None, "refused")
    with pytest.raises(DraftConflict):
        scheduled_releases.schedule_release(capability_id="alpha", draft_version=9, due_at=due_at, by=OLGA, note="x")
    ticked = scheduled_releases.schedule_release(
        capability_id="alpha", draft_version=draft.version, due_at=due_at, by=OLGA, note="x",
        acknowledge=["POLICY_LOOSENED"],
    )  # fmt: skip
    assert ticked.release is not None
    assert _when_due(ticked.release).state == "done"


def test_a_job_that_is_cancelled_or_parked_at_the_command_line_tells_its_release() -> None:
    release = _plan()
    job = Job.objects.get(kind=scheduled_releases.KIND)
    admin.cancel_job(job_id=job.pk, by=OLGA)
    release.refresh_from_db()
    assert (release.state, release.reason) == ("cancelled", "Its job was cancelled")
    again = _plan()
    scheduled_releases.on_job_state_change({"scheduled_id": again.pk}, "parked")
    again.refresh_from_db()
    assert (again.state, Incident.objects.count()) == ("failed", 1)
    scheduled_releases.on_job_state_change({"scheduled_id": again.pk}, "queued")
    again.refresh_from_db()
    assert again.state == "waiting"
    scheduled_releases.on_job_state_change({"scheduled_id": 0}, "queued")


def test_what_is_not_there() -> None:
    with pytest.raises(NotFound):
        scheduled_releases.cancel_release(scheduled_id=1, by=Actor("operator", "olga"))
