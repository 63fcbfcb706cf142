"""New capabilities from what somebody says of them, and from another one."""

from __future__ import annotations

import json

import pytest

from capability_rules.bundles.scaffolds import PROFILES
from capability_rules.errors import InvalidRequest
from registry.authoring import capability_creation
from registry.authoring.capability_creation import ArgumentSpec, CapabilitySpec, ToolSpec
from registry.catalog import drafts
from registry.common.errors import CapabilityNotFound, DraftConflict
from registry.models import Capability
from tests.factories import OLGA, bundle, publish, tool

pytestmark = pytest.mark.django_db

TOOLS = (
    ToolSpec("sleep_find", "Finds nights", "read", (ArgumentSpec("day", "date", "Which night"),)),
    ToolSpec(
        "sleep_log",
        "Saves one night",
        "write",
        tuple(
            ArgumentSpec(f"a_{kind.replace(' ', '_')}", kind, "m", is_required=True, choices=("good", "bad"))
            for kind in capability_creation.ARGUMENT_KINDS
        ),
        has_form=True,
    ),
)


def _wish(**changes: object) -> CapabilitySpec:
    given = {"capability_id": "sleep", "name": "Sleep", "description": "Logs sleep. Use it at night.", "tools": TOOLS}
    return CapabilitySpec(**(given | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", PROFILES)
def test_tools_and_a_form_pass_in_every_kind(profile: str) -> None:
    saved = capability_creation.create_capability(wish=_wish(skill_profile=profile, triggers=("how i slept",)), by=OLGA)
    assert {finding.code for finding in saved.report.findings} <= {"PLACEHOLDER_LEFT"}
    assert drafts.get_draft("sleep").files["ui_schemas.json"].count('"schema_id"') == 1


def test_what_was_said_stands_in_the_files() -> None:
    files = capability_creation.build_files(_wish(triggers=("log sleep", "nap"), sentences=("I slept badly",)))
    capability, tools = json.loads(files["capability.json"]), json.loads(files["tools.json"])
    assert capability["intent_triggers"] == ["log sleep", "nap"]
    assert capability["utterances"] == {"should_match": ["I slept badly"]}
    assert [each["policy"] for each in tools] == [{"kind": "read"}, {"kind": "write", "requires_approval": True}]
    assert tools[1]["args_schema"]["properties"]["a_choice"]["enum"] == ["good", "bad"]
    assert "- `sleep_log`: saves one night; a person approves it first." in files["skill.md"]
    assert files["skill.md"].index("## Tools") < files["skill.md"].index("## Examples")


def test_an_id_that_exists_is_left_alone() -> None:
    publish("sleep")
    with pytest.raises(DraftConflict):
        capability_creation.create_capability(wish=_wish(), by=OLGA)
    assert not Capability.objects.get().drafts.exists()


def test_triggers_are_suggested_but_not_those_of_others() -> None:
    publish("bills", intent_triggers=["late invoice"])
    found = capability_creation.suggest_triggers(
        name="Refund Desk",
        description="Pays back a late invoice. Use it when somebody asks for a refund or a double charge.",
        given=["Double charges"],
    )
    assert found == ["refund desk"]
    assert capability_creation.suggest_triggers(name="", description="") == []


def test_triggers_that_are_suggested_are_quoted_first_and_never_verbs_alone() -> None:
    found = capability_creation.suggest_triggers(
        name="trip-planner", description="Helps plan and book. Use it for 'night train', 'make it' or \"book a seat\"."
    )
    assert found == ["night train", "book a seat"]


def test_what_a_description_lists_is_suggested_and_not_the_verb_that_begins_it() -> None:
    found = capability_creation.suggest_triggers(
        name="Housekeeping requests",
        description="Takes guests' requests (towels, cleaning, minibar) and tells the floor staff. Handles repairs such"
        " as a dripping tap, heating or broken lights. Not for bookings (rooms, tables).",
    )
    assert found == ["housekeeping requests", "towels", "minibar", "a dripping tap", "heating", "broken lights"]


def test_a_trigger_of_another_capability_is_told() -> None:
    publish("weights", intent_triggers=["weigh-in"])
    found = capability_creation.find_trigger_conflicts(["Weigh in", "nap"])
    assert [(each.trigger, each.others) for each in found] == [("Weigh in", ("weights",))]


@pytest.mark.parametrize(("name", "expected"), [("Sleep  Tracking!", "sleep_tracking"), ("睡眠", ""), ("_", "")])
def test_an_id_is_made_of_a_name(name: str, expected: str) -> None:
    assert capability_creation.suggest_id(name) == expected


def test_a_copy_has_its_own_id_name_and_tools() -> None:
    first = tool("weights_list")
    files = bundle("weights", [first, tool("log_it", "write")])
    drafts.save_draft(capability_id="weights", files=files, based_on=None, by=OLGA)
    saved = capability_creation.duplicate_capability(capability_id="weights", new_id="masses", name="Masses", by=OLGA)
    assert saved.report.findings == ()
    capability, tools = json.loads(saved.files["capability.json"]), json.loads(saved.files["tools.json"])
    assert (capability["capability_id"], capability["name"]) == ("masses", "Masses")
    assert [each["name"] for each in tools] == ["masses_list", "log_it_copy"]
    assert "# Masses\n" in saved.files["skill.md"]
    assert "`log_it_copy`" in saved.files["skill.md"]
    assert drafts.get_draft("weights").files == files


def test_a_copy_never_replaces_a_capability() -> None:
    for name in ("weights", "masses"):
        drafts.save_draft(capability_id=name, files=bundle(name), based_on=None, by=OLGA)
    publish("meals")
    for taken in ("masses", "meals"):
        with pytest.raises(DraftConflict):
            capability_creation.duplicate_capability(capability_id="weights", new_id=taken, name="Masses", by=OLGA)
    assert drafts.get_draft("masses").files == bundle("masses")


def test_a_copy_of_what_cannot_be_read_is_refused() -> None:
    drafts.save_draft(capability_id="odd", files={"capability.json": "{"}, based_on=None, by=OLGA)
    drafts.save_draft(capability_id="list", files={"capability.json": "[]"}, based_on=None, by=OLGA)
    for capability_id in ("odd", "list"):
        with pytest.raises(InvalidRequest, match="fix its findings"):
            capability_creation.duplicate_capability(capability_id=capability_id, new_id="new", name="New", by=OLGA)
    with pytest.raises(CapabilityNotFound):
        capability_creation.duplicate_capability(capability_id="nobody", new_id="new", name="New", by=OLGA)
    publish()
    with pytest.raises(DraftConflict):
        capability_creation.duplicate_capability(capability_id="alpha", new_id="odd", name="New", by=OLGA)
    assert not Capability.objects.filter(capability_id="new").exists()
