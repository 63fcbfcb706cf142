"""*What happened*: why uses failed, and what is done about it."""

from __future__ import annotations

from typing import Any

import pytest

from registry.common.actors import Actor
from registry.models import OutcomeReport
from registry.usage.feedback import record_outcome
from registry.usage.outcome_reports import read_reason
from tests.factories import publish, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with

pytestmark = pytest.mark.django_db
HERE = "/capabilities/alpha/outcomes/"
TALK = [
    {"role": "user", "text": "Save it,\nplease"},
    {"role": "agent", "text": "Done.", "calls": [{"tool": "alpha_save", "arguments": {"rows": [{"kg": 80}]}}]},
    {"role": "tool", "text": '{"error": {"code": "ARGUMENTS_INVALID"}}'},
]


@pytest.fixture(autouse=True)
def _told(settings: Any) -> None:
    settings.KEEP_CONVERSATIONS = True
    save = {**tool("alpha_save"), "policy": {"kind": "write", "requires_approval": True}}
    publish(tools=[save], body="Call `alpha_save` with the date.")
    said = read_reason("No day", {"tool": "alpha_save", "code": "ARGUMENTS_INVALID", "missing": "date"}, TALK)
    for _ in range(9):
        record_outcome(capability_id="alpha", outcome="confirmed_failure", by=Actor("agent_key", "agent"), said=said)


def test_a_failure_is_seen_with_its_reason_and_becomes_a_case(signed_in: SignIn) -> None:
    client = signed_in("author")
    page = client.get(HERE).content.decode()
    assert "No day" in page
    assert "Save it" in page
    # In words, as in the playground.
    assert "Rows 1 kg" in page
    assert "Error code" in page
    assert "?file=skill.md&amp;line=" in page
    case = OutcomeReport.objects.earliest("event_id").event.event_id
    form = form_with(client.get(f"/capabilities/alpha/evaluations/new/?outcome={case}"), "Save case")
    values = form.values
    assert (values["name"], values["messages"], values["tool_0_arguments"]) == ("No day", "Save it, please", "date = *")
    assert values["tool_0_called"] == ["on"]
    assert client.get("/capabilities/alpha/evaluations/new/?outcome=nonsense").status_code == 200


def test_who_may_not_edit_reads_none_of_it(signed_in: SignIn) -> None:
    assert signed_in("viewer").get(HERE).status_code == 403


def test_a_report_is_erased_by_its_button(signed_in: SignIn) -> None:
    client = signed_in("author")
    count = OutcomeReport.objects.count()
    event_id = str(OutcomeReport.objects.earliest("event_id").event.event_id)
    ask_and_confirm(client, f"{HERE}erase/", {"event_id": event_id})
    assert OutcomeReport.objects.count() == count - 1
    assert client.post(f"{HERE}erase/", {"event_id": event_id}).status_code == 302


def test_incident_and_inbox_lead_there(signed_in: SignIn) -> None:
    client = signed_in("admin")
    assert HERE in client.get("/incidents/").content.decode()
    assert HERE in client.get("/").content.decode()
