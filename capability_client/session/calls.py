"""Calls of tools: those of skills through the gate, and the session's own (own_calls.py)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from capability_client.session import own_tools
from capability_client.session.context import SessionContext
from capability_client.session.conversation import result_text
from capability_client.session.forms import FOR_USER, SessionForms
from capability_client.session.layout import RequestLayout
from capability_client.session.loader import SkillLoader
from capability_client.session.log import EventLog
from capability_client.session.opened_forms import OpenedForms
from capability_client.session.operations import Operation, OperationKind
from capability_client.session.own_calls import OwnCalls
from capability_client.session.skill_forms import FormRequired, SkillForm
from capability_client.session.steps import Executor, Json, Steps
from capability_client.session.toolbox import Toolbox
from capability_kit.approvals import Approval
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.tool_names import wire_name
from capability_kit.errors import describe_exception
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import (
    AnswerRequired,
    ApprovalRequired,
    CallNotOpen,
    CallRefused,
    CallResult,
    SkillNotReady,
    ToolCall,
    ToolCallGate,
    ToolUnknown,
    ToolWithheld,
    check_arguments,
    check_result,
    find_contract,
    find_tool,
    is_tool_of,
)

logger: logging.Logger = logging.getLogger("capability_client.session")


@dataclass(eq=False, repr=False)
class SessionCalls:
    """Every call goes through the gate; what a model reads of it is a result or an error.

    `is_running`: a tool was begun, and its result is not among the messages yet.
    """

    _context: SessionContext
    _log: EventLog
    _loader: SkillLoader
    _layout: RequestLayout
    _forms: SessionForms
    _opened: OpenedForms
    own: OwnCalls
    gate: ToolCallGate
    is_running: bool = field(default=False, init=False)
    # Calls that were cancelled and go on in their threads.
    _detached: set[str] = field(default_factory=set, init=False)

    # The gate.

    def open(self, tool: str, arguments: object, *, from_form: bool = False) -> ToolCall:
        """A skill's tool call of the model, or of a form (`from_form`: strings become numbers), checked and ready.

        `run_call` runs it. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        bundle, contract = self._find_tool(tool)
        try:
            call = self.gate.open(bundle, contract, arguments, from_form=from_form, turn=self._log.turn)
        except CallRefused as error:
            call_id = getattr(error, "call_id", "")
            self._log.note("call", bundle.capability_id, f"{contract['name']}: {error.code}", call_id=call_id)
            raise
        return call

    def _find_tool(self, tool: str) -> tuple[Bundle, Mapping[str, Any]]:
        """Raises `ToolUnknown`, or what says better why there is no such tool now."""
        try:
            return find_tool(self._loader.tools(), tool)
        except ToolUnknown:
            judged = self._loader.readiness()
            for each in self._loader.active:
                name, names = each.capability_id, {one["name"] for one in each.bundle.tools}
                if is_tool_of(name, each.bundle.withheld_tools, tool):
                    raise ToolWithheld.of(tool, name) from None
                if is_tool_of(name, names, tool) and not judged[name].is_ready:
                    raise SkillNotReady.of(name, judged[name]) from None
            wanted = str(tool).removeprefix("_")
            for name, why in self._loader.withdrawn.items():
                if wanted.startswith(wire_name(name, "")):
                    raise ToolUnknown(f"{name} is not to be used any more: {why}") from None
            for name, bundle in self._loader.bundles.items():
                if is_tool_of(name, (one["name"] for one in bundle.tools), wanted) and (
                    why := self._loader.why_inactive(name)
                ):
                    raise ToolUnknown(why) from None
            raise

    def needs_approval(self, tool: str) -> bool:
        """Whether a person decides about each call of this tool; False for a tool that does not exist now."""
        try:
            bundle, contract = find_tool(self._loader.tools(), tool)
        except ToolUnknown:
            return False
        if contract["policy"].get("requires_approval") is not True:
            return False
        return self.gate.grant_of(bundle, contract["name"]) is None

    def approve(self, call_id: str, approval: Approval | None = None, *, by: str = "") -> ToolCall:
        """A person approves a waiting call; `run_call` runs it then.

        As it is, by the person named `by`; or as the `approval` says. Raises `CallNotOpen`, and `ArgumentsInvalid` for
        changed arguments that do not fit: the call waits on.
        """
        given = approval or Approval(by)
        given = given if given.by else replace(given, by=by)
        bundle = self._loader.bundles.get(self.gate.find(call_id).capability_id)
        contract = find_contract(bundle, self.gate.find(call_id).tool) if bundle is not None else None
        call = self.gate.approve(call_id, given, bundle=bundle, tool=contract, turn=self._log.turn)
        words = f"approved by {one_line(given.by, most=60)}" + " for the session" * given.for_session
        self._log.note_call(call, words + (", with other arguments" if call.asked is not None else ""))
        return call

    def reject(self, call_id: str) -> ToolCall:
        """A person refuses a waiting call; the model is not asked about it again in this turn."""
        call = self.gate.reject(call_id, turn=self._log.turn)
        self._log.note_call(call, "rejected")
        self._opened.note_outcome(call, "was not allowed by the user")
        return call

    def call(self, tool: str, arguments: Any, run: Executor | None, *, from_form: bool) -> Steps[CallResult | ToolCall]:
        """Open a call and run it; without `run` one of a skill's tools stays open."""
        if tool == own_tools.CALL and self._layout.appends:
            given = check_arguments(own_tools.CALL_CONTRACT, arguments, from_form=False)
            tool, arguments = given["tool"], given["arguments"]
        own = self._layout.own_tools(ahead=True).get(tool)
        if own is not None:
            return (yield from self.own.run(tool, own, arguments))
        call = self.open(tool, arguments, from_form=from_form)
        return call if run is None else (yield from self.run(call.call_id, run))

    def run(self, call_id: str, run: Executor | None) -> Steps[CallResult]:
        """Run an open call once, and check its result. Where `run` raises, the call is `failed` and may run again.

        Roles are the caller's: a session that was resumed with others than those that opened the call refuses it.
        """
        execute = self.executor(run)
        call = self.gate.find(call_id)
        bundle = self._loader.bundles.get(call.capability_id)
        contract = find_contract(bundle, call.tool) if bundle else None
        if bundle is not None and contract is not None:
            self.gate.check_role(bundle, contract)
        self.gate.take(call_id)
        self.is_running = True
        self._opened.note_outcome(call, "has begun, and its result is not known yet")
        if bundle is not None:
            self._loader.mark_used(bundle)
        try:
            result = yield operation_of_call("execute_tool", execute, call)
        except BaseException as error:
            self._note_failed(call, error)
            raise
        call.state = "done"
        self._log.note_call(call, "done")
        self._opened.note_outcome(call, f"is done: {result_text(result)[:400]}")
        if contract is not None:
            check_result(contract, result)
        return CallResult(call, result)

    def executor(self, run: Executor | None) -> Executor:
        """What runs a call. Raises `TypeError` where neither the caller nor the session has any."""
        found = run or self._context.toolbox
        if found is None:
            raise TypeError("Tools need a run=, or a session with a toolbox=")
        return found

    def _note_failed(self, call: ToolCall, error: BaseException) -> None:
        """A call that was cancelled and goes on in its thread is `running` until that ends."""
        if call.call_id in self._detached:
            self._log.note_call(call, "not waited for, and it is still running")
            return
        call.state = "failed"
        self._log.note_call(call, f"failed: {describe_exception(error)}")
        self._opened.note_outcome(call, "failed")

    def detach(self, call_id: str) -> None:
        """What runs this call cannot be stopped, and nobody waits for its result any more."""
        self._detached.add(call_id)

    def attach(self, call_id: str, *, is_done: bool) -> None:
        """A detached call has ended. Its result is lost; its state says whether it took place."""
        self._detached.discard(call_id)
        # The gate keeps the latest calls alone.
        with suppress(CallNotOpen):
            call = self.gate.find(call_id)
            call.state = "done" if is_done else "failed"
            self._log.note_call(call, f"{call.state}, after its turn was interrupted")
            self._opened.note_outcome(call, "is done; its result was lost" if is_done else "failed")

    def submit(self, call_id: str, event: Any, run: Executor | None) -> Steps[CallResult | ToolCall]:
        """Make a call of what the user sent with a form and run it; without `run` it stays open."""
        done = yield from self._forms.accept(call_id, event)
        if run is None or isinstance(done, CallResult):
            return done
        return (yield from self.run(done.call_id, run))

    # What a model reads.

    def result_of(self, tool: str, arguments: Any, run: Executor | None) -> Steps[Any]:
        """The result of a call, or an error. Raises what makes a person come first."""
        try:
            done = yield from self.call(tool, arguments, None, from_form=False)
        except (ApprovalRequired, AnswerRequired, FormRequired):
            raise
        except CallRefused as error:
            return error_result(error.code, str(error))
        return done.result if isinstance(done, CallResult) else (yield from self._ran_for_model(done.call_id, run))

    def result_of_form(self, call_id: str, event: Any, run: Executor | None) -> Steps[Any]:
        """As `result_of`, of a form that the user sent, or closed (`event` None)."""
        try:
            done = self._forms.close(call_id) if event is None else (yield from self._forms.accept(call_id, event))
        except ApprovalRequired:
            raise
        except CallRefused as error:
            if error.code not in FOR_USER and call_id in self._opened.by_id:
                # Nobody can correct that in the form.
                self._opened.give_up(self._opened.get(call_id))
            return error_result(error.code, str(error))
        if isinstance(done, ToolCall):
            return (yield from self._ran_for_model(done.call_id, run))
        self._opened.get(call_id).is_heard = True
        return done.result

    def result_of_approved(self, call_id: str, approval: Approval | None, run: Executor | None, by: str) -> Steps[Any]:
        """As `result_of`, of a waiting call that a person approves now."""
        try:
            self.approve(call_id, approval, by=by)
        except CallRefused as error:
            return error_result(error.code, str(error))
        return (yield from self._ran_for_model(call_id, run))

    def result_of_unshown(self, form: SkillForm) -> dict[str, object]:
        """What a model reads of a form that the program does not show, or not again: it is closed."""
        self._opened.give_up(form)
        if form.problem:
            return error_result("FORM_EVENT_INVALID", f"What the user sent was not taken: {form.problem}")
        asked = ", ".join(form.labels()) or "what you need"
        return error_result("FORM_NOT_SHOWN", f"This program shows no forms. Ask the user in words for: {asked}")

    def result_of_rejected(self, call_id: str) -> dict[str, object]:
        """What a model reads of a waiting call that a person refuses now. Raises `CallNotOpen`."""
        self.reject(call_id)
        self._opened.hear(call_id)
        return error_result("CALL_REJECTED", "The user said no to this call; do not call it again for this message.")

    def _ran_for_model(self, call_id: str, run: Executor | None) -> Steps[Any]:
        run = self.executor(run)
        try:
            done = yield from self.run(call_id, run)
        except CallRefused as error:
            return error_result(error.code, str(error))
        except Exception as error:
            logger.warning("a tool failed", exc_info=True)
            return error_result("TOOL_FAILED", describe_exception(error))
        if self._opened.hear(call_id) is None:
            return done.result if done.call.asked is None else _with_changes(done)
        # What the user has sent may differ from what the model filled in.
        return {"form": "sent", "tool": done.call.tool, "arguments": done.call.arguments, "result": done.result}


def operation_of_call(kind: OperationKind, run: Callable[[ToolCall], Any], call: ToolCall) -> Operation:
    """The operation that passes a call to the host's own function."""
    bound = run.bound(call) if isinstance(run, Toolbox) else partial(run, call)
    return Operation(kind, bound, call.capability_id, call.tool, call.call_id)


def _with_changes(done: CallResult) -> Json:
    note = "Before they approved the call, the user changed its arguments to these."
    return {"note": note, "arguments": done.call.arguments, "result": done.result}


def error_result(code: str, message: str) -> Json:
    """What a model reads in the place of a result: `{"error": {"code", "message"}}`."""
    return {"error": {"code": code, "message": message}}
