"""What a session tells of a use that failed; nothing that was said without a redactor."""

from __future__ import annotations

import json
from typing import Any

from capability_client import ModelCall, ModelReply, Session, SessionOptions
from capability_client.session.messages import Message
from capability_client.session.outcome_reasons import redact_conversation
from capability_client.testing import FakeRegistry
from capability_client.tests.registries import bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from capability_kit.outcome_reports import CONVERSATION_BYTES_MAX, MESSAGES_MAX
from tests.bundle_files import tool

SCHEMA = {"type": "object", "properties": {"who": {"type": "string"}, "day": {"type": "string"}}, "required": ["day"]}
CANARY = "jo@example.com"


def _told(outcome: str, *, arguments: Any, run: Any = lambda call: {"entries": []}, **options: Any) -> dict[str, Any]:
    source = FakeRegistry([bundle("alpha", tools=[{**tool("alpha_list"), "args_schema": SCHEMA}])])
    session = Session(source, environment=ALL, options=SessionOptions(**options))
    load = ModelReply("", (ModelCall("0", "capability_skill_load", {"capability_id": "alpha"}),))
    call = ModelReply("", (ModelCall("1", "alpha__alpha_list", arguments),))
    session.say(f"alpha please, {CANARY}", Scripted(load, call), run=run, approve=lambda call: True)
    session.feedback(outcome, reason="No day was asked for")
    return [given for method, given in source.requests if method == "feedback"][-1]


def test_the_call_that_failed_goes_along_as_names() -> None:
    told = _told("confirmed_failure", arguments={"who": CANARY})
    assert told["failed_call"] == {"tool": "alpha_list", "code": "ARGUMENTS_INVALID", "missing": "day"}
    assert told["reason"] == "No day was asked for"
    assert CANARY not in json.dumps(told)

    def fails(call: Any) -> Any:
        raise OSError("down")

    told = _told("likely_failure", arguments={"day": "Monday"}, run=fails)
    assert told["failed_call"] == {"tool": "alpha_list", "code": "TOOL_FAILED"}


def test_a_success_tells_neither_call_nor_conversation() -> None:
    told = _told("confirmed_success", arguments={"who": CANARY}, redact=str)
    assert not {"failed_call", "conversation"} & told.keys()


def test_each_text_of_a_conversation_goes_through_the_redactor() -> None:
    told = _told("confirmed_failure", arguments={"who": CANARY}, redact=lambda text: text.replace(CANARY, "[x]"))
    assert CANARY not in json.dumps(told)
    assert told["conversation"][0]["text"] == "alpha please, [x]"
    calls = [row["calls"] for row in told["conversation"] if "calls" in row]
    assert calls[1] == [{"tool": "alpha__alpha_list", "arguments": {"who": "[x]"}}]


def test_the_newest_that_fit_are_told() -> None:
    messages = [Message("user", f"{number} {'x' * 1000}") for number in range(300)]
    found = redact_conversation(messages, str)
    assert len(json.dumps(found).encode()) <= CONVERSATION_BYTES_MAX
    assert (found[-1]["text"][:3], len(found) <= MESSAGES_MAX) == ("299", True)
    assert redact_conversation([Message("user", "x" * 70_000)], str) == []
    nested = ModelCall("1", "t", {"a": [{"b": CANARY}], "n": 1})
    (row,) = redact_conversation([Message("agent", "", (nested, ModelCall("2", "t", "text")))], str.upper)
    assert row["calls"][0]["arguments"] == {"a": [{"b": CANARY.upper()}], "n": 1}
    assert row["calls"][1]["arguments"] == {"text": "TEXT"}
