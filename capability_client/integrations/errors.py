"""What an adapter returns to the model where only a host could go on."""

from __future__ import annotations

from typing import Any

from capability_kit.tool_gate import AnswerRequired


def question_in_words(error: AnswerRequired) -> dict[str, Any]:
    """The result of `ask_user` where the framework shows no forms: the model asks in words instead."""
    error.call.state = "done"
    message = f"No form can be shown here. Ask the user in your answer: {error.ask.plain()}"
    return {"error": {"code": error.code, "message": message}}
