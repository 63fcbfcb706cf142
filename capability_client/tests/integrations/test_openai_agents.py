"""The adapter for OpenAI's Agents SDK: nothing is approved because the SDK called it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from capability_client import AsyncSession, ToolCall
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.integrations.frameworks import adapter
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async

PUT = "alpha__alpha_put"


@dataclass
class Context:
    """What the SDK knows of a call."""

    approved: bool | None
    tool_call_id: str = "c1"

    def is_tool_approved(self, name: str, call_id: str) -> bool | None:
        assert (name, call_id) == (PUT, self.tool_call_id)
        return self.approved


def _write(*, waits: bool) -> Any:
    policy = {"kind": "write", "requires_approval": waits}
    put = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}, "policy": policy}
    return build_bundle("alpha", tools=[put])


@pytest.fixture
def skills(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(call: ToolCall) -> Any:
        return {"saved_by": call.approved_by}

    session = AsyncSession(FakeRegistry([_write(waits=False)]), environment=ALL)
    run_async(session.load("alpha"))
    found = adapter(monkeypatch, "openai_agents").SkillTools(session, run, by="Ada")
    run_async(found.refresh())
    return found


def _tool(skills: Any) -> Any:
    (found,) = [each for each in skills.tools if each.name == PUT]
    return found


def _invoke(put: Any, approved: bool | None) -> Any:
    return json.loads(run_async(put.on_invoke_tool(Context(approved), '{"a": 1}')))


def test_a_tool_that_began_to_ask_for_a_person_is_not_approved_by_being_called(skills: Any) -> None:
    put = _tool(skills)
    assert _invoke(put, None) == {"saved_by": ""}
    skills.session.source.publish(_write(waits=True))
    run_async(skills.session.reload("alpha"))
    for word in (None, False):
        assert _invoke(put, word)["error"]["code"] == "APPROVAL_REQUIRED"
    assert _invoke(put, True) == {"saved_by": "Ada"}


def test_whether_a_person_is_asked_is_known_when_the_tool_is_called(skills: Any) -> None:
    put = _tool(skills)
    assert run_async(put.needs_approval(None, {}, "c1")) is False
    skills.session.source.publish(_write(waits=True))
    run_async(skills.session.reload("alpha"))
    assert run_async(put.needs_approval(None, {}, "c1")) is True
