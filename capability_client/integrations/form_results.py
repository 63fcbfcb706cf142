"""What an adapter returns to the model where only a host could go on, and where a host shows a form."""

from __future__ import annotations

import inspect
from typing import Any

from capability_client import AsyncSession, SkillForm
from capability_client.session.replies import SHOWN_MAX
from capability_client.session.steps import AsyncApprover, AsyncPresenter, Executor
from capability_kit.approvals import Approval
from capability_kit.bundles.tool_names import wire_name
from capability_kit.tool_gate import AnswerRequired, ApprovalRequired


def question_in_words(error: AnswerRequired) -> dict[str, Any]:
    """The result of `ask_user` where the framework shows no forms: the model asks in words instead."""
    error.call.state = "done"
    message = f"No form can be shown here. Ask the user in your answer: {error.ask.plain()}"
    return {"error": {"code": error.code, "message": message}}


async def result_of_shown(
    session: AsyncSession,
    form: SkillForm,
    run: Executor | None,
    show: AsyncPresenter | None,
    approve: AsyncApprover | None = None,
    by: str = "",
) -> Any:
    """What the model reads of a form that `show` shows; a few times, where what the user sent is not taken.

    Without `show` the form closes, and the model asks in words. Where the form's tool needs an approval, `approve` asks
    for it; without it the model is to call the tool itself, for which the framework asks.
    """
    for _ in range(SHOWN_MAX):
        if show is None:
            break
        try:
            result = await session.result_of_form(form.call_id, await settled(show(form)), run=run)
        except ApprovalRequired as waiting:
            call = waiting.call
            if approve is None:
                message = "The user sent the form. Call this tool with these arguments: a person approves it then."
                tool = wire_name(call.capability_id, call.tool)
                return {"error": {"code": waiting.code, "message": message}, "tool": tool, "arguments": call.arguments}
            said = await settled(approve(call))
            if said is True or isinstance(said, Approval):
                approval = said if isinstance(said, Approval) else None
                return await session.result_of_approved(waiting.call_id, approval, run=run, by=by)
            return session.result_of_rejected(waiting.call_id)
        if form.state != "open":
            return result
    return session.result_of_unshown(form)


async def settled(said: Any) -> Any:
    """What a host's function returned, which may be a coroutine."""
    return await said if inspect.isawaitable(said) else said
