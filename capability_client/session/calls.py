"""Calls of tools: those of skills through the gate, and the session's own."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from capability_client.client.answers import FeedbackAnswer
from capability_client.session import own_tools
from capability_client.session.conversation import result_text
from capability_client.session.forms import FOR_USER, SessionForms
from capability_client.session.invocations import canonical_name
from capability_client.session.operations import Operation, OperationKind
from capability_client.session.outcome_reasons import FAILURES, find_failed_call, redact_conversation
from capability_client.session.skill_forms import FormRequired, SkillForm
from capability_client.session.steps import Executor, Json, Steps
from capability_client.session.toolbox import Toolbox
from capability_kit.approvals import Approval
from capability_kit.bundles.bundle import Bundle, ToolContract
from capability_kit.bundles.tool_names import wire_name
from capability_kit.errors import CapabilityNotFound, RegistryError, describe_exception
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import (
    AnswerRequired,
    ApprovalRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallRefused,
    CallResult,
    SkillNotReady,
    ToolCall,
    ToolUnknown,
    ToolWithheld,
    check_arguments,
    check_result,
    find_contract,
    find_tool,
    is_tool_of,
)
from capability_kit.ui.ask import AskForm

logger: logging.Logger = logging.getLogger("capability_client.session")


class SessionCalls(SessionForms):
    """Every call goes through the gate; what a model reads of it is a result or an error."""

    # The gate.

    def open_call(self, tool: str, arguments: object, *, from_form: bool = False) -> ToolCall:
        """A skill's tool call of the model, or of a form (`from_form`: strings become numbers), checked and ready.

        `run_call` runs it. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        bundle, contract = self._find_tool(tool)
        try:
            call = self.gate.open(bundle, contract, arguments, from_form=from_form, turn=self.number)
        except CallRefused as error:
            call_id = getattr(error, "call_id", "")
            self._note("call", bundle.capability_id, f"{contract['name']}: {error.code}", call_id=call_id)
            raise
        return call

    def _find_tool(self, tool: str) -> tuple[Bundle, Mapping[str, Any]]:
        """Raises `ToolUnknown`, or what says better why there is no such tool now."""
        try:
            return find_tool(self._tools(), tool)
        except ToolUnknown:
            judged = self.readiness()
            for each in self.active:
                name, names = each.capability_id, {one["name"] for one in each.bundle.tools}
                if is_tool_of(name, each.bundle.withheld_tools, tool):
                    raise ToolWithheld.of(tool, name) from None
                if is_tool_of(name, names, tool) and not judged[name].is_ready:
                    raise SkillNotReady.of(name, judged[name]) from None
            wanted = str(tool).removeprefix("_")
            for name, why in self.withdrawn.items():
                if wanted.startswith(wire_name(name, "")):
                    raise ToolUnknown(f"{name} is not to be used any more: {why}") from None
            for name, bundle in self.bundles.items():
                if is_tool_of(name, (one["name"] for one in bundle.tools), wanted) and (
                    why := self._why_inactive(name)
                ):
                    raise ToolUnknown(why) from None
            raise

    def needs_approval(self, tool: str) -> bool:
        """Whether a person decides about each call of this tool; False for a tool that does not exist now."""
        try:
            bundle, contract = find_tool(self._tools(), tool)
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
        bundle = self.bundles.get(self.gate.find(call_id).capability_id)
        contract = find_contract(bundle, self.gate.find(call_id).tool) if bundle is not None else None
        call = self.gate.approve(call_id, given, bundle=bundle, tool=contract, turn=self.number)
        words = f"approved by {one_line(given.by, most=60)}" + " for the session" * given.for_session
        self._note_call(call, words + (", with other arguments" if call.asked is not None else ""))
        return call

    def reject(self, call_id: str) -> ToolCall:
        """A person refuses a waiting call; the model is not asked about it again in this turn."""
        call = self.gate.reject(call_id, turn=self.number)
        self._note_call(call, "rejected")
        self._note_outcome(call, "was not allowed by the user")
        return call

    def _called(
        self, tool: str, arguments: Any, run: Executor | None, *, from_form: bool
    ) -> Steps[CallResult | ToolCall]:
        if tool == own_tools.CALL and self._appends:
            given = check_arguments(own_tools.CALL_CONTRACT, arguments, from_form=False)
            tool, arguments = given["tool"], given["arguments"]
        own = self.own_tools(ahead=True).get(tool)
        if own is not None:
            return (yield from self._ran_own(tool, own, arguments))
        call = self.open_call(tool, arguments, from_form=from_form)
        return call if run is None else (yield from self._ran(call.call_id, run))

    def _ran(self, call_id: str, run: Executor | None) -> Steps[CallResult]:
        """Run an open call once, and check its result. Where `run` raises, the call is `failed` and may run again.

        Roles are the caller's: a session that was resumed with others than those that opened the call refuses it.
        """
        execute = self._executor(run)
        call = self.gate.find(call_id)
        bundle = self.bundles.get(call.capability_id)
        contract = find_contract(bundle, call.tool) if bundle else None
        if bundle is not None and contract is not None:
            self.gate.check_role(bundle, contract)
        self.gate.take(call_id)
        self._is_tool_running = True
        self._note_outcome(call, "has begun, and its result is not known yet")
        if bundle is not None:
            self._mark_used(bundle)
        try:
            result = yield operation_of_call("execute_tool", execute, call)
        except BaseException as error:
            self._note_failed(call, error)
            raise
        call.state = "done"
        self._note_call(call, "done")
        self._note_outcome(call, f"is done: {result_text(result)[:400]}")
        if contract is not None:
            check_result(contract, result)
        return CallResult(call, result)

    def _executor(self, run: Executor | None) -> Executor:
        """What runs a call. Raises `TypeError` where neither the caller nor the session has any."""
        found = run or self.toolbox
        if found is None:
            raise TypeError("Tools need a run=, or a session with a toolbox=")
        return found

    def _note_failed(self, call: ToolCall, error: BaseException) -> None:
        """A call that was cancelled and goes on in its thread is `running` until that ends."""
        if call.call_id in self._detached:
            self._note_call(call, "not waited for, and it is still running")
            return
        call.state = "failed"
        self._note_call(call, f"failed: {describe_exception(error)}")
        self._note_outcome(call, "failed")

    def _detach(self, call_id: str) -> None:
        """What runs this call cannot be stopped, and nobody waits for its result any more."""
        self._detached.add(call_id)

    def _attach(self, call_id: str, *, is_done: bool) -> None:
        """A detached call has ended. Its result is lost; its state says whether it took place."""
        self._detached.discard(call_id)
        # The gate keeps the latest calls alone.
        with suppress(CallNotOpen):
            call = self.gate.find(call_id)
            call.state = "done" if is_done else "failed"
            self._note_call(call, f"{call.state}, after its turn was interrupted")
            self._note_outcome(call, "is done; its result was lost" if is_done else "failed")

    # The session's own tools.

    def _ran_own(self, tool: str, contract: ToolContract, arguments: object) -> Steps[CallResult]:
        """What the model gets is a result, also where the registry refuses. Raises `ArgumentsInvalid`."""
        given = check_arguments(contract, arguments, from_form=False)
        call = ToolCall(f"call_{secrets.token_hex(8)}", "", tool, given, contract["policy"]["kind"], "done")
        if tool == own_tools.ASK:
            call.state = "waiting"
            questions = _questions(call)
            self.gate.keep(call)
            self._note_call(call, "the user is asked")
            raise AnswerRequired(call, questions)
        if tool == own_tools.FORM:
            raise FormRequired(self._opened_form(given))
        try:
            result = yield from self._own(tool, given)
        except RegistryError as error:
            result = {"error": error.model_error()}
        self._note_call(call, "refused" if "error" in result else "done")
        return CallResult(call, result)

    def _own(self, tool: str, given: Json) -> Steps[Json]:
        if tool == own_tools.LIST:
            yield from self._read_list()
            return own_tools.list_result(self._known_entries().values(), self.environment, given.get("group"))
        if tool == own_tools.SEARCH:
            need = partial(self._source.search, given["query"], top_k=given.get("limit"))
            return own_tools.search_result((yield Operation("search", need)))
        if tool == own_tools.LOAD:
            yield from self._require_open(given["capability_id"])
            bundle = yield from self._loaded(given["capability_id"], arguments=given.get("arguments", ""))
            return own_tools.load_result(bundle, self.environment) | self._skill_in_result(bundle)
        if tool == own_tools.RELOAD:
            yield from self._require_open(given["capability_id"])
            before = self.pins.get(canonical_name(given["capability_id"]))
            bundle = yield from self._reloaded(given["capability_id"])
            changed = {"digest": bundle.digest, "is_changed": bundle.digest != before}
            said = {"loaded": bundle.capability_id, **changed, **own_tools.files_of(bundle)}
            return said | self._skill_in_result(bundle)
        if tool == own_tools.INSTALL:
            return (yield from self._installed(given["code"]))
        if tool == own_tools.FEEDBACK:
            named = [canonical_name(given["capability_id"])]
            yield from self._reported(given["outcome"], named, reason=given.get("reason"))
            return {"recorded": True}
        active = self.active.get(canonical_name(given["capability_id"]))
        if active is None:
            raise self._not_active(given["capability_id"])
        self._mark_used(active.bundle)
        need = partial(self._source.file, active.bundle, given["path"])
        text = yield Operation("file", need, active.capability_id)
        return own_tools.file_result(given["path"], text, given.get("offset", 0))

    def _installed(self, code: str) -> Steps[Json]:
        """Redeem the user's code; what it opens is in the list from now on."""
        found: Any = yield Operation("install", partial(self._source.install, code))
        yield from self._read_list()
        return {"installed": found["capability_id"], "name": one_line(str(found.get("name", "")), most=80)}

    def _not_active(self, capability_id: str) -> CapabilityNotFound:
        name = canonical_name(capability_id)
        why = self._why_inactive(name)
        return CapabilityNotFound(why, capability_id=name) if why else self._not_found(capability_id)

    def _submitted(self, call_id: str, event: Any, run: Executor | None) -> Steps[CallResult | ToolCall]:
        done = yield from self._accepted(call_id, event)
        if run is None or isinstance(done, CallResult):
            return done
        return (yield from self._ran(done.call_id, run))

    def answer(self, call_id: str, reply: object) -> CallResult:
        """The user's reply to `ask_user`: a form's context, or typed words where there is one question.

        Raises `CallNotOpen`, or `ReplyNotUnderstood` with a sentence for the user; the question stays open then.
        """
        call = self.gate.find(call_id)
        if call.tool != own_tools.ASK or call.state != "waiting":
            raise CallNotOpen("This call waits for no answer")
        answers = _questions(call).read(reply)
        call.state = "done"
        self._note_call(call, "answered")
        return CallResult(call, {"answers": answers})

    def _reported(
        self, outcome: str, capability_ids: Iterable[str] | None = None, *, reason: str | None = None
    ) -> Steps[list[FeedbackAnswer]]:
        """Report an outcome for each skill that was used in this turn, or for the active ones that are named."""
        used = list(reversed(self.used.values()))
        if capability_ids is not None:
            known = self.used | {each.capability_id: each.bundle for each in self.active}
            used = [known[name] for name in capability_ids if name in known]
            if not used:
                raise self._not_active(", ".join(capability_ids))
        sent: list[FeedbackAnswer] = []
        for bundle in used:
            key = f"{self.session_id}-{self.number}-{bundle.capability_id}"[:200]
            name, revision = bundle.capability_id, bundle.revision or None
            more = self._why(bundle, outcome, reason)
            need = partial(self._source.feedback, name, outcome, revision=revision, idempotency_key=key, **more)
            sent.append((yield Operation("feedback", need, name)))
            self._note("feedback", name, outcome)
        return sent

    def _why(self, bundle: Bundle, outcome: str, reason: str | None) -> Json:
        """What goes along with an outcome, left out where there is nothing: not each source takes it."""
        more: Json = {} if reason is None else {"reason": reason}
        if outcome not in FAILURES:
            return more
        failed = find_failed_call(bundle, self.messages)
        more |= {} if failed is None else {"failed_call": failed}
        redact = self.options.redact
        return more if redact is None else more | {"conversation": redact_conversation(self.messages, redact)}

    # What a model reads.

    def _result_of(self, tool: str, arguments: Any, run: Executor | None) -> Steps[Any]:
        try:
            done = yield from self._called(tool, arguments, None, from_form=False)
        except (ApprovalRequired, AnswerRequired, FormRequired):
            raise
        except CallRefused as error:
            return error_result(error.code, str(error))
        return done.result if isinstance(done, CallResult) else (yield from self._ran_for_model(done.call_id, run))

    def _result_of_form(self, call_id: str, event: Any, run: Executor | None) -> Steps[Any]:
        try:
            done = self.close_form(call_id) if event is None else (yield from self._accepted(call_id, event))
        except ApprovalRequired:
            raise
        except CallRefused as error:
            if error.code not in FOR_USER and call_id in self.forms:
                # Nobody can correct that in the form.
                self._shut_form(self.forms[call_id])
            return error_result(error.code, str(error))
        if isinstance(done, ToolCall):
            return (yield from self._ran_for_model(done.call_id, run))
        self.form(call_id).is_heard = True
        return done.result

    def _result_of_approved(self, call_id: str, approval: Approval | None, run: Executor | None, by: str) -> Steps[Any]:
        try:
            self.approve(call_id, approval, by=by)
        except CallRefused as error:
            return error_result(error.code, str(error))
        return (yield from self._ran_for_model(call_id, run))

    def result_of_unshown(self, form: SkillForm) -> dict[str, object]:
        """What a model reads of a form that the program does not show, or not again: it is closed."""
        self._shut_form(form)
        if form.problem:
            return error_result("FORM_EVENT_INVALID", f"What the user sent was not taken: {form.problem}")
        asked = ", ".join(form.labels()) or "what you need"
        return error_result("FORM_NOT_SHOWN", f"This program shows no forms. Ask the user in words for: {asked}")

    def result_of_rejected(self, call_id: str) -> dict[str, object]:
        """What a model reads of a waiting call that a person refuses now. Raises `CallNotOpen`."""
        self.reject(call_id)
        self._form_of_call(call_id)
        return error_result("CALL_REJECTED", "The user said no to this call; do not call it again for this message.")

    def _ran_for_model(self, call_id: str, run: Executor | None) -> Steps[Any]:
        run = self._executor(run)
        try:
            done = yield from self._ran(call_id, run)
        except CallRefused as error:
            return error_result(error.code, str(error))
        except Exception as error:
            logger.warning("a tool failed", exc_info=True)
            return error_result("TOOL_FAILED", describe_exception(error))
        if self._form_of_call(call_id) is None:
            return done.result if done.call.asked is None else _with_changes(done)
        # What the user has sent may differ from what the model filled in.
        return {"form": "sent", "tool": done.call.tool, "arguments": done.call.arguments, "result": done.result}

    def _form_of_call(self, call_id: str) -> SkillForm | None:
        """The form that led to a call, whose outcome the model is about to read."""
        for form in self.forms.values():
            if form.tool_call_id == call_id:
                form.is_heard = True
                return form
        return None


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


def _questions(call: ToolCall) -> AskForm:
    try:
        questions: Any = call.arguments["questions"]
        return own_tools.questions_of(questions, call.call_id)
    except (ValueError, KeyError, TypeError) as error:
        raise ArgumentsInvalid(f"The arguments of {call.tool} do not fit: {error}") from None
