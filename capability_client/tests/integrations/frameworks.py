"""What the adapters import of their frameworks, as little as they use: for tests without the packages.

tests/integration/test_agent_frameworks.py runs the adapters with the packages themselves.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest


@dataclass
class Allowed:
    updated_input: Any = None


@dataclass
class Denied:
    message: str = ""


@dataclass
class SdkTool:
    name: str
    description: str
    input_schema: Any
    handler: Any


@dataclass
class Matcher:
    matcher: str | None = None
    hooks: list[Any] = field(default_factory=list)


@dataclass
class Said:
    """A message of LangChain, of any kind."""

    content: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_call_id: str = ""


class FromUser(Said):
    pass


class FromModel(Said):
    pass


class FromTool(Said):
    pass


class FromSystem(Said):
    pass


@dataclass
class AgentTool:
    name: str
    description: str
    params_json_schema: Any
    on_invoke_tool: Any
    strict_json_schema: bool
    needs_approval: Any


_MODULES: dict[str, dict[str, dict[str, Any]]] = {
    "claude_agent_sdk": {
        "claude_agent_sdk": {
            "HookMatcher": Matcher,
            "PermissionResultAllow": Allowed,
            "PermissionResultDeny": Denied,
            "SdkMcpTool": SdkTool,
            "create_sdk_mcp_server": lambda name, tools: (name, tools),
        }
    },
    "langgraph": {
        "langchain_core": {},
        "langchain_core.messages": {
            "AIMessage": FromModel,
            "AnyMessage": Said,
            "HumanMessage": FromUser,
            "SystemMessage": FromSystem,
            "ToolMessage": FromTool,
        },
        "langgraph": {},
        "langgraph.graph": {},
        "langgraph.graph.message": {"add_messages": list},
        "langgraph.types": {"interrupt": lambda value: False},
    },
    "openai_agents": {
        "agents": {"FunctionTool": AgentTool, "Tool": AgentTool},
        "agents.tool_context": {"ToolContext": dict},
    },
}


def adapter(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    """The module of an adapter, over stand-ins for its framework."""
    for module, names in _MODULES[name].items():
        made = ModuleType(module)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.delitem(sys.modules, f"capability_client.integrations.{name}", raising=False)
    found = importlib.import_module(f"capability_client.integrations.{name}")
    monkeypatch.delitem(sys.modules, f"capability_client.integrations.{name}")
    return found
