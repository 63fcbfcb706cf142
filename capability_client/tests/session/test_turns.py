"""One call for one turn, and calls that survive failures, refusals and another process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from capability_client import (
    ApprovalRequired,
    AsyncSession,
    CallRejected,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionOptions,
    ToolCall,
    User,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async

PUT: dict[str, Any] = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}}


def _source() -> FakeRegistry:
    return FakeRegistry([build_bundle("alpha", tools=[tool("alpha_list"), PUT])])


def _session(**settings: Any) -> Session:
    session = Session(_source(), environment=ALL, user=User(name="Ada", user_id="u1"), **settings)
    session.load("alpha")
    return session


def _waiting(session: Session, arguments: Any = None) -> str:
    with pytest.raises(ApprovalRequired) as waiting:
        session.call("alpha_put", arguments or {"a": 1})
    return waiting.value.call_id


class Scripted:
    """A model that gives these replies in turn, and then says what the last tool returned."""

    def __init__(self, *replies: ModelReply) -> None:
        self.replies = list(replies)

    def __call__(self, session: Any, messages: Sequence[Message]) -> ModelReply:
        return self.replies.pop(0) if self.replies else ModelReply(f"It says {messages[-1].text}")


def _calls(name: str, arguments: Any) -> ModelReply:
    return ModelReply("", (ModelCall("c1", name, arguments),))


def test_a_turn_is_one_call_sync_and_async() -> None:
    def run(call: ToolCall) -> Any:
        return {"ok": call.arguments}

    model = Scripted(_calls("capability_skill_load", {"capability_id": "alpha"}), _calls("alpha_put", {"a": 1}))
    session = Session(_source(), environment=ALL)
    messages = list(session.steps("save it", model, run=run, approve=lambda call: True))
    assert [message.role for message in messages] == ["user", "agent", "tool", "agent", "tool", "agent"]
    assert messages[-1].text == 'It says {"ok": {"a": 1}}'
    assert session.messages == messages

    async def run_later(call: ToolCall) -> Any:
        return run(call)

    async def approve(call: ToolCall) -> bool:
        return True

    async def talk() -> str:
        session = AsyncSession(_source(), environment=ALL)
        model = Scripted(_calls("capability_skill_load", {"capability_id": "alpha"}), _calls("alpha_put", {"a": 1}))
        return await session.say("save it", model, run=run_later, approve=approve)

    assert run_async(talk()) == 'It says {"ok": {"a": 1}}'


def test_the_agents_replies_of_whole_turns_end_an_introduction() -> None:
    session = Session(_source(), environment=ALL)
    session.start(first_run="alpha")
    session.say("hello", Scripted(), run=lambda call: None, approve=bool)
    assert not session.is_introduced
    session.say("and", Scripted(), run=lambda call: None, approve=bool)
    assert session.is_introduced


def test_a_model_that_insists_after_a_no_asks_nobody_again_in_this_turn() -> None:
    asked: list[ToolCall] = []

    def approve(call: ToolCall) -> bool:
        asked.append(call)
        return False

    session = _session(options=SessionOptions(steps_max=5))
    model = Scripted(*[_calls("alpha_put", {"a": 1})] * 9)
    said = session.say("save it", model, run=lambda call: None, approve=approve)
    assert said == "I could not finish that; please ask me in smaller steps."
    assert len(asked) == 1
    session.say("do save it", Scripted(_calls("alpha_put", {"a": 1})), run=lambda call: None, approve=approve)
    assert len(asked) == 2, "the user has spoken since"


def test_a_no_is_remembered_by_another_process() -> None:
    session = _session()
    session.turn("save it")
    session.load("alpha")
    session.reject(_waiting(session))
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    with pytest.raises(CallRejected):
        resumed.call("alpha_put", {"a": 1})
    _waiting(resumed, {"a": 2})
    resumed.turn("yes, do it")
    _waiting(resumed)


def test_a_write_that_failed_is_retried_with_the_same_key_and_approval() -> None:
    keys: list[str | None] = []

    def fails(call: ToolCall) -> Any:
        keys.append(call.idempotency_key)
        raise TimeoutError("no answer")

    def works(call: ToolCall) -> Any:
        keys.append(call.idempotency_key)
        return {"saved": 1}

    session = _session()
    call_id = _waiting(session)
    session.approve(call_id, by="Ada")
    with pytest.raises(TimeoutError):
        session.run_call(call_id, fails)
    events = [event.words for event in session.events if event.call_id == call_id]
    assert events == [
        "alpha_put: APPROVAL_REQUIRED", "alpha_put: approved by Ada", "alpha_put: failed: no answer"
    ]  # fmt: skip
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    done = resumed.call("alpha_put", {"a": 1}, run=works)
    assert (done.result, done.call.call_id, done.call.approved_by) == ({"saved": 1}, call_id, "Ada")
    assert keys[0] == keys[1] is not None
    assert _waiting(resumed) != call_id, "what is done is done: the next one is another call"


def test_a_tool_that_fails_in_a_turn_is_an_error_that_the_model_reads() -> None:
    def fails(call: ToolCall) -> Any:
        raise TimeoutError("no answer within 5 s")

    session = _session()
    said = session.say("save", Scripted(_calls("alpha_put", {})), run=fails, approve=lambda call: True)
    error = json.loads(said.removeprefix("It says "))["error"]
    assert error == {"code": "TOOL_FAILED", "message": "no answer within 5 s"}


def test_an_approved_call_that_has_not_run_lives_through_another_process() -> None:
    session = _session()
    call_id = _waiting(session)
    session.approve(call_id, by="Ada")
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    assert resumed.run_call(call_id, lambda call: {"saved": 1}).result == {"saved": 1}


def test_a_question_is_answered_in_the_turn_or_ends_it_in_words() -> None:
    question = {"questions": [{"name": "unit", "prompt": "Which unit?", "widget": "radio", "options": ["kg", "lb"]}]}
    session = _session()
    said = session.say(
        "save", Scripted(_calls("ask_user", question)), run=lambda c: None, approve=lambda c: True, ask=lambda form: "2"
    )
    assert said == 'It says {"answers": {"unit": "lb"}}'
    said = session.say("save", Scripted(_calls("ask_user", question)), run=lambda c: None, approve=lambda c: True)
    assert said.startswith("Which unit?\n1. kg\n2. lb")
    assert session.gate.waiting() == []


def test_the_user_and_the_state_travel_with_the_session() -> None:
    session = Session(_source(), environment=ALL, user=User(name="Ada", user_id="u1", context={"program": "Block 1"}))
    session.load("alpha")
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    assert resumed.user == session.user
    assert resumed.state() == {
        "session_id": session.session_id, "user_id": "u1", "loaded_skills": ["alpha"], "context": {"program": "Block 1"}
    }  # fmt: skip
    given = Session.from_json(session.to_json(), _source(), environment=ALL, user=User(name="Bob"))
    assert given.user.name == "Bob"


def test_each_event_has_its_number_and_reaches_the_hook() -> None:
    seen: list[Any] = []
    session = _session(on_event=seen.append)
    session.turn("hello")
    session.open_call("alpha_list", {})
    assert seen == session.events
    assert [event.event_id for event in seen] == list(range(1, len(seen) + 1))


def test_all_errors_of_the_arguments_are_named_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {
            "entries": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "weight": {"type": "number"},
                        "unit": {"enum": ["kg", "lb"]},
                        "on": {"type": "string"},
                    },
                    "required": ["weight", "on"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["entries", "note"],
    }
    session = Session(FakeRegistry([build_bundle("alpha", tools=[{**tool("alpha_list"), "args_schema": schema}])]))
    session.load("alpha")
    with pytest.raises(Exception, match="do not fit") as refused:
        session.call("alpha_list", {"entries": [{"weight": "5", "unit": "stone", "x": 1}, {"weight": 1, "on": 2}]})
    for part in (
        '"note" is a required',
        "entries/0/weight",
        "entries/0/unit",
        'entries/0: "on"',
        "'x' was",
        "entries/1/on",
    ):
        assert part in str(refused.value)
