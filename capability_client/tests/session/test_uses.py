"""What counts as a use of a skill, and what a model reads that calls a tool of a skill which is gone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_client import ApprovalRequired, ModelCall, ModelReply, Session, SessionOptions, ToolUnknown
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.registries import bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.json_values import parsed

FILE: dict[str, Any] = {"path": "references/forms.md", "digest": "sha256:" + "0" * 64, "size": 40}
PUT: dict[str, Any] = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}}
LIST = ModelReply("", (ModelCall("1", "alpha__alpha_list", {}),))


def _source() -> FakeRegistry:
    alpha = bundle("alpha", tools=[tool("alpha_list"), PUT], files=[FILE])
    return FakeRegistry([alpha, build_bundle("beta")], files={("alpha", FILE["path"]): "Forms."})


def _session(**settings: Any) -> Session:
    session = Session(_source(), environment=ALL, **settings)
    session.load("alpha")
    return session


def _say(session: Session, *replies: ModelReply, run: Any = lambda call: {"entries": []}) -> str:
    return session.say(
        "and the one of Tuesday evening, with figures", Scripted(*replies), run=run, approve=lambda call: True
    )


def _active(session: Session) -> list[str]:
    return [each.capability_id for each in session.active]


def test_a_skill_whose_tools_run_in_each_turn_does_not_expire() -> None:
    session = _session()
    for _ in range(9):
        assert "entries" in _say(session, LIST)
    for number in range(5):
        assert _active(session) == ["alpha"], number
        _say(session)
    assert _active(session) == []


def test_a_tool_that_fails_was_used_as_well() -> None:
    def fails(call: Any) -> Any:
        raise OSError("down")

    session = _session()
    for _ in range(9):
        assert "TOOL_FAILED" in _say(session, LIST, run=fails)
    assert _active(session) == ["alpha"]


def test_a_call_that_was_refused_is_not_a_use() -> None:
    session = _session()
    for _ in range(5):
        _say(session, ModelReply("", (ModelCall("1", "alpha__alpha_list", {"limit": "x"}),)))
    assert _active(session) == []


def test_a_file_that_is_read_is_a_use() -> None:
    session = _session()
    read = ModelReply("", (ModelCall("1", "capability_file_load", {"capability_id": "alpha", "path": FILE["path"]}),))
    for _ in range(9):
        assert "Forms." in _say(session, read)
    assert _active(session) == ["alpha"]


def test_feedback_counts_what_a_tool_of_which_ran_though_nothing_was_loaded() -> None:
    session = _session()
    _say(session)
    assert session.feedback("likely_success") == []
    _say(session, LIST)
    assert [row["capability_id"] for row in session.feedback("likely_success")] == ["alpha"]
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    assert [row["capability_id"] for row in resumed.feedback("likely_success")] == ["alpha"]
    _say(session)
    assert session.feedback("likely_success") == []


def test_an_approved_call_that_runs_after_its_skill_expired_counts_for_feedback() -> None:
    session = _session()
    with pytest.raises(ApprovalRequired) as waiting:
        session.call("alpha_put", {"a": 1})
    for _ in range(6):
        session.turn("something else")
    session.result_of_approved(waiting.value.call_id, run=lambda call: {"saved": 1}, by="Ada")
    assert _active(session) == []
    assert [row["capability_id"] for row in session.feedback("confirmed_success")] == ["alpha"]


def test_the_model_reads_that_a_skill_expired_and_has_to_be_loaded_again() -> None:
    session = _session()
    for _ in range(5):
        session.turn("something else")
    for name in ("alpha__alpha_list", "alpha_list", "_alpha__alpha_list"):
        _say(session, ModelReply("", (ModelCall("1", name, {}),)))
        error = json.loads(session.messages[-2].text)["error"]
        words = "alpha expired; load it again: it was not used for 4 turns"
        assert error == {"code": "TOOL_UNKNOWN", "message": words}
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    with pytest.raises(ToolUnknown, match="alpha expired; load it again"):
        resumed.call("alpha_list", {})
    resumed.load("alpha")
    assert resumed.call("alpha_list", {}, run=lambda call: {"entries": []}).result == {"entries": []}


@pytest.mark.parametrize(
    ("leave", "why"),
    [
        (lambda session: session.unload("alpha"), r"alpha is no longer active \(it was unloaded\); load it again"),
        (lambda session: session.load("beta"), r"\(at most 1 skills are active, .*\); load it again"),
        (lambda session: session.disable("alpha"), "No active skill has the tool"),
    ],
)
def test_a_tool_of_a_skill_that_was_dropped_says_why(leave: Any, why: str) -> None:
    session = _session(options=SessionOptions(active_max=1))
    leave(session)
    with pytest.raises(ToolUnknown, match=why):
        session.call("alpha_list", {})


def test_a_file_of_an_expired_skill_says_so_too() -> None:
    session = _session()
    session.unload("alpha")
    given = {"capability_id": "alpha", "path": FILE["path"]}
    found = session.call("capability_file_load", given, run=lambda call: None).result
    assert "alpha is no longer active (it was unloaded); load it again" in parsed(found)["error"]["message"]
