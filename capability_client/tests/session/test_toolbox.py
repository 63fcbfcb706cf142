"""Functions for the tools of skills, by name; what is missing is found when a skill is loaded."""

from __future__ import annotations

import asyncio
from typing import TypedDict

import pytest

from capability_client import (
    AsyncSession,
    CallResult,
    LocalSkills,
    Session,
    Toolbox,
    ToolCall,
    ToolsNotImplemented,
    User,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.json_values import parsed
from tests.servers import ROOT

ENTRY = {"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}
FREE: dict[str, object] = {"type": "object"}


class Put(TypedDict):
    note: str


def _registry(*names: str) -> FakeRegistry:
    return FakeRegistry(
        build_bundle(name, tools=[tool("put", args_schema=FREE), tool(f"{name}_list", args_schema=FREE)])
        for name in names
    )


def _toolbox() -> Toolbox:
    tools = Toolbox()

    @tools.implements("put")
    def put(arguments: Put, call: ToolCall) -> dict[str, str]:
        return {"kept": arguments["note"], "by": call.tool}

    @tools.implements("alpha_list")
    def list_alpha(arguments: object, call: ToolCall) -> list[str]:
        return [call.capability_id]

    return tools


def test_a_call_runs_the_function_of_its_tool() -> None:
    session = Session(_registry("alpha"), toolbox=_toolbox(), environment=ALL)
    session.load("alpha")
    assert session.result_of("alpha__put", {"note": "x"}) == {"kept": "x", "by": "put"}
    assert session.result_of("alpha_list", {}) == ["alpha"]
    assert session.result_of("alpha_list", {}, run=lambda call: "mine") == "mine"


def test_a_skill_of_which_a_tool_is_missing_is_refused_when_it_is_loaded() -> None:
    session = Session(_registry("alpha", "beta"), toolbox=_toolbox(), environment=ALL, user=User(name="Ada"))
    with pytest.raises(ToolsNotImplemented, match="implements no beta_list of beta"):
        session.load("beta")
    error = parsed(session.result_of("capability_skill_load", {"capability_id": "beta"}))["error"]
    assert error["code"] == "TOOLS_NOT_IMPLEMENTED"
    assert "beta_list" in error["message"]
    session.turn("$beta please")
    assert not list(session.active)
    assert [each.kind for each in session.events if each.capability_id == "beta"] == ["not_loaded"]
    with pytest.raises(ToolsNotImplemented):
        session.reload("beta")
    assert "beta" not in session.bundles


def test_a_tool_that_two_skills_have_is_named_with_its_skill() -> None:
    tools = _toolbox()

    @tools.implements("beta__put")
    def put_beta(arguments: Put, call: ToolCall) -> str:
        return "beta's own"

    @tools.implements("beta_list")
    def list_beta(arguments: object, call: ToolCall) -> list[str]:
        return []

    session = Session(_registry("alpha", "beta"), toolbox=tools, environment=ALL)
    for name in ("alpha", "beta"):
        session.load(name)
    assert session.result_of("beta__put", {"note": "x"}) == "beta's own"
    assert session.result_of("alpha__put", {"note": "x"}) == {"kept": "x", "by": "put"}


def test_a_tool_has_one_function_and_a_session_without_any_says_so() -> None:
    with pytest.raises(ValueError, match="put has a function already: put"):
        _toolbox().implements("put")(lambda arguments, call: None)
    session = Session(_registry("alpha"), environment=ALL)
    session.load("alpha")
    with pytest.raises(TypeError, match="run=, or a session with a toolbox="):
        session.result_of("alpha__put", {"note": "x"})


def test_a_function_may_be_a_coroutine_function_of_an_async_session() -> None:
    tools = Toolbox()

    @tools.implements("weight_entry_list")
    async def list_entries(arguments: object, call: ToolCall) -> dict[str, list[object]]:
        await asyncio.sleep(0)
        return {"entries": []}

    async def converse() -> None:
        skills = LocalSkills(ROOT / "examples")
        session = AsyncSession(skills, environment=ALL)
        await session.load("weights")
        done = await session.call("weight_entry_list", {}, run=tools)
        assert isinstance(done, CallResult)
        assert done.result == {"entries": []}
        assert tools.missing(await session.load("weights")) == [
            "weight_trend_get",
            "weight_entry_save_batch",
            "weight_entry_delete",
        ]

    run_async(converse())
