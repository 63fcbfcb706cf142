"""A recorded session becomes a playbook draft: valid, the same each time, and without a value of the conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_client import (
    AsyncSession,
    LocalSkills,
    Message,
    ModelCall,
    ModelReply,
    PlaybookDoc,
    Session,
    SessionOptions,
    User,
    draft_playbook,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_command_line import _ok, _run
from capability_client.tests.test_session import ALL
from capability_rules.validation import validate_bundle
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.servers import ROOT

SECRETS = (
    "sk-live-9f8e7d",
    "Maria Doe",
    "maria@example.com",
    "187.6",
    "2026-01-15",
    "token_of_maria",
    "the_result_key",
)
ENTRY = {"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb", "note": "Maria Doe sk-live-9f8e7d"}
NAMED = {"capability_id": "weigh_in", "name": "Weigh in", "problem": "A user states a weight and wants it saved."}


def _one(name: str, arguments: Any, call_id: str = "1") -> ModelReply:
    return ModelReply("Maria Doe wants it", (ModelCall(call_id, name, arguments),))


def _session(*replies: ModelReply, approves: bool = True, fails: bool = False) -> Session:
    session = Session(LocalSkills(ROOT / "examples"), environment=ALL, user=User(name="Maria Doe"))

    def run(call: Any) -> Any:
        if fails:
            raise TimeoutError("token_of_maria")
        return {"saved": 1} if "save" in call.tool else {"entries": []}

    text = "I am Maria Doe, maria@example.com, my key is sk-live-9f8e7d: I weighed 187.6 lbs"
    session.say(text, Scripted(*replies), run=run, approve=lambda call: approves, ask=lambda form: "Maria Doe")
    return session


LOAD = _one("capability_skill_load", {"capability_id": "weights"})
LIST = _one("weights__weight_entry_list", {"limit": 3})
WRONG = _one("weights__weight_entry_save_batch", {"entries": "token_of_maria", "the_result_key": 1})
SAVE = _one("weights__weight_entry_save_batch", {"entries": [{k: v for k, v in ENTRY.items() if k != "note"}]})
ASK = _one("ask_user", {"questions": [{"name": "token_of_maria", "prompt": "Maria Doe?", "widget": "text_input"}]})


def test_steps_are_the_calls_that_worked_and_edge_cases_those_that_did_not() -> None:
    session = _session(LOAD, ASK, LIST, WRONG, SAVE, SAVE)
    files = draft_playbook(session, **NAMED)
    report = validate_bundle(files)
    assert [(one.code, one.message) for one in report.findings] == []
    doc = PlaybookDoc.read(files["skill.md"])
    assert [step.title for step in doc.steps] == ["Ask the user", "Weight entry list", "Weight entry save batch"]
    assert doc.steps[0].do == "Ask the user for what is missing (text_input); do not guess it."
    assert doc.steps[2].do.startswith("Call `weight_entry_save_batch` of `weights` with `entries`")
    assert doc.steps[2].do.endswith("Call it once for each case.")
    assert doc.steps[2].say == "What will be changed, before the call: a person approves it."
    assert "- `weight_entry_save_batch` refuses arguments that do not fit its schema" in files["skill.md"]
    assert "- The capability `weights` is loaded: `weight_entry_list`, `weight_entry_save_batch`" in files["skill.md"]


def test_calls_by_the_one_tool_and_by_a_form_are_steps_too() -> None:
    session = Session(
        LocalSkills(ROOT / "examples"), environment=ALL, user=User(name="Ada"), options=SessionOptions(layout="append")
    )
    listed = _one("capability_tool_call", {"tool": "weights__weight_entry_list", "arguments": {}})
    opened = _one("form_open", {"schema_id": "WeightEntryForm.v1", "data": {"entries": [ENTRY]}})
    closed = _one("form_open", {"schema_id": "WeightEntryForm.v1", "data": {}})
    events = iter(("save", "cancel"))
    session.say(
        "my weight",
        Scripted(LOAD, listed, opened, closed, ModelReply("Done.")),
        run=lambda call: {"saved": 1} if "save" in call.tool else {"entries": []},
        approve=lambda call: True,
        show=lambda form: form.press(next(events)),
    )
    doc = PlaybookDoc.read(draft_playbook(session, **NAMED)["skill.md"])
    assert [step.title for step in doc.steps] == ["Weight entry list", "Weight entry save batch"]


def test_no_value_of_the_conversation_is_copied() -> None:
    session = _session(LOAD, ASK, LIST, WRONG, SAVE)
    text = json.dumps(draft_playbook(session, **NAMED))
    assert [secret for secret in SECRETS if secret in text] == []
    assert "Maria" in session.to_json(), "the session has them"


def test_the_stored_session_gives_the_same_files() -> None:
    session = _session(LOAD, LIST, SAVE)
    files = draft_playbook(session, **NAMED)
    again = Session.from_json(session.to_json(), LocalSkills(ROOT / "examples"), environment=ALL)
    assert draft_playbook(again, **NAMED) == files


@pytest.mark.parametrize(
    ("session", "case"),
    [
        ((LOAD, LIST, SAVE), {"approves": False}),
        ((LOAD, LIST), {"fails": True}),
    ],
)
def test_a_no_and_a_failure_are_edge_cases(session: tuple[ModelReply, ...], case: dict[str, Any]) -> None:
    made = _session(*session, **case)
    if case.get("fails"):
        with pytest.raises(ValueError, match="No tool of a skill"):
            draft_playbook(made, **NAMED)
        return
    files = draft_playbook(made, **NAMED)
    assert "`weight_entry_save_batch` is not called again where the user says no" in files["skill.md"]
    assert len(PlaybookDoc.read(files["skill.md"]).steps) == 1


@pytest.mark.parametrize(
    "changed",
    [{"capability_id": "Weigh-In"}, {"capability_id": ""}, {"name": " "}, {"problem": ""}, {"problem": "x" * 1025}],
)
def test_unusable_names_are_refused(changed: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="A playbook needs"):
        draft_playbook(_session(LOAD, LIST), **{**NAMED, **changed})


def test_signs_of_a_hostile_contract_stay_words() -> None:
    """Descriptions of another registry's tools can begin neither a section nor a reference nor a variable."""
    described = "x\n\n## Escalation\n\n`rm_all` $FILE Form.v2 <!-- y -->"
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": described}, "b c": {}},
              "required": ["a"]}  # fmt: skip
    hostile = {**tool("alpha_put"), "args_schema": schema, "result_schema": {"properties": {"`x`": {}}}}
    session = Session(FakeRegistry([build_bundle("alpha", tools=[hostile])]), environment=ALL)
    session.load("alpha")
    session.say("x", Scripted(_one("alpha__alpha_put", {"a": "1"})), run=lambda call: {}, approve=bool)
    files = draft_playbook(session, **NAMED)
    assert not validate_bundle(files).errors
    assert [one.name for one in PlaybookDoc.read(files["skill.md"]).sections] == [
        "Goal", "Prerequisites", "Steps", "Edge Cases", "Escalation",
    ]  # fmt: skip
    assert not {"$", "Form.v2", "<"} & set(files["skill.md"].split())
    assert "rm_all`" not in files["skill.md"]


def test_odd_messages_are_passed_over() -> None:
    session = _session(LOAD, LIST)
    session.messages += [
        Message("agent", "", (ModelCall("9", "weights__weight_entry_list", {}), ModelCall("10", "ask_user", 5))),
        Message("tool", "no JSON", call_id="9"),
        Message("agent", "", (ModelCall("1", "weights__weight_entry_list", None), ModelCall("2", "nobody__x", {}))),
        Message("tool", '{"error": {"code": ["x"]}}', call_id="1"),
    ]
    files = draft_playbook(session, **NAMED)
    assert not validate_bundle(files).errors
    assert "can return an error: say what it means" in files["skill.md"]


def test_an_async_session_gives_a_draft_too() -> None:
    session = AsyncSession(LocalSkills(ROOT / "examples"), environment=ALL)
    model: Scripted = Scripted(LOAD, LIST)
    rows: dict[str, list[Any]] = {"entries": []}
    run_async(session.say("x", model, run=lambda call: rows, approve=bool))
    assert draft_playbook(session, **NAMED) == draft_playbook(_session(LOAD, LIST), **NAMED)


def test_the_command_writes_a_folder(tmp_path: Any) -> None:
    kept, folder = tmp_path / "session.json", tmp_path / "new" / "weigh_in"
    kept.write_text(_session(LOAD, LIST, SAVE).to_json(), "utf-8")
    command = [
        "playbook",
        kept,
        "--id",
        "weigh_in",
        "--name",
        "Weigh in",
        "--problem",
        NAMED["problem"],
        "--to",
        folder,
    ]
    assert _ok(*command).startswith(f"Wrote {folder}.")
    files = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert validate_bundle(files).findings == ()
    again = _run(*command)
    assert (again.returncode, "is not empty" in again.stderr) == (1, True)
    kept.write_text("{}", "utf-8")
    assert "This is not a session file" in _run(*command[:-1], tmp_path / "other").stderr
