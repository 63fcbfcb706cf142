"""Pydantic AI: a toolset whose tools and instructions are those of an `AsyncSession`.

    toolset = SkillToolset(session, run)
    agent = Agent(model, toolsets=[toolset], output_type=[str, DeferredToolRequests])
    await session.turn(message)
    result = await agent.run(message)

A call that waits for a person becomes a deferred one (`DeferredToolRequests.approvals`, its summary in `metadata`); run
the agent again with `DeferredToolResults`, as Pydantic AI documents.

So does a form that the model opens, with the form in `metadata` (`{"form": {"schema_id", "title", "problem",
"messages"}}`): approve the call with `answer_form(call, event)`, the event of your renderer, or None where the user
closed it.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic_ai import RunContext, ToolApproved, ToolDefinition
from pydantic_ai.exceptions import ApprovalRequired as Deferred
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from capability_client import AnswerRequired, ApprovalRequired, AsyncSession, FormRequired, SkillForm
from capability_client.integrations.form_results import question_in_words
from capability_client.session.own_tools import FORM
from capability_client.session.steps import Executor

# Under which name the event of a form comes beside the arguments of its call.
EVENT: Final = "event"
# The session's gate checks the arguments, and names all errors.
_ANY = SchemaValidator(schema=core_schema.any_schema())


class SkillToolset(AbstractToolset[Any]):
    """`run` does a tool's own work, else the session's toolbox; `by` is the name of the person who approves."""

    def __init__(self, session: AsyncSession, run: Executor | None = None, *, by: str = "the user") -> None:
        self.session = session
        self._run = run
        self._by = by

    @property
    def id(self) -> str:
        """Its name among the agent's toolsets."""
        return "capability-studio"

    async def get_instructions(self, ctx: RunContext[Any]) -> str:
        """The system prompt, and the prompt of this step."""
        return (await self.session.prompt_parts()).text

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """What may be called in this step, one after the other: a session is not for several tasks at once."""
        made = {}
        listed: list[dict[str, Any]] = list(self.session.tools("mcp"))
        for each in listed:
            name, schema, words = each["name"], each["inputSchema"], each["description"]
            tool = ToolDefinition(name=name, parameters_json_schema=schema, description=words, sequential=True)
            made[name] = ToolsetTool(toolset=self, tool_def=tool, max_retries=1, args_validator=_ANY)
        return made

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """The result, or an error that the model reads. Raises Pydantic AI's `ApprovalRequired`."""
        # What a model writes there is no event of the user: only the host overrides the arguments of an approved call.
        given = tool_args if ctx.tool_call_approved else {}
        asked = {key: value for key, value in tool_args.items() if key != EVENT or name != FORM}
        try:
            return await self.session.result_of(name, asked, run=self._run)
        except ApprovalRequired as waiting:
            if not ctx.tool_call_approved:
                raise Deferred(metadata={"summary": waiting.call.summary()}) from None
            return await self.session.result_of_approved(waiting.call_id, run=self._run, by=self._by)
        except FormRequired as waiting:
            if EVENT not in given:
                raise Deferred(metadata={"form": waiting.form.as_dict()}) from None
            return await self._sent(waiting.form, given[EVENT])
        except AnswerRequired as waiting:
            return question_in_words(waiting)

    async def _sent(self, form: SkillForm, event: Any) -> Any:
        """What became of the form; what is not taken, and what needs an approval besides, is deferred again."""
        try:
            result = await self.session.result_of_form(form.call_id, event, run=self._run)
        except ApprovalRequired as waiting:
            raise Deferred(metadata={"summary": waiting.call.summary()}) from None
        if form.state == "open":
            raise Deferred(metadata={"form": form.as_dict()})
        return result


def answer_form(call: ToolCallPart, event: Any) -> ToolApproved:
    """For `DeferredToolResults.approvals`: what the user made of the form that this deferred call shows."""
    return ToolApproved(override_args={**call.args_as_dict(), EVENT: event})
