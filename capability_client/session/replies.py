"""One whole turn: the messages between user, model, tools and people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from capability_client.session import own_tools
from capability_client.session.calls import SessionCalls, operation_of_call
from capability_client.session.context import SessionContext
from capability_client.session.conversation import result_text
from capability_client.session.history import MessageHistory
from capability_client.session.layout import RequestLayout
from capability_client.session.loader import SkillLoader
from capability_client.session.messages import Delta, Message, ModelCall, ModelReply
from capability_client.session.operations import Operation, is_async, read_part
from capability_client.session.running_turn import RunningTurn
from capability_client.session.skill_forms import FormRequired, SkillForm
from capability_client.session.steps import Host, Steps, Together
from capability_client.session.toolbox import Toolbox
from capability_client.session.turns import SessionTurns
from capability_kit.approvals import Approval
from capability_kit.sentences import say
from capability_kit.tool_gate import AnswerRequired, ApprovalRequired, ToolCall, ToolUnknown, find_tool

TOO_MANY_STEPS: Final = "I could not finish that; please ask me in smaller steps."
# How often a form is shown in one call.
SHOWN_MAX: Final = 3


@dataclass(eq=False, repr=False)
class ModelReplies:
    """Asks the model, runs what it calls, and asks people where the gate or a form wants them."""

    _context: SessionContext
    _running: RunningTurn
    _turns: SessionTurns
    _history: MessageHistory
    _loader: SkillLoader
    _layout: RequestLayout
    _calls: SessionCalls
    # The call about which a person is asked at this moment.
    _undecided_call_id: str = field(default="", init=False)

    def messages(self, text: str, host: Host) -> Steps[None]:
        """Yields each message of the turn, beside what is to be called.

        Whatever ends it early, each open call gets a result: what is recorded is what a vendor accepts.
        """
        with self._running.hold():
            yield from self._turns.hear(text)
            try:
                yield self._record(Message("user", text))
                yield from self._replies(host)
            finally:
                self._history.repair(was_running=self._calls.is_running, waiting=self._undecided_call_id)
                self._calls.is_running, self._undecided_call_id = False, ""
                self._layout.forget_lost()

    def _replies(self, host: Host) -> Steps[None]:
        for _ in range(self._context.options.steps_max):
            yield from self._made_ready()
            reply = yield Operation("model", partial(host.model, tuple(self._history.messages)))
            if isinstance(reply, Iterator | AsyncIterator):
                reply = yield from self._streamed(reply)
            if not isinstance(reply, ModelReply):
                raise TypeError(f"A model returns a ModelReply, not {type(reply).__name__}")
            yield self._record(Message("agent", reply.text or "", tuple(reply.calls)))
            if not reply.calls:
                return
            question = ""
            ahead = yield from self._read_together(reply.calls, host)
            for call in reply.calls:
                try:
                    if call.call_id in ahead:
                        result = ahead[call.call_id]
                    else:
                        result = yield from self._result_for_model(call, host)
                except AnswerRequired as waiting:
                    question = waiting.ask.plain()
                    result = {"asked": question, "note": "The user's next message is the answer."}
                    self._calls.gate.find(waiting.call_id).state = "done"
                yield self._record(Message("tool", result_text(result), call_id=call.call_id))
            if question:
                yield self._record(Message("agent", question))
                return
        yield self._record(Message("agent", say(TOO_MANY_STEPS)))

    def _made_ready(self) -> Steps[None]:
        """Bring the messages within their limits, and append what a model reads among them."""
        if (yield from self._history.fit()):
            self._layout.forget_lost()
        for loaded in self._layout.appended_loads():
            yield self._record(loaded)

    def _streamed(self, stream: Iterator[Any] | AsyncIterator[Any]) -> Steps[ModelReply]:
        """The reply whose parts come one after the other: texts, and a `ModelReply` at the end where it calls tools.

        What was said when the turn ends early, the user has read: it is a message of its own.
        """
        read: Any = partial(read_part, stream) if isinstance(stream, AsyncIterator) else partial(next, stream, None)
        said: list[str] = []
        try:
            while (part := (yield Operation("delta", read))) is not None:
                if isinstance(part, ModelReply):
                    return part if part.text else replace(part, text="".join(said))
                said.append(_text_of(part))
                yield Delta(part)
        except BaseException:
            if said:
                self._record(Message("agent", "".join(said)))
            raise
        return ModelReply("".join(said))

    def _read_together(self, calls: Sequence[ModelCall], host: Host) -> Steps[dict[str, Any]]:
        """What the calls return that only read and that coroutine functions run, by `call_id`, where all do.

        A call that writes may change what the next one reads: then each waits for the one before.
        """
        ids = {call.call_id for call in calls}
        if len(calls) < 2 or len(ids) < len(calls) or not all(self._reads_async(call, host) for call in calls):
            return {}
        found = yield Together(tuple(self._result_for_model(call, host) for call in calls))
        return {call.call_id: result for call, result in zip(calls, found, strict=True)}

    def _reads_async(self, call: ModelCall, host: Host) -> bool:
        try:
            bundle, contract = find_tool(self._loader.tools(), call.name)
        except ToolUnknown:
            return False
        policy, run = contract["policy"], self._calls.executor(host.run)
        if policy["kind"] != "read" or policy.get("requires_approval") is True:
            return False
        return run.is_async(bundle.capability_id, contract["name"]) if isinstance(run, Toolbox) else is_async(run)

    def _record(self, message: Message) -> Message:
        recorded = self._history.record(message)
        # What ran has its result now.
        self._calls.is_running = False
        return recorded

    def _result_for_model(self, call: ModelCall, host: Host) -> Steps[Any]:
        """What the model reads, with what waits for a person decided. Raises `AnswerRequired` without `ask`."""
        try:
            return (yield from self._calls.result_of(call.name, call.arguments, host.run))
        except ApprovalRequired as waiting:
            return (yield from self._result_of_decision(waiting.call, host))
        except FormRequired as waiting:
            return (yield from self._result_of_shown(waiting.form, host))
        except AnswerRequired as waiting:
            if host.ask is None:
                raise
            return self._calls.own.answer(
                waiting.call_id, (yield Operation("ask", partial(host.ask, waiting.ask), call_id=waiting.call_id))
            ).result

    def _result_of_decision(self, call: ToolCall, host: Host) -> Steps[Any]:
        # Where nobody can answer now, the turn ends here and the call goes on waiting.
        self._undecided_call_id = call.call_id
        said = yield operation_of_call("approve", host.approve, call)
        self._undecided_call_id = ""
        approval = said if isinstance(said, Approval) else None
        if said is not True and approval is None:
            return self._calls.result_of_rejected(call.call_id)
        by = self._context.user.name or "the user"
        return (yield from self._calls.result_of_approved(call.call_id, approval, host.run, by))

    def _result_of_shown(self, form: SkillForm, host: Host) -> Steps[Any]:
        """What the user made of a form. One that was not taken is shown again, with the reason, a few times."""
        for _ in range(SHOWN_MAX):
            if host.show is None:
                break
            event = yield Operation("show", partial(host.show, form), form.capability_id, own_tools.FORM, form.call_id)
            if event is not None and not isinstance(event, Mapping):
                raise TypeError(f"show returns the form's event, or None, not {type(event).__name__}")
            try:
                result = yield from self._calls.result_of_form(form.call_id, event, host.run)
            except ApprovalRequired as waiting:
                return (yield from self._result_of_decision(waiting.call, host))
            if form.state != "open":
                return result
        return self._calls.result_of_unshown(form)


def _text_of(part: object) -> str:
    if not isinstance(part, str):
        raise TypeError(f"A model streams texts, and a ModelReply at its end, not {type(part).__name__}")
    return part
