"""The adapter for the Claude Agent SDK: what it allows, and what reaches the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_client import AsyncSession, SessionOptions, ToolCall
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.integrations.frameworks import Allowed, Denied, adapter
from capability_client.tests.registries import bundle
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async

FILE: dict[str, Any] = {"path": "references/forms.md", "digest": "sha256:" + "0" * 64, "size": 40}
PUT: dict[str, Any] = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}}
FOREIGN = ("Bash", "Write", "WebFetch", "mcp__other__pay", "mcp__skills__other", "mcp__skillsx__ask_user", "")


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> Any:
    return adapter(monkeypatch, "claude_agent_sdk")


@pytest.fixture
def source() -> FakeRegistry:
    capability = {"intent_triggers": ["alpha"]}
    alpha = bundle("alpha", tools=[tool("alpha_list"), PUT], files=[FILE], capability=capability)
    return FakeRegistry([alpha, build_bundle("beta")], files={("alpha", FILE["path"]): "Forms."})


def _run(call: ToolCall) -> Any:
    return {"entries": []}


def _server(sdk: Any, source: FakeRegistry, **settings: Any) -> Any:
    session = AsyncSession(source, environment=ALL, options=SessionOptions(ttl_turns=1))
    settings = {"otherwise": None, "approve": lambda call: True} | settings
    return sdk.SkillServer(session, _run, settings.pop("approve"), **settings)


def _may(server: Any, name: str, given: Any = None) -> Any:
    return run_async(server.can_use_tool(name, given or {"command": "rm -rf /"}, None))


def _call(server: Any, name: str, **given: Any) -> str:
    handlers = {each.name: each.handler for each in server.tools}
    return str(run_async(handlers[name](given))["content"][0]["text"])


def _hear(server: Any, text: str) -> str:
    (matcher,) = server.hooks["UserPromptSubmit"]
    (hook,) = matcher.hooks
    found = run_async(hook({"hook_event_name": "UserPromptSubmit", "prompt": text}, None, None))
    return str(found["hookSpecificOutput"]["additionalContext"]) if found else ""


@pytest.mark.parametrize("name", FOREIGN)
def test_a_tool_that_is_not_of_the_skills_is_denied_with_a_sentence(sdk: Any, source: FakeRegistry, name: str) -> None:
    denied = _may(_server(sdk, source), name)
    assert isinstance(denied, Denied)
    words = f"{name} is not a tool of the skills, and this program allows no others. Do not call it again."
    assert denied.message == words


def test_the_hosts_callback_decides_about_other_tools_and_about_none_of_ours(sdk: Any, source: FakeRegistry) -> None:
    asked: list[str] = []

    async def later(name: str, given: Any, context: Any) -> Any:
        asked.append(name)
        return Allowed() if name == "Read" else Denied("not today")

    for otherwise in (later, lambda name, given, context: Allowed()):
        server = _server(sdk, source, otherwise=otherwise)
        assert isinstance(_may(server, "Read"), Allowed)
        assert isinstance(_may(server, "mcp__skills__capability_skill_load"), Allowed)
    assert isinstance(_may(_server(sdk, source, otherwise=later), "Bash"), Denied)
    assert asked == ["Read", "Bash"]
    with pytest.raises(TypeError, match="otherwise"):
        sdk.SkillServer(AsyncSession(source), _run, bool)


def test_a_session_that_appends_by_itself_is_refused(sdk: Any, source: FakeRegistry) -> None:
    session = AsyncSession(source, environment=ALL, options=SessionOptions(layout="append"))
    with pytest.raises(ValueError, match="SkillServer appends skills by itself"):
        sdk.SkillServer(session, _run, bool, otherwise=None)


def test_a_write_needs_a_persons_yes_at_the_callback_and_at_the_tool(sdk: Any, source: FakeRegistry) -> None:
    asked: list[str] = []

    def approve(call: ToolCall) -> bool:
        asked.append(call.tool)
        return call.arguments == {"a": 1}

    server = _server(sdk, source, approve=approve)
    _call(server, "capability_skill_load", capability_id="alpha")
    put = {"tool": "alpha__alpha_put", "arguments": {"a": 1}}
    assert "APPROVAL_REQUIRED" in _call(server, "capability_tool_call", **put), "nobody was asked"
    assert isinstance(_may(server, "mcp__skills__capability_tool_call", put), Allowed)
    assert json.loads(_call(server, "capability_tool_call", **put)) == {"entries": []}
    other = put | {"arguments": {"a": 2}}
    assert isinstance(_may(server, "mcp__skills__capability_tool_call", other), Denied)
    assert "CALL_REJECTED" in _call(server, "capability_tool_call", **other)
    assert asked == ["alpha_put", "alpha_put"]


def test_the_tool_that_reads_files_is_there_before_a_skill_has_some(sdk: Any, source: FakeRegistry) -> None:
    server = _server(sdk, source)
    assert "capability_file_load" in {each.name for each in server.tools}
    given = {"capability_id": "alpha", "path": FILE["path"]}
    assert "CAPABILITY_NOT_FOUND" in _call(server, "capability_file_load", **given)
    _call(server, "capability_skill_load", capability_id="alpha")
    assert json.loads(_call(server, "capability_file_load", **given))["text"] == "Forms."


def test_hints_reach_the_model_with_the_users_message(sdk: Any, source: FakeRegistry) -> None:
    server = _server(sdk, source)
    run_async(server.session.turn("alpha"))
    assert not any("Fits now" in each.description for each in server.tools), "the SDK reads a description once"
    assert "- alpha (Alpha): Everything about alpha." in _hear(server, "something for alpha")
    assert _hear(server, "1 + 1") == ""


def test_instructions_reach_the_model_once_and_again_after_the_skill_was_gone(sdk: Any, source: FakeRegistry) -> None:
    server = _server(sdk, source)
    loaded = _call(server, "capability_skill_load", capability_id="alpha")
    assert "### Skill: alpha" in loaded
    assert "### Skill: alpha" not in _call(server, "capability_tool_call", tool="alpha_list", arguments={})
    assert "### Skill: alpha" not in _hear(server, "go on")
    assert "### Skill: beta" in _hear(server, "$beta and so on")
    for _ in range(3):
        _hear(server, "something else")
    assert "### Skill: alpha" in _hear(server, "$alpha again")


def test_a_skill_that_was_taken_out_of_use_is_named_to_the_model(sdk: Any, source: FakeRegistry) -> None:
    server = _server(sdk, source)
    _call(server, "capability_skill_load", capability_id="alpha")
    source.quarantine("alpha")
    assert "- alpha: it was taken out of use" in _hear(server, "and now?")
    assert "alpha is not to be used any more" in _call(
        server, "capability_tool_call", tool="alpha__alpha_list", arguments={}
    )
