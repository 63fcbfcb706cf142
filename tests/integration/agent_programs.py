"""Two agents of docs/agents/ with their frameworks, the model played by a script: run by test_agent_frameworks.py."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from capability_client import AsyncSession, Environment, LocalSkills, SkillForm, User
from docs.agents.weight_tools import tools
from tests.agent_script import next_step

SKILLS = LocalSkills(Path(__file__).parents[2] / "examples")
SETTINGS: dict[str, Any] = {"user": User(name="Ada"), "environment": Environment(os="linux"), "toolbox": tools}
TEXTS = ("I just weighed 187.6 lbs", "and before: 188.2, 187.9")


def event_of(form: dict[str, Any]) -> dict[str, Any]:
    """What a renderer sends for a press of the button that saves."""
    data = next(each["updateDataModel"]["value"] for each in form["messages"] if "updateDataModel" in each)
    bundle = SKILLS.load(form["capability_id"])
    entry = next(each for each in bundle.ui_schemas if each["schema_id"] == form["schema_id"])
    given = SkillForm(form["call_id"], form["capability_id"], form["schema_id"], bundle.digest, entry, data, {})
    return given.press("save_all")


def approve(summary: str) -> bool:
    print(f"asked: {summary.split(maxsplit=1)[0]}")
    return True


def show(form: dict[str, Any]) -> dict[str, Any]:
    print(f"shown: {form['schema_id']}")
    return event_of(form)


async def pydantic_agent() -> None:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from docs.agents.pydantic_agent import say

    def model(messages: list[Any], info: AgentInfo) -> ModelResponse:
        parts = [part for each in messages for part in each.parts]
        asked = next(str(part.content) for part in parts if isinstance(part, UserPromptPart))
        read = [part.content for part in parts if isinstance(part, ToolReturnPart)]
        text, calls = next_step(asked, read[-1] if read else None, {tool.name for tool in info.function_tools})
        return ModelResponse([TextPart(text)] if text else [ToolCallPart(*call) for call in calls])

    for text in TEXTS:
        session = AsyncSession(SKILLS, **SETTINGS)
        print(await say(session, FunctionModel(model), text, approve, show))


def langgraph_agent() -> None:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    from capability_client.integrations.langgraph import SkillNodes
    from capability_client.session.message_export import FROM_SESSION
    from docs.agents.langgraph_agent import build, say

    class Script(BaseChatModel):
        names: set[str] = set()

        @property
        def _llm_type(self) -> str:
            return "script"

        def bind_tools(self, given: Any, **more: Any) -> Any:
            return Script(names={each["function"]["name"] for each in given})

        def _generate(self, messages: Any, *given: Any, **more: Any) -> Any:
            said = [each for each in messages if not str(each.content).startswith(FROM_SESSION)]
            asked = [each.content for each in said if isinstance(each, HumanMessage)][-1]
            last = json.loads(said[-1].content) if isinstance(said[-1], ToolMessage) else None
            text, calls = next_step(asked, last, self.names)
            made = [{"name": name, "args": given, "id": str(len(said))} for name, given in calls]
            return ChatResult(generations=[ChatGeneration(message=AIMessage(text, tool_calls=made))])

    def decide(asked: Any) -> Any:
        return show(asked["form"]) if isinstance(asked, dict) else approve(asked)

    graph = build(SkillNodes(SKILLS, **SETTINGS), Script())
    for number, text in enumerate(TEXTS):
        print(say(graph, str(number), text, decide))


if __name__ == "__main__":
    if sys.argv[1] == "pydantic_agent":
        asyncio.run(pydantic_agent())
    else:
        langgraph_agent()
