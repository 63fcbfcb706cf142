"""Calls of the session's own tools, and what is reported of a use."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from capability_client.client.answers import FeedbackAnswer
from capability_client.session import own_tools
from capability_client.session.catalog import SkillCatalog
from capability_client.session.context import SessionContext
from capability_client.session.forms import SessionForms
from capability_client.session.history import MessageHistory
from capability_client.session.invocations import canonical_name
from capability_client.session.layout import RequestLayout
from capability_client.session.loader import SkillLoader
from capability_client.session.log import EventLog
from capability_client.session.operations import Operation
from capability_client.session.outcome_reasons import find_failed_call, redact_conversation
from capability_client.session.skill_forms import FormRequired
from capability_client.session.steps import Json, Steps
from capability_kit.bundles.bundle import Bundle, ToolContract
from capability_kit.errors import RegistryError
from capability_kit.outcome_reports import FAILURES
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import (
    AnswerRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallResult,
    ToolCall,
    ToolCallGate,
    check_arguments,
)
from capability_kit.ui.ask import AskForm


@dataclass(eq=False, repr=False)
class OwnCalls:
    """By which a model uses the session itself: list, search, load, read a file, open a form, ask the user ..."""

    _context: SessionContext
    _log: EventLog
    _catalog: SkillCatalog
    _loader: SkillLoader
    _layout: RequestLayout
    _forms: SessionForms
    _history: MessageHistory
    _gate: ToolCallGate

    def run(self, tool: str, contract: ToolContract, arguments: object) -> Steps[CallResult]:
        """What the model gets is a result, also where the registry refuses. Raises `ArgumentsInvalid`."""
        given = check_arguments(contract, arguments, from_form=False)
        call = ToolCall(f"call_{secrets.token_hex(8)}", "", tool, given, contract["policy"]["kind"], "done")
        if tool == own_tools.ASK:
            call.state = "waiting"
            questions = _questions(call)
            self._gate.keep(call)
            self._log.note_call(call, "the user is asked")
            raise AnswerRequired(call, questions)
        if tool == own_tools.FORM:
            raise FormRequired(self._forms.open(given))
        try:
            result = yield from self._result(tool, given)
        except RegistryError as error:
            result = {"error": error.model_error()}
        self._log.note_call(call, "refused" if "error" in result else "done")
        return CallResult(call, result)

    def _result(self, tool: str, given: Json) -> Steps[Json]:
        if tool == own_tools.LIST:
            yield from self._catalog.read()
            return own_tools.list_result(self._catalog.known().values(), self._context.environment, given.get("group"))
        if tool == own_tools.SEARCH:
            need = partial(self._context.source.search, given["query"], top_k=given.get("limit"))
            return own_tools.search_result((yield Operation("search", need)))
        if tool == own_tools.LOAD:
            yield from self._loader.require_open(given["capability_id"])
            bundle = yield from self._loader.load(given["capability_id"], arguments=given.get("arguments", ""))
            return own_tools.load_result(bundle, self._context.environment) | self._layout.skill_in_result(bundle)
        if tool == own_tools.RELOAD:
            yield from self._loader.require_open(given["capability_id"])
            before = self._loader.pins.get(canonical_name(given["capability_id"]))
            bundle = yield from self._loader.reload(given["capability_id"])
            changed = {"digest": bundle.digest, "is_changed": bundle.digest != before}
            said = {"loaded": bundle.capability_id, **changed, **own_tools.files_of(bundle)}
            return said | self._layout.skill_in_result(bundle)
        if tool == own_tools.INSTALL:
            return (yield from self._installed(given["code"]))
        if tool == own_tools.FEEDBACK:
            named = [canonical_name(given["capability_id"])]
            yield from self.report(given["outcome"], named, reason=given.get("reason"))
            return {"recorded": True}
        active = self._loader.active.get(canonical_name(given["capability_id"]))
        if active is None:
            raise self._loader.not_active(given["capability_id"])
        self._loader.mark_used(active.bundle)
        need = partial(self._context.source.file, active.bundle, given["path"])
        text = yield Operation("file", need, active.capability_id)
        return own_tools.file_result(given["path"], text, given.get("offset", 0))

    def _installed(self, code: str) -> Steps[Json]:
        """Redeem the user's code; what it opens is in the list from now on."""
        found: Any = yield Operation("install", partial(self._context.source.install, code))
        yield from self._catalog.read()
        return {"installed": found["capability_id"], "name": one_line(str(found.get("name", "")), most=80)}

    def answer(self, call_id: str, reply: object) -> CallResult:
        """The user's reply to `ask_user`: a form's context, or typed words where there is one question.

        Raises `CallNotOpen`, or `ReplyNotUnderstood` with a sentence for the user; the question stays open then.
        """
        call = self._gate.find(call_id)
        if call.tool != own_tools.ASK or call.state != "waiting":
            raise CallNotOpen("This call waits for no answer")
        answers = _questions(call).read(reply)
        call.state = "done"
        self._log.note_call(call, "answered")
        return CallResult(call, {"answers": answers})

    def report(
        self, outcome: str, capability_ids: Iterable[str] | None = None, *, reason: str | None = None
    ) -> Steps[list[FeedbackAnswer]]:
        """Report an outcome for each skill that was used in this turn, or for the active ones that are named."""
        used = list(reversed(self._loader.used.values()))
        if capability_ids is not None:
            known = self._loader.used | {each.capability_id: each.bundle for each in self._loader.active}
            used = [known[name] for name in capability_ids if name in known]
            if not used:
                raise self._loader.not_active(", ".join(capability_ids))
        sent: list[FeedbackAnswer] = []
        for bundle in used:
            key = f"{self._context.session_id}-{self._log.turn}-{bundle.capability_id}"[:200]
            name, revision = bundle.capability_id, bundle.revision or None
            more = self._why(bundle, outcome, reason)
            need = partial(self._context.source.feedback, name, outcome, revision=revision, idempotency_key=key, **more)
            sent.append((yield Operation("feedback", need, name)))
            self._log.note("feedback", name, outcome)
        return sent

    def _why(self, bundle: Bundle, outcome: str, reason: str | None) -> Json:
        """What goes along with an outcome, left out where there is nothing: not each source takes it."""
        more: Json = {} if reason is None else {"reason": reason}
        if outcome not in FAILURES:
            return more
        failed = find_failed_call(bundle, self._history.messages)
        more |= {} if failed is None else {"failed_call": failed}
        redact = self._context.options.redact
        return more if redact is None else more | {"conversation": redact_conversation(self._history.messages, redact)}


def _questions(call: ToolCall) -> AskForm:
    try:
        questions: Any = call.arguments["questions"]
        return own_tools.questions_of(questions, call.call_id)
    except (ValueError, KeyError, TypeError) as error:
        raise ArgumentsInvalid(f"The arguments of {call.tool} do not fit: {error}") from None
