"""A new capability from a working skeleton."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from capability_rules.bundles.scaffolds import PROFILES
from registry.catalog import drafts
from registry.models import Capability
from studio.pages.starting_points import STARTING_POINTS, StartingPoint
from tests.factories import publish, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db

GIVEN = {"name": "Sleep Tracking", "capability_id": "sleep_tracking", "description": "Logs sleep.\nUse it at night."}


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _create(client: Client, **changes: str) -> Any:
    return form_with(client.get("/new-capability/"), "Create draft").submit(client, **GIVEN | changes)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_kind_begins_without_a_fault(profile: str, client: Client) -> None:
    answer = _create(client, skill_profile=profile)
    assert answer["Location"] == "/capabilities/sleep_tracking/edit/"
    draft = drafts.get_draft("sleep_tracking")
    assert drafts.validate_draft(draft).errors == ()
    assert "\\r" not in draft.files["capability.json"]
    assert "\r" not in draft.files["skill.md"]
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("name", ["new", "keys", "0"])
def test_any_good_id_has_its_pages(name: str, client: Client) -> None:
    assert client.get(_create(client, capability_id=name)["Location"]).status_code == 200
    assert client.get(f"/capabilities/{name}/").context["capability"].capability_id == name


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"capability_id": "Sleep Tracking"}, "Use lowercase letters"),
        ({"capability_id": "_a"}, "Use lowercase letters"),
        ({"capability_id": "a\n"}, None),
        ({"capability_id": "x" * 65}, "at most 64 characters"),
        ({"capability_id": "a\0"}, "Null characters are not allowed."),
        ({"name": ""}, "This field is required."),
        ({"name": "x" * 81}, "at most 80 characters"),
        ({"description": "x" * 1025}, "at most 1024 characters"),
        ({"skill_profile": "odd"}, "Select a valid choice."),
    ],
)
def test_an_odd_field_is_said_beside_it(changes: dict[str, str], words: str | None, client: Client) -> None:
    answer = _create(client, **changes)
    if words is None:
        assert answer.status_code == 302
        return
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert Capability.objects.count() == 0


def test_an_id_that_exists_is_refused_and_left_alone(client: Client) -> None:
    publish("sleep_tracking")
    answer = _create(client)
    assert answer.status_code == 400
    assert "A capability with this ID already exists." in answer.content.decode()
    assert "Logs sleep." in answer.content.decode()
    assert not Capability.objects.get().drafts.exists()


def test_names_are_text_whatever_they_hold(client: Client) -> None:
    nasty = '{x} %s "</textarea><script>alert(1)</script>\\'
    answer = _create(client, name=nasty, description=nasty)
    page = client.get(answer["Location"]).content.decode()
    assert "<script>alert" not in page
    assert nasty in drafts.get_draft("sleep_tracking").files["skill.md"]


TOOL = {
    "tool-0-name": "sleep_log",
    "tool-0-does": "Saves one night",
    "tool-0-kind": "write",
    "tool-0-form": "on",
    "tool-0-arg-0-name": "hours",
    "tool-0-arg-0-kind": "number",
    "tool-0-arg-0-meaning": "How long",
    "tool-0-arg-0-required": "on",
    "tool-0-arg-1-name": "",
}


def test_phrases_sentences_a_tool_and_its_form(client: Client) -> None:
    given = (
        GIVEN | TOOL | {"skill_profile": "capability", "triggers": "log sleep\r\n nap \r\nnap", "sentences": "I slept"}
    )
    answer = client.post("/new-capability/", given, follow=True)
    assert "to finish" in answer.content.decode()
    files = drafts.get_draft("sleep_tracking").files
    capability, tools = json.loads(files["capability.json"]), json.loads(files["tools.json"])
    assert capability["intent_triggers"] == ["log sleep", "nap"]
    assert capability["utterances"] == {"should_match": ["I slept"]}
    assert tools[0]["policy"] == {"kind": "write", "requires_approval": True}
    assert tools[0]["args_schema"]["required"] == ["hours"]
    assert json.loads(files["ui_schemas.json"])[0]["actions"]["send"] == {"tool": "sleep_log"}
    findings = drafts.validate_draft(drafts.get_draft("sleep_tracking")).findings
    assert {finding.code for finding in findings} == {"PLACEHOLDER_LEFT"}


def test_an_id_is_made_of_the_name(client: Client) -> None:
    assert _create(client, capability_id="")["Location"] == "/capabilities/sleep_tracking/edit/"
    assert "Use lowercase letters" in _create(client, capability_id="", name="睡眠").content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tool-0-name": "sleepLog"}, "Tool name"),
        ({"tool-0-does": ""}, "Add a description"),
        ({"tool-0-arg-0-name": "Hours!"}, "Argument Hours!"),
        ({"tool-0-arg-1-name": "hours"}, "Duplicate argument: hours"),
        ({"tool-0-arg-0-kind": "choice"}, "add options, separated by commas"),
        ({"tool-1-name": "sleep_log", "tool-1-does": "x"}, "Duplicate tool name: sleep_log"),
        ({"triggers": "x" * 81}, "at most 80 characters"),
        ({"triggers": "\n".join(f"t{n}" for n in range(51))}, "At most 50 lines"),
    ],
)
def test_an_odd_tool_or_phrase_is_said_and_what_was_typed_stays(
    changes: dict[str, str], words: str, client: Client
) -> None:
    answer = client.post("/new-capability/", GIVEN | TOOL | {"skill_profile": "capability"} | changes)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert words in page
    assert 'value="How long"' in page
    assert Capability.objects.count() == 0


def test_rows_come_and_go_without_a_script(client: Client) -> None:
    def step(word: str, **more: str) -> str:
        answer = client.post("/new-capability/", GIVEN | TOOL | more | {"step": word})
        assert answer.status_code == 200
        return answer.content.decode()

    assert 'name="tool-0-name"' in client.post("/new-capability/", {"step": "add-tool"}).content.decode()
    assert 'name="tool-1-name"' in step("add-tool")
    assert 'name="tool-0-arg-2-name"' in step("add-arg-0")
    assert 'value="hours"' not in step("drop-arg-0-0")
    page = step("drop-tool-0")
    assert 'name="tool-0-name"' not in page
    assert 'value="Sleep Tracking"' in page
    assert "Logs sleep." in page
    assert "This field is required" not in step("add-tool", name="")
    for odd in ("drop-tool-9", "drop-arg-0-99", "add-arg-x", "odd", "-", "drop-tool-" + "9" * 50):
        assert 'value="hours"' in step(odd)
    assert Capability.objects.count() == 0


def test_a_phrase_of_another_capability_is_told_while_it_is_typed(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    sent = {"step": "triggers", "triggers": "Weigh in\nnap", "name": "Sleep Log", "description": ""}
    page = client.post("/new-capability/", sent, headers={"HX-Request": "true"}).content.decode()
    assert "<strong>“Weigh in”</strong> is also a trigger of" in page
    assert "<html" not in page
    assert 'data-add-trigger="sleep log"' in page


def test_it_begins_with_what_was_asked_for(client: Client) -> None:
    page = client.get("/new-capability/", {"id": "sleep_log", "sentence": "log <my> sleep"}).content.decode()
    assert 'value="Sleep Log"' in page
    assert "log &lt;my&gt; sleep" in page
    assert 'value="&lt;' not in client.get("/new-capability/", {"id": "<b>"}).content.decode()


@pytest.mark.parametrize("point", STARTING_POINTS, ids=lambda point: point.key)
def test_a_card_leads_to_a_form_that_creates_a_good_draft(point: StartingPoint, client: Client) -> None:
    assert f'href="?start={point.key}"' in client.get("/new-capability/").content.decode()
    page = client.get("/new-capability/", {"start": point.key})
    assert b"autofocus" in page.content
    assert b'class="choices"' not in page.content
    answer = form_with(page, "Create draft").submit(client, **GIVEN)
    assert answer.status_code == 302
    draft = drafts.get_draft("sleep_tracking")
    assert drafts.validate_draft(draft).errors == ()
    assert [tool["name"] for tool in json.loads(draft.files.get("tools.json", "[]"))] == [r.name for r in point.tools()]
    assert json.loads(draft.files["capability.json"]).get("skill_profile", "capability") == point.profile


def test_the_tools_of_a_card_have_names_that_are_free(client: Client) -> None:
    publish(tools=[tool("entry_save", "write")])
    page = client.get("/new-capability/", {"start": "log"}).content.decode()
    assert 'value="entry_save_2"' in page
    assert client.get("/new-capability/", {"start": "nothing"}).status_code == 200


def test_a_copy_ends_in_the_editor(client: Client) -> None:
    publish("weights")
    form = form_with(client.get("/new-capability/copy/?of=weights"), "Duplicate")
    assert form.values["copy_of"] == "weights"
    answer = form.submit(client, name="Masses")
    assert answer["Location"] == "/capabilities/masses/edit/"
    again = form.submit(client, name="Masses")
    assert (again.status_code, "already exists" in again.content.decode()) == (400, True)
    odd = form.submit(client, name="Odd", copy_of="nobody")
    assert (odd.status_code, "No capability found" in odd.content.decode()) == (400, True)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Sleep log", "sleep_log"),
        ("sleep-log", "sleep_log"),
        ("Sleep  Log 2", "sleep_log_2"),
        ("Sleep", "sleep"),
        ("Have A nap", "have_a_nap"),
    ],
)
def test_a_tool_that_is_called_in_words_gets_the_name_that_is_meant(typed: str, name: str, client: Client) -> None:
    client.post(
        "/new-capability/",
        GIVEN | TOOL | {"skill_profile": "capability", "tool-0-name": typed, "tool-0-arg-0-name": typed},
    )
    tools = json.loads(drafts.get_draft("sleep_tracking").files["tools.json"])
    assert tools[0]["name"] == name
    assert list(tools[0]["args_schema"]["properties"]) == [name]


def test_what_is_wrong_is_said_at_the_top_and_leads_to_its_place(client: Client) -> None:
    given = GIVEN | TOOL | {"name": "", "tool-0-name": "", "tool-0-does": "<b>x</b>"}
    page = client.post("/new-capability/", given).content.decode()
    top = page[: page.index('id="creation-what"')]
    assert '<a href="#id_name">Name</a>: This field is required.' in " ".join(top.split())
    assert '<a href="#tool-0">Tool 1</a>: Tool name' in " ".join(top.split())
    assert 'id="tool-0"' in page
    assert "is not made yet" not in client.get("/new-capability/").content.decode()
