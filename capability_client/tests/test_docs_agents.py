"""The agents of docs/agents/ against a vendor that refuses what is broken: each with an approval and a form.

Pydantic AI and LangGraph run in tests/integration/test_agent_frameworks.py.
"""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from capability_client import FileSessions, LocalSkills, Session, User
from capability_client.session.message_export import FROM_SESSION
from capability_client.tests.test_session import ALL
from docs.agents import asyncio_server, plain_loop
from docs.agents.weight_tools import ENTRIES, tools
from tests.agent_script import next_step
from tests.event_loop import run_async
from tests.json_values import parsed
from tests.servers import ROOT
from tests.vendors import Reply, StrictVendor, tool_names

SKILLS = LocalSkills(ROOT / "examples")
AGENTS = ROOT / "docs" / "agents"


def _reply(body: dict[str, Any]) -> Reply:
    said = [each for each in body["messages"] if not str(each["content"]).startswith(FROM_SESSION)]
    asked = [each["content"] for each in said if each["role"] == "user"][-1]
    return next_step(asked, said[-1]["content"] if said[-1]["role"] == "tool" else None, tool_names(body))


@pytest.mark.parametrize(
    ("name", "most"), [("plain_loop", 40), ("pydantic_agent", 30), ("langgraph_agent", 30), ("asyncio_server", 60)]
)
def test_an_agent_is_short(name: str, most: int) -> None:
    """Lines that hold code: neither empty, nor a docstring."""
    text = (AGENTS / f"{name}.py").read_text("utf-8")
    documented = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = [
        node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)
    ]
    spoken = {line for each in docs for line in range(each.lineno, (each.end_lineno or 0) + 1)}
    lines = [line for number, line in enumerate(text.splitlines(), start=1) if line.strip() and number not in spoken]
    assert len(lines) <= most


def test_the_first_agent_saves_what_was_approved_and_what_a_form_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    vendor = StrictVendor("openai", _reply)
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "save_all" if "Button" in question else "yes"

    monkeypatch.setattr(httpx2, "post", vendor.post)
    monkeypatch.setattr("builtins.input", answer)
    ENTRIES.clear()
    session = Session(SKILLS, user=User(name="Ada"), environment=ALL, toolbox=tools)
    say = {"approve": plain_loop.approve, "show": plain_loop.show}
    assert session.say("I just weighed 187.6 lbs", plain_loop.model, **parsed(say)) == "Saved 1."
    assert session.say("and before: 188.2, 187.9", plain_loop.model, **parsed(say)) == "Saved 2."
    assert [question.rpartition("\n")[2] for question in asked] == ["Allow this? ", "Button: ", "Allow this? "]
    assert sorted(row["weight"] for row in ENTRIES.values()) == [187.6, 187.9, 188.2]


class Client:
    """An `httpx2.AsyncClient` in front of the strict vendor, which gives other tasks their turn."""

    def __init__(self) -> None:
        self.vendor = StrictVendor("openai", _reply)

    async def post(self, url: str, **given: Any) -> httpx2.Response:
        await asyncio.sleep(0)
        return self.vendor.post(url, timeout=60, **given)


async def _talk(port: int, number: int) -> list[str]:
    """One user of the server: what was asked, and said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seen = []
    for text in ("I just weighed 187.6 lbs", "and before: 188.2, 187.9"):
        writer.write(json.dumps({"conversation": f"c{number}", "text": text}).encode() + b"\n")
        while "said" not in (given := json.loads(await reader.readline())):
            seen += list(given)
            answer = {"approved": True} if "approve" in given else {"event": _event(given["form"])}
            writer.write(json.dumps(answer).encode() + b"\n")
        seen.append(given["said"])
    writer.close()
    await writer.wait_closed()
    return seen


def _event(messages: list[dict[str, Any]]) -> dict[str, Any]:
    data = messages[1]["updateDataModel"]["value"]
    # What the button of the form sends.
    context = {key: data[key] for key in ("request_id", "source", "entries") if key in data}
    return {"name": "save_entries", "context": context}


def test_twenty_conversations_run_in_one_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(asyncio_server, "HTTP", Client())
    monkeypatch.setattr(asyncio_server, "SESSIONS", FileSessions(tmp_path))
    ENTRIES.clear()

    async def serve() -> list[list[str]]:
        server = await asyncio.start_server(lambda r, w: asyncio_server.converse(SKILLS, r, w), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.gather(*(_talk(port, number) for number in range(20)))

    expected = ["approve", "Saved 1.", "form", "approve", "Saved 2."]
    assert parsed(run_async(serve())) == [expected] * 20
    assert len(ENTRIES) == 60
