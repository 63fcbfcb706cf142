"""The tutorial of agents: what its pages show is in the agents of docs/agents/, and the rest runs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from capability_client import (
    Approval,
    MemorySessions,
    Message,
    ModelCall,
    ModelReply,
    Session,
    Toolbox,
    ToolCall,
)
from capability_client.testing import FakeRegistry, build_bundle
from tests.servers import ROOT

PAGES = ROOT / "docs" / "agent-tutorial"
AGENTS = "".join(
    (ROOT / "docs" / "agents" / f"{name}.py").read_text("utf-8") for name in ("plain_loop", "weight_tools")
)
PUT = {
    "name": "put",
    "description": "Put a number.",
    "policy": {"kind": "write", "requires_approval": True},
    "args_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


def _blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (PAGES / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["first-agent.md", "form.md"])
def test_a_page_shows_what_its_agent_does(page: str) -> None:
    found = _blocks(page)
    assert found
    assert [block for block in found if block.strip("\n") not in AGENTS] == []


def test_an_approval_survives_a_restart_as_the_page_says() -> None:
    store, ran = MemorySessions(), list[dict[str, object]]()
    tools = Toolbox()

    @tools.implements("put")
    def put(arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        ran.append({**arguments, "by": call.approved_by})
        return {"put": arguments["n"]}

    def model(session: Session, messages: tuple[Message, ...]) -> ModelReply:
        if messages[-1].role == "tool":
            return ModelReply("Again.")
        if messages[-1].text.startswith("Approved"):
            return ModelReply(messages[-1].text)
        session.load("alpha")
        return ModelReply(calls=(ModelCall(str(len(messages)), "alpha__put", {"n": 1}),))

    namespace: dict[str, Any] = {
        **{each.__name__: each for each in (Approval, Session, ToolCall, datetime, timedelta)},
        "UTC": UTC,
        "json": json,
        "store": store,
        "tools": tools,
        "model": model,
        "registry": FakeRegistry([build_bundle("alpha", tools=[PUT])]),
    }
    for block in _blocks("approval.md"):
        exec(block, namespace)
    assert namespace["hear"]("put one") == 'This waits for you: put of alpha (write) with {"n": 1}'
    ((call_id, summary),) = namespace["waiting"]().items()
    assert summary.startswith("put of alpha")
    assert ran == []
    assert namespace["decide"](call_id, "Ada") == 'Approved and done: {"put": 1}'
    assert ran == [{"n": 1, "by": "Ada"}]
    assert namespace["waiting"]() == {}
