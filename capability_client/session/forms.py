"""Forms that a model opens: found among those of the active skills, filled, sent through the gate, or closed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Final

from capability_client.session import own_tools
from capability_client.session.layout import SessionLayout
from capability_client.session.skill_forms import (
    DATA_CHARACTERS_MAX,
    FORMS_MAX,
    FormEventInvalid,
    FormUnknown,
    SkillForm,
)
from capability_client.session.steps import Json, Steps
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.form_data import FormDataInvalid, fill_form
from capability_kit.bundles.forms import FormAction, FormError, form_action, parse_form
from capability_kit.environment.readiness import check_readiness
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import (
    ApprovalRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallRefused,
    CallResult,
    SkillNotReady,
    ToolCall,
    ToolWithheld,
    check_arguments,
    find_contract,
)

# States in which a call of the gate may still run.
_UNDECIDED: Final = ("ready", "waiting", "approved", "failed")
# What the user can correct in the form.
FOR_USER: Final = ("ARGUMENTS_INVALID", "FORM_EVENT_INVALID")
CLOSED: Final = "The user closed the form without sending it."


class SessionForms(SessionLayout):
    """The forms of this conversation, by the `call_id` under which each was opened."""

    def form(self, call_id: str) -> SkillForm:
        """A form that was opened, whatever became of it. Raises `CallNotOpen`."""
        found = self.forms.get(call_id)
        if found is None:
            raise CallNotOpen(f"The form '{one_line(str(call_id), most=40)}' is not known")
        return found

    def open_forms(self) -> list[SkillForm]:
        """What the user has not sent and not closed yet."""
        return [each for each in self.forms.values() if each.state == "open"]

    def close_form(self, call_id: str) -> CallResult:
        """The user closes a form. Raises `CallNotOpen` where it is not open."""
        form = self._open_form(call_id)
        return self._answered(form, "closed", {"form": "closed", "note": CLOSED})

    def _opened_form(self, given: Mapping[str, Any]) -> SkillForm:
        """What `form_open` asks for. Raises `FormUnknown`, `SkillNotReady`, `ArgumentsInvalid`.

        `ApprovalRequired` for the same form again, while what the user sent with it waits for a person.
        """
        bundle, entry = self._find_form(given["schema_id"])
        data = given.get("data") or {}
        if len(json.dumps(data, ensure_ascii=False, default=str)) > DATA_CHARACTERS_MAX:
            raise ArgumentsInvalid(f"The data of a form has at most {DATA_CHARACTERS_MAX:,} characters")
        self._mark_used(bundle)
        for form in reversed(self.forms.values()):
            is_same = (form.capability_id, form.schema_id, form.given) == (
                bundle.capability_id,
                entry["schema_id"],
                data,
            )
            if is_same and form.state == "open":
                return form
            for call in self.gate.waiting() if is_same and form.state == "sent" else ():
                if call.call_id == form.tool_call_id:
                    raise ApprovalRequired(call)
        call_id = f"form_{secrets.token_hex(8)}"
        try:
            filled = fill_form(entry, data, tools=bundle.tools, request_id=call_id)
        except FormDataInvalid as error:
            raise ArgumentsInvalid(f"The data of {entry['schema_id']} does not fit: {error}") from None
        form = SkillForm(call_id, bundle.capability_id, entry["schema_id"], bundle.digest, entry, filled, data)
        form.turn = self.number
        self._keep_form(form)
        self._note_form(form, "opened for the user")
        return form

    def _find_form(self, wanted: str) -> tuple[Bundle, Json]:
        name, _, schema_id = wanted.rpartition("/")
        active = [each.bundle for each in self.active if not name or each.capability_id == name]
        found = [bundle for bundle in active if schema_id in _ids_of(bundle)]
        usable = self._included(self.readiness()) if found else []
        ready = [bundle for bundle in found if bundle.capability_id in usable]
        if len(ready) > 1:
            names = ", ".join(f"{each.capability_id}/{schema_id}" for each in ready)
            raise FormUnknown(f"Several skills have the form '{one_line(schema_id, most=80)}'; name one: {names}")
        if not ready:
            raise self._no_form(wanted, schema_id, found)
        return ready[0], parse_form(ready[0], schema_id)

    def _no_form(self, wanted: str, schema_id: str, unusable: Iterable[Bundle]) -> CallRefused:
        """Why there is no such form now, and what helps."""
        for bundle in unusable:
            judged = check_readiness(bundle, self.environment)
            if not judged.is_ready:
                return SkillNotReady.of(bundle.capability_id, judged)
        shown = one_line(wanted, most=80)
        for name, bundle in self.bundles.items():
            is_meant = wanted in (schema_id, f"{name}/{schema_id}") and schema_id in _ids_of(bundle)
            if is_meant and (why := self._why_inactive(name)):
                return FormUnknown(f"The form '{shown}' cannot be opened: {why}")
        active = [each.bundle for each in self.active]
        there = ", ".join(f"{name}" for bundle in active for name in _ids_of(bundle)) or "none"
        words = f"No loaded skill has the form '{shown}'; there are: {there}"
        return FormUnknown(f"{words}. The form of another skill can be opened once {own_tools.LOAD} has loaded it")

    def _open_form(self, call_id: str) -> SkillForm:
        form = self.form(call_id)
        if form.state != "open":
            raise CallNotOpen(
                f"The form {form.schema_id} was {form.state}" + (f": {form.problem}" * bool(form.problem))
            )
        return form

    # What the user sends.

    def _accepted(self, call_id: str, event: Any) -> Steps[CallResult | ToolCall]:
        """The form's event as a call that may run, or as a result. Raises `CallRefused`; the form stays open then."""
        form, bundle = self._form_to_send(call_id)
        try:
            action = _action_of(bundle, form, event)
            if action.kind == "dismiss":
                return self.close_form(call_id)
            form.sent = action.arguments
            if action.kind == "reply":
                return self._answered(form, "sent", {"form": "sent", "reply": action.arguments})
            self._require_ready(bundle)
            call = self.gate.open(
                bundle, self._contract(bundle, form, action), action.arguments, from_form=True, turn=self.number
            )
        except ApprovalRequired as waiting:
            self._note_sent(form, waiting.call)
            yield from self._use_form(bundle)
            raise
        except CallRefused as error:
            form.problem = str(error)
            self._note_form(form, error.code)
            raise
        self._note_sent(form, call)
        yield from self._use_form(bundle)
        return call

    def _form_to_send(self, call_id: str) -> tuple[SkillForm, Bundle]:
        """An open form, or one whose call is still to run: pressing twice sends once."""
        form = self.form(call_id)
        if form.state != "sent" or not self._is_undecided(form):
            form = self._open_form(call_id)
        bundle = self.bundles.get(form.capability_id)
        if bundle is None or bundle.digest != form.digest or form.capability_id in self.disabled:
            raise CallNotOpen(
                f"{form.capability_id} has changed since the form {form.schema_id} was opened; open it again"
            )
        return form, bundle

    def _is_undecided(self, form: SkillForm) -> bool:
        known = {call.call_id: call.state for call in self.gate.kept()}
        return known.get(form.tool_call_id) in _UNDECIDED

    def _contract(self, bundle: Bundle, form: SkillForm, action: FormAction) -> Mapping[str, Any]:
        tool = find_contract(bundle, action.tool)
        if tool is None:
            if action.tool in bundle.withheld_tools:
                raise ToolWithheld.of(action.tool, bundle.capability_id)
            raise FormEventInvalid(
                f"{form.schema_id} calls the tool {one_line(action.tool, most=80)}, and there is none"
            )
        if form.state == "sent":
            known = self.gate.find(form.tool_call_id)
            is_same = check_arguments(tool, action.arguments, from_form=True) == known.arguments
            if not is_same and known.state != "failed":
                raise CallNotOpen(
                    f"The form {form.schema_id} was sent with other values, and that call is {known.state}: "
                    f"{known.call_id}"
                )
        return tool

    def _require_ready(self, bundle: Bundle) -> None:
        judged = check_readiness(bundle, self.environment)
        if not judged.is_ready:
            raise SkillNotReady.of(bundle.capability_id, judged)

    def _use_form(self, bundle: Bundle) -> Steps[None]:
        """What the user sends of a skill that has expired makes it active again."""
        if self.active.get(bundle.capability_id) is None:
            yield from self._use(bundle, "", explicit=True)
        self._mark_used(bundle)

    # What becomes of a form.

    def _keep_form(self, form: SkillForm) -> None:
        self.forms[form.call_id] = form
        while len(self.forms) > FORMS_MAX:
            over = next((name for name, each in self.forms.items() if each.state != "open"), None)
            self.forms.pop(over or next(iter(self.forms)))

    def _note_sent(self, form: SkillForm, call: ToolCall) -> None:
        form.state, form.problem, form.turn = "sent", "", self.number
        form.tool_call_id, form.sent = call.call_id, call.arguments
        form.is_heard, form.outcome = False, f"{call.tool} waits for a person" if call.state == "waiting" else ""
        self._note_form(form, f"sent, as a call of {call.tool}")

    def _answered(self, form: SkillForm, state: Any, result: Json) -> CallResult:
        form.state, form.problem, form.turn = state, "", self.number
        form.outcome = one_line(json.dumps(result, ensure_ascii=False, default=str), most=500)
        self._note_form(form, form.state)
        given: Json = {"schema_id": form.schema_id}
        return CallResult(ToolCall(form.call_id, form.capability_id, own_tools.FORM, given, "read", "done"), result)

    def _note_outcome(self, call: ToolCall, words: str) -> None:
        """A call of the gate has ended: the form that led to it has its outcome."""
        for form in self.forms.values():
            if form.tool_call_id == call.call_id:
                form.outcome, form.turn = f"{call.tool} {words}", self.number

    def _shut_form(self, form: SkillForm) -> None:
        """The program gives up on a form; the model has read why."""
        if form.state == "open":
            form.state, form.turn, form.is_heard = "closed", self.number, True
            self._note_form(form, "closed: it was not sent")

    def _form_news(self) -> tuple[str, ...]:
        """What a model has not read of the forms: those that stayed open, and those that were answered since."""
        return tuple(
            f"{form.schema_id} of {form.capability_id}: "
            + (
                "the user has not sent it yet"
                if form.state == "open"
                else one_line(form.outcome or form.state, most=300)
            )
            for form in self.forms.values()
            if (form.turn < self.number if form.state == "open" else not form.is_heard and form.turn >= self.number - 1)
        )


def _ids_of(bundle: Bundle) -> list[str]:
    return [str(entry.get("schema_id")) for entry in bundle.ui_schemas]


def _action_of(bundle: Bundle, form: SkillForm, event: Any) -> FormAction:
    if not isinstance(event, Mapping):
        raise FormEventInvalid(f"An event of a form is an object with name and context, not {type(event).__name__}")
    try:
        return form_action(bundle, form.schema_id, event)
    except (FormError, ValueError, TypeError, RecursionError) as error:
        raise FormEventInvalid(one_line(str(error), most=400)) from None
