"""The loop of an agent: a session, a model, tools, and a person who approves what writes.

The model is whatever answers `reply(session, messages)`: scripted.py runs without one, openai_chat.py and
anthropic_messages.py speak two vendors' request formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent_client.session import ApprovalRequired, CallRefused, CallResult, Session
from agent_client.session import ToolCall as Call

STEPS_MAX = 8


@dataclass(frozen=True)
class ToolCall:
    """What a model wants to call, under the name that the session exported."""

    call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class Reply:
    """What a model says: words for the user, or calls."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class Message:
    """One message in no vendor's form. `role` is user, agent or tool."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


class Model(Protocol):
    """The seam to a vendor."""

    def reply(self, session: Session, messages: list[Message]) -> Reply:
        """The next step. It reads `session.system_prompt()` and `session.prompt()` and has `session.tools()`."""


@dataclass
class Agent:
    """One conversation. `run` is the tool's own work, `approve` asks the person: True, or False."""

    session: Session
    model: Model
    run: Callable[[Call], Any]
    approve: Callable[[Call], bool]
    messages: list[Message] = field(default_factory=list)

    def say(self, text: str) -> str:
        """The user says something; what the agent answers."""
        self.session.turn(text)
        self.messages.append(Message("user", text))
        for _ in range(STEPS_MAX):
            reply = self.model.reply(self.session, self.messages)
            self.messages.append(Message("agent", reply.text, reply.calls))
            if not reply.calls:
                self.session.record_reply()
                return reply.text
            for call in reply.calls:
                self.messages.append(Message("tool", self._result(call), call_id=call.call_id))
        return "I could not finish that; please ask me in smaller steps."

    def _result(self, call: ToolCall) -> str:
        """What the model reads: the result, or the gate's reason in words."""
        try:
            done = self._run(call)
        except CallRefused as error:
            return json.dumps({"error": {"code": error.code, "message": str(error)}})
        return json.dumps(done.result if isinstance(done, CallResult) else None)

    def _run(self, call: ToolCall) -> CallResult | Call:
        try:
            return self.session.call(call.name, call.arguments, run=self.run)
        except ApprovalRequired as waiting:
            if not self.approve(waiting.call):
                self.session.reject(waiting.call_id)
                raise
            self.session.approve(waiting.call_id, by="the user")
            return self.session.run_call(waiting.call_id, self.run)
