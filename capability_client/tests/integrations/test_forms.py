"""Forms in the adapters: shown by the framework's own interruption, and sent through the gate."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from capability_client import AsyncSession, SkillForm, SkillNotReady, ToolCall, User
from capability_client.client.local_registry import LocalSkills
from capability_client.session.loader import SkillLoader
from capability_client.tests.integrations.frameworks import FromModel, FromUser, adapter
from capability_client.tests.test_session import ALL
from capability_kit.environment.probe import Environment
from tests.event_loop import run_async
from tests.servers import ROOT

SKILLS = LocalSkills(ROOT / "examples")
ENTRY = {"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}
OPEN = {"schema_id": "WeightEntryForm.v1", "data": {"entries": [ENTRY]}}
EVENT = {"name": "save_entries", "context": {"source": "chat", "entries": [{**ENTRY, "unit": ["lb"]}]}}
SENT = {"form": "sent", "tool": "weight_entry_save_batch"}
SENT |= {"arguments": {"source": "chat", "entries": [ENTRY]}, "result": {"saved": 1}}  # type: ignore[dict-item]


def _run(call: ToolCall) -> Any:
    assert call.approved_by == "Ada"
    return {"saved": 1}


class Interrupted(Exception):
    """What LangGraph's `interrupt` raises where nobody has answered yet."""


class Person:
    """Answers the interruptions one after the other; each resumed node runs again from its beginning."""

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.asked: list[Any] = []

    def go(self, node: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, module: Any) -> Any:
        for count in range(len(self.answers) + 1):
            left = list(self.answers[:count])

            def interrupt(value: Any, left: list[Any] = left) -> Any:
                if left:
                    return left.pop(0)
                self.asked.append(value)
                raise Interrupted

            monkeypatch.setattr(module, "interrupt", interrupt)
            try:
                return node()
            except Interrupted:
                continue
        raise AssertionError("it asks for more")


@pytest.mark.parametrize(
    ("answers", "expected", "asked"),
    [
        ((EVENT, True), SENT, ["form", "call"]),
        (({"name": "nothing"}, EVENT, True), SENT, ["form", "form", "call"]),
        ((None,), {"form": "closed", "note": "The user closed the form without sending it."}, ["form"]),
        ((EVENT, False), "CALL_REJECTED", ["form", "call"]),
    ],
)
def test_langgraph_interrupts_with_the_form_and_then_with_what_it_calls(
    monkeypatch: pytest.MonkeyPatch, answers: Any, expected: Any, asked: list[str]
) -> None:
    module = adapter(monkeypatch, "langgraph")
    skills = module.SkillNodes(SKILLS, _run, by="Ada", user=User(name="Ada"), environment=ALL)
    state: dict[str, Any] = {"messages": [FromUser("$weights")]}
    state |= skills.hear(state)
    state["messages"].append(FromModel(tool_calls=[{"id": "c1", "name": "form_open", "args": OPEN}]))
    person = Person(*answers)
    done = person.go(lambda: skills.act(state), monkeypatch, module)
    result = json.loads(done["messages"][0].content)
    assert result == expected if isinstance(expected, dict) else result["error"]["code"] == expected
    assert ["form" if isinstance(each, dict) else "call" for each in person.asked] == asked
    assert person.asked[0]["form"]["messages"][0]["createSurface"]
    assert len(asked) < 3 or "has no action 'nothing'" in person.asked[1]["form"]["problem"]
    assert [form.state for form in skills.session(done).opened.by_id.values()] == [
        "closed" if answers == (None,) else "sent"
    ]


def test_langgraph_does_not_ask_again_for_what_the_user_cannot_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    module = adapter(monkeypatch, "langgraph")
    needs = Environment.from_dict({"os": "linux"})
    skills = module.SkillNodes(SKILLS, _run, by="Ada", user=User(name="Ada"), environment=needs)
    state: dict[str, Any] = {"messages": [FromUser("$weights")]}
    state |= skills.hear(state)
    state["messages"].append(FromModel(tool_calls=[{"id": "c1", "name": "form_open", "args": OPEN}]))
    monkeypatch.setattr(SkillLoader, "require_ready", _refuse)
    person = Person(EVENT)
    done = person.go(lambda: skills.act(state), monkeypatch, module)
    assert json.loads(done["messages"][0].content)["error"]["code"] == "SKILL_NOT_READY"
    assert len(person.asked) == 1


def _refuse(*given: Any) -> None:
    raise SkillNotReady("something is missing")


@dataclass
class Context:
    tool_call_id: str = "c1"

    def is_tool_approved(self, name: str, call_id: str) -> bool | None:
        return name.endswith("weight_entry_save_batch")


@pytest.mark.parametrize(("show", "expected"), [(None, "FORM_NOT_SHOWN"), (lambda form: EVENT, "APPROVAL_REQUIRED")])
def test_openai_agents_show_a_form_and_ask_for_its_call(
    monkeypatch: pytest.MonkeyPatch, show: Any, expected: str
) -> None:
    session = AsyncSession(SKILLS, user=User(name="Ada"), environment=ALL)
    run_async(session.load("weights"))
    skills = adapter(monkeypatch, "openai_agents").SkillTools(session, _run, by="Ada", show=show)
    run_async(skills.refresh())
    tools = {each.name: each for each in skills.tools}
    result = json.loads(run_async(tools["form_open"].on_invoke_tool(Context(), json.dumps(OPEN))))
    assert result["error"]["code"] == expected
    if show is not None:
        called = tools[result["tool"]].on_invoke_tool(Context(), json.dumps(result["arguments"]))
        assert json.loads(run_async(called)) == SENT


@pytest.mark.parametrize(
    ("show", "says_yes", "expected"),
    [
        (None, True, "FORM_NOT_SHOWN"),
        (lambda form: EVENT, True, SENT),
        (lambda form: EVENT, False, "CALL_REJECTED"),
        (lambda form: None, True, {"form": "closed", "note": "The user closed the form without sending it."}),
        (lambda form: {"name": "nothing"}, True, "FORM_EVENT_INVALID"),
    ],
)
def test_the_claude_server_shows_a_form_and_asks_for_its_call(
    monkeypatch: pytest.MonkeyPatch, show: Any, says_yes: bool, expected: Any
) -> None:
    session = AsyncSession(SKILLS, user=User(name="Ada"), environment=ALL)
    server = adapter(monkeypatch, "claude_agent_sdk").SkillServer(
        session, _run, lambda call: says_yes, otherwise=None, by="Ada", show=show
    )
    tools = {each.name: each for each in server.tools}
    run_async(tools["capability_skill_load"].handler({"capability_id": "weights"}))
    text = run_async(tools["form_open"].handler(OPEN))["content"][0]["text"]
    result = json.loads(text)
    assert result == expected if isinstance(expected, dict) else result["error"]["code"] == expected


def test_a_coroutine_may_show_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    async def show(form: SkillForm) -> Any:
        return EVENT

    session = AsyncSession(SKILLS, user=User(name="Ada"), environment=ALL)
    run_async(session.load("weights"))
    skills = adapter(monkeypatch, "openai_agents").SkillTools(session, _run, show=show)
    run_async(skills.refresh())
    (opened,) = [each for each in skills.tools if each.name == "form_open"]
    assert "APPROVAL_REQUIRED" in run_async(opened.on_invoke_tool(Context(), json.dumps(OPEN)))
    assert "agents" in sys.modules
