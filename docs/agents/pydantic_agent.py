"""An agent in Pydantic AI, with an approval and a form: `pip install pydantic-ai-slim`."""

from collections.abc import Callable

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import Model

from capability_client import AsyncSession
from capability_client.integrations.pydantic_ai import SkillToolset, answer_form

Approve = Callable[[str], bool]
Show = Callable[[dict[str, object]], object]


async def say(session: AsyncSession, model: Model, text: str, approve: Approve, show: Show) -> str:
    """One message of the user; `approve` is asked about a summary, `show` returns the event of a form, or None."""
    agent = Agent(model, toolsets=[SkillToolset(session)], output_type=[str, DeferredToolRequests])
    await session.turn(text)
    result = await agent.run(text)
    while isinstance(waiting := result.output, DeferredToolRequests):

        def decide(call: ToolCallPart, about: dict[str, object]) -> bool | ToolApproved:
            form = about.get("form")
            return answer_form(call, show(form)) if isinstance(form, dict) else approve(str(about["summary"]))

        said = {call.tool_call_id: decide(call, waiting.metadata[call.tool_call_id]) for call in waiting.approvals}
        answers = DeferredToolResults(approvals=said)
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
    return str(result.output)
