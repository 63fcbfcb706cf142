"""OpenAI Agents SDK: the instructions and tools of an `AsyncSession`, kept up to date while the agent runs.

    skills = SkillTools(session, run)
    agent = Agent(name="Assistant", instructions=skills.instructions, tools=skills.tools, model=model)
    await session.turn(message)
    await skills.refresh()
    result = await Runner.run(agent, message)

A call that waits for a person interrupts the run (`result.interruptions`); `state.approve(...)` or `state.reject(...)`
and run the state again, as the SDK documents. `show(form)` shows a form that the model opens and returns its event, or
None; where the form's tool needs an approval, the model calls that tool with what was sent, and the run is interrupted.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

from agents import FunctionTool, Tool
from agents.tool_context import ToolContext

from capability_client import AnswerRequired, ApprovalRequired, AsyncSession, FormRequired
from capability_client.integrations.form_results import question_in_words, result_of_shown
from capability_client.session.own_tools import CALL
from capability_client.session.steps import Executor, Presenter


class SkillTools:
    """`tools` is one list for the whole life of the agent: its contents change with what is loaded."""

    def __init__(
        self, session: AsyncSession, run: Executor, *, by: str = "the user", show: Presenter | None = None
    ) -> None:
        self.session = session
        self._show = show
        self.tools: list[Tool] = []
        self._run = run
        self._by = by
        # The SDK calls several tools at once, and a session is not for several tasks at once.
        self._lock = asyncio.Lock()

    async def instructions(self, context: Any, agent: Any) -> str:
        """The system prompt, and the prompt of this step; the SDK asks before each step."""
        return (await self.session.prompt_parts()).text

    async def refresh(self) -> None:
        """Bring `tools` up to date; call it after `session.turn`, calls of the model do so by themselves."""
        listed: list[dict[str, Any]] = list(self.session.tools("mcp"))
        self.tools[:] = [
            FunctionTool(
                name=each["name"],
                description=each["description"],
                params_json_schema=each["inputSchema"],
                on_invoke_tool=partial(self._invoke, each["name"]),
                strict_json_schema=False,
                needs_approval=partial(self._needs_approval, each["name"]),
            )
            for each in listed
        ]

    async def _invoke(self, name: str, context: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            given = arguments
        async with self._lock:
            result = await self._result(name, given, context)
            await self.refresh()
        return json.dumps(result, ensure_ascii=False, default=str)

    async def _needs_approval(self, name: str, context: Any, arguments: Any, call_id: str) -> bool:
        """As the tool is now: what was loaded or reloaded since `refresh` may ask for a person."""
        if name == CALL and isinstance(arguments, dict):
            name = str(arguments.get("tool"))
        return self.session.needs_approval(name)

    async def _result(self, name: str, arguments: Any, context: ToolContext[Any]) -> Any:
        try:
            return await self.session.result_of(name, arguments, run=self._run)
        except ApprovalRequired as waiting:
            # That the SDK calls the tool says nothing: only a person's word for exactly this call does.
            if context.is_tool_approved(name, context.tool_call_id) is not True:
                return {"error": {"code": waiting.code, "message": str(waiting)}}
            return await self.session.result_of_approved(waiting.call_id, run=self._run, by=self._by)
        except FormRequired as waiting:
            return await result_of_shown(self.session, waiting.form, self._run, self._show)
        except AnswerRequired as waiting:
            return question_in_words(waiting)
