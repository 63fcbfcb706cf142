"""Scheduled releases in the browser."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.catalog import drafts
from registry.models import Job, Operator, Revision, ScheduledRelease
from registry.operations.worker import Worker
from registry.publishing import publication
from registry.publishing.scheduled_releases import KIND
from registry.selectors.inbox import build_inbox
from registry.usage.revision_health import find_failing
from tests.factories import OLGA, bundle, publish, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with

pytestmark = pytest.mark.django_db

GATE = "/capabilities/alpha/publish/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("publisher")


def _when(hours: int = 2) -> str:
    return f"{timezone.now() + timedelta(hours=hours):%Y-%m-%dT%H:%M}"


def _plan(client: Client, **values: Any) -> Any:
    form = form_with(client.get(GATE), "Schedule release")
    form.action = f"{GATE}later/"
    return form.submit(client, **({"note": "At night", "due_at": _when()} | values))


def _draft(**fields: Any) -> None:
    drafts.replace_draft(capability_id="alpha", files=bundle(**({"body": "Later."} | fields)), by=OLGA)


def test_the_button_for_now_publishes_nothing_where_later_was_chosen(client: Client) -> None:
    _draft()
    form = form_with(client.get(GATE), "Publish")
    answer = form.submit(client, note="At night", when="later", due_at=_when())
    assert answer.status_code == 400
    assert "Press Schedule release to publish later." in answer.content.decode()
    assert not Revision.objects.exists()
    assert form_with(answer, "Publish").values["when"] == "later"


def test_planned_listed_and_made(client: Client) -> None:
    _draft()
    due_at = _when()
    assert _plan(client, due_at=due_at)["Location"] == "/releases/"
    page = client.get("/releases/").content.decode()
    assert f'value="{due_at}"' in page
    assert "At night" in page
    assert "Scheduled for" in client.get(GATE).content.decode()
    Job.objects.filter(kind=KIND).update(run_after=timezone.now())
    Worker().run_due()
    assert Revision.objects.get().created_by == "operator:the-publisher"
    page = client.get("/releases/").content.decode()
    assert "Nothing scheduled. Schedule a release when you publish." in page
    assert "Revision 1" in client.get("/releases/?state=past").content.decode()


@pytest.mark.parametrize(
    ("values", "status", "words"),
    [
        ({"note": " "}, 400, "Enter a release note"),
        ({"due_at": ""}, 400, "Enter a day and a time"),
        ({"due_at": "tomorrow"}, 400, "Enter a day and a time"),
        ({"due_at": "2001-01-01T00:00"}, 409, "The time is in the past"),
        ({"draft_version": "7"}, 409, "Check the changes again"),
    ],
)
def test_what_is_odd_comes_back_with_what_was_typed(
    values: dict[str, str], status: int, words: str, client: Client
) -> None:
    _draft()
    answer = _plan(client, **values)
    assert answer.status_code == status
    assert words in answer.content.decode()
    form = form_with(answer, "Schedule release")
    assert form.values["note"] == values.get("note", "At night").strip()
    assert not ScheduledRelease.objects.exists()


def test_what_the_gate_refuses_is_not_planned_and_a_tick_is_kept(client: Client) -> None:
    publish(tools=[tool("a_save", "write")])
    _draft(tools=[tool("a_save", "write", requires_approval=False)])
    refused = _plan(client)
    assert refused.status_code == 422
    assert form_with(refused, "Schedule release").values["note"] == "At night"
    assert _plan(client, acknowledge=["POLICY_LOOSENED"]).status_code == 302
    assert ScheduledRelease.objects.get().acknowledged == ["POLICY_LOOSENED"]


def test_changed_and_called_off(client: Client) -> None:
    _draft()
    _plan(client)
    later = _when(30)
    form = form_with(client.get("/releases/"), "Reschedule")
    assert form.submit(client, due_at=later).status_code == 302
    assert f'value="{later}"' in client.get("/releases/").content.decode()
    for odd in ("", "2001-01-01T00:00"):
        form.submit(client, due_at=odd)
    assert f'value="{later}"' in client.get("/releases/").content.decode()
    asked = form_with(client.get("/releases/"), "Cancel release").submit(client)
    assert confirm(client, asked).status_code == 302
    assert ScheduledRelease.objects.get().state == "cancelled"
    confirm(client, asked)
    assert "no longer waits" in client.get("/capabilities/").content.decode()
    assert "Canceled" in client.get("/releases/?state=past").content.decode()


def test_a_viewer_sees_the_list_without_its_buttons(client: Client, signed_in: SignIn) -> None:
    _draft()
    _plan(client)
    page = signed_in("viewer").get("/releases/").content.decode()
    assert "At night" in page
    assert "/releases/cancel/" not in page


def test_a_role_that_was_lost_meanwhile_plans_nothing(client: Client) -> None:
    _draft()
    form = form_with(client.get(GATE), "Schedule release")
    form.action = f"{GATE}later/"
    Operator.objects.filter(username="the-publisher").update(role="author")
    answer = form.submit(client, note="At night", due_at=_when())
    assert answer.status_code == 403
    assert "can&#x27;t publish" in answer.content.decode()
    assert form_with(answer, "Submit for review").values["note"] == "At night"


def test_without_a_draft_there_is_nothing_to_plan(client: Client) -> None:
    publish()
    assert client.post(f"{GATE}later/", {"note": "x", "due_at": _when()})["Location"] == "/capabilities/alpha/"


def test_edit_that_stops_a_scheduled_release_is_said_before_and_after(client: Client, signed_in: SignIn) -> None:
    publish()
    _draft()
    _plan(client)
    author = signed_in("author")
    pages = ("/capabilities/alpha/edit/", "/capabilities/alpha/", GATE)
    for page in pages:
        assert 'data-scheduled="waiting"' in author.get(page).content.decode(), page
    assert "data-stopped" not in client.get("/releases/").content.decode()
    form = form_with(author.get("/capabilities/alpha/edit/"), "Save draft")
    form.values["skill_md"] += "Edited."
    saved = author.post(form.action, form.values, headers={"HX-Request": "true"}).content.decode()
    assert re.search(r'hx-swap-oob="innerHTML:#scheduled">.*data-scheduled="stopped"', saved, re.DOTALL)
    for page in pages:
        assert 'data-scheduled="stopped"' in author.get(page).content.decode(), page
    assert "data-stopped" in client.get("/releases/").content.decode()
    assert _stopped("the-publisher") == [True]
    assert _stopped("the-author") == []
    assert _plan(client)["Location"] == "/releases/"
    assert list(ScheduledRelease.objects.order_by("pk").values_list("state", flat=True)) == ["cancelled", "waiting"]
    assert _stopped("the-publisher") == []


def test_who_scheduled_what_a_retirement_ended_is_told(client: Client) -> None:
    publish()
    _draft()
    _plan(client)
    publication.retire(capability_id="alpha", by=OLGA)
    assert _stopped("the-publisher") == [True]


def _stopped(username: str) -> list[bool]:
    """The rows of the inbox of this person about releases that will not go out, and whether each says why."""
    found = build_inbox(Operator.objects.get(username=username), today_ends=timezone.now(), failing=find_failing())
    return [bool(one.text) for one in found.items if one.kind == "release_stopped"]
