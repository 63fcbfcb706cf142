"""Pydantic AI: a toolset whose tools and instructions are those of an `AsyncSession`.

    toolset = SkillToolset(session, run)
    agent = Agent(model, toolsets=[toolset], output_type=[str, DeferredToolRequests])
    await session.turn(message)
    result = await agent.run(message)

A call that waits for a person becomes a deferred one (`DeferredToolRequests.approvals`, its summary in `metadata`); run
the agent again with `DeferredToolResults`, as Pydantic AI documents.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.exceptions import ApprovalRequired as Deferred
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from capability_client.integrations.errors import question_in_words
from capability_client.session import AnswerRequired, ApprovalRequired, AsyncSession
from capability_client.session.steps import Executor

# The session's gate checks the arguments, and names all errors.
_ANY = SchemaValidator(schema=core_schema.any_schema())


class SkillToolset(AbstractToolset[Any]):
    """`run` does a tool's own work; `by` is the name of the person who approves."""

    def __init__(self, session: AsyncSession, run: Executor, *, by: str = "the user") -> None:
        self.session = session
        self._run = run
        self._by = by

    @property
    def id(self) -> str:
        """Its name among the agent's toolsets."""
        return "capability-studio"

    async def get_instructions(self, ctx: RunContext[Any]) -> str:
        """The system prompt, and the prompt of this step."""
        system = await self.session.system_prompt()
        return f"{system.prompt}\n{self.session.prompt().prompt}"

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """What may be called in this step, one after the other: a session is not for several tasks at once."""
        made = {}
        for each in self.session.tools("mcp"):
            name, schema, words = each["name"], each["inputSchema"], each["description"]
            tool = ToolDefinition(name=name, parameters_json_schema=schema, description=words, sequential=True)
            made[name] = ToolsetTool(toolset=self, tool_def=tool, max_retries=1, args_validator=_ANY)
        return made

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """The result, or an error that the model reads. Raises Pydantic AI's `ApprovalRequired`."""
        try:
            return await self.session.result_of(name, tool_args, run=self._run)
        except ApprovalRequired as waiting:
            if not ctx.tool_call_approved:
                raise Deferred(metadata={"summary": waiting.call.summary()}) from None
            return await self.session.result_of_approved(waiting.call_id, run=self._run, by=self._by)
        except AnswerRequired as waiting:
            return question_in_words(waiting)
