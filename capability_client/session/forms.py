"""Forms that a model opens: found among those of the active skills, filled, sent through the gate, or closed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_client.session import own_tools
from capability_client.session.context import SessionContext
from capability_client.session.loader import SkillLoader
from capability_client.session.log import EventLog
from capability_client.session.opened_forms import OpenedForms
from capability_client.session.skill_forms import DATA_CHARACTERS_MAX, FormEventInvalid, FormUnknown, SkillForm
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
    ToolCallGate,
    ToolWithheld,
    check_arguments,
    find_contract,
)

# States in which a call of the gate may still run.
_UNDECIDED: Final = ("ready", "waiting", "approved", "failed")
# What the user can correct in the form.
FOR_USER: Final = ("ARGUMENTS_INVALID", "FORM_EVENT_INVALID")
CLOSED: Final = "The user closed the form without sending it."


@dataclass(eq=False, repr=False)
class SessionForms:
    """Opens the forms of active skills, and makes calls of what the user sends."""

    _context: SessionContext
    _log: EventLog
    _forms: OpenedForms
    _loader: SkillLoader
    _gate: ToolCallGate

    def close(self, call_id: str) -> CallResult:
        """The user closes a form. Raises `CallNotOpen` where it is not open."""
        return self._forms.end(self._forms.get_open(call_id), "closed", {"form": "closed", "note": CLOSED})

    def open(self, given: Mapping[str, Any]) -> SkillForm:
        """What `form_open` asks for. Raises `FormUnknown`, `SkillNotReady`, `ArgumentsInvalid`.

        `ApprovalRequired` for the same form again, while what the user sent with it waits for a person.
        """
        bundle, entry = self._find_form(given["schema_id"])
        data = given.get("data") or {}
        if len(json.dumps(data, ensure_ascii=False, default=str)) > DATA_CHARACTERS_MAX:
            raise ArgumentsInvalid(f"The data of a form has at most {DATA_CHARACTERS_MAX:,} characters")
        self._loader.mark_used(bundle)
        for form in reversed(self._forms.by_id.values()):
            is_same = (form.capability_id, form.schema_id, form.given) == (
                bundle.capability_id,
                entry["schema_id"],
                data,
            )
            if is_same and form.state == "open":
                return form
            for call in self._gate.waiting() if is_same and form.state == "sent" else ():
                if call.call_id == form.tool_call_id:
                    raise ApprovalRequired(call)
        call_id = f"form_{secrets.token_hex(8)}"
        try:
            filled = fill_form(entry, data, tools=bundle.tools, request_id=call_id)
        except FormDataInvalid as error:
            raise ArgumentsInvalid(f"The data of {entry['schema_id']} does not fit: {error}") from None
        form = SkillForm(call_id, bundle.capability_id, entry["schema_id"], bundle.digest, entry, filled, data)
        self._forms.add(form)
        return form

    def _find_form(self, wanted: str) -> tuple[Bundle, Json]:
        name, _, schema_id = wanted.rpartition("/")
        active = [each.bundle for each in self._loader.active if not name or each.capability_id == name]
        found = [bundle for bundle in active if schema_id in _ids_of(bundle)]
        usable = self._loader.included(self._loader.readiness()) if found else []
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
            judged = check_readiness(bundle, self._context.environment)
            if not judged.is_ready:
                return SkillNotReady.of(bundle.capability_id, judged)
        shown = one_line(wanted, most=80)
        for name, bundle in self._loader.bundles.items():
            is_meant = wanted in (schema_id, f"{name}/{schema_id}") and schema_id in _ids_of(bundle)
            if is_meant and (why := self._loader.why_inactive(name)):
                return FormUnknown(f"The form '{shown}' cannot be opened: {why}")
        active = [each.bundle for each in self._loader.active]
        there = ", ".join(f"{name}" for bundle in active for name in _ids_of(bundle)) or "none"
        words = f"No loaded skill has the form '{shown}'; there are: {there}"
        return FormUnknown(f"{words}. The form of another skill can be opened once {own_tools.LOAD} has loaded it")

    # What the user sends.

    def accept(self, call_id: str, event: Any) -> Steps[CallResult | ToolCall]:
        """The form's event as a call that may run, or as a result. Raises `CallRefused`; the form stays open then."""
        form, bundle = self._form_to_send(call_id)
        try:
            action = _action_of(bundle, form, event)
            if action.kind == "dismiss":
                return self.close(call_id)
            form.sent = action.arguments
            if action.kind == "reply":
                return self._forms.end(form, "sent", {"form": "sent", "reply": action.arguments})
            self._loader.require_ready(bundle)
            call = self._gate.open(
                bundle, self._contract(bundle, form, action), action.arguments, from_form=True, turn=self._log.turn
            )
        except ApprovalRequired as waiting:
            self._forms.note_sent(form, waiting.call)
            yield from self._use_form(bundle)
            raise
        except CallRefused as error:
            form.problem = str(error)
            self._forms.note(form, error.code)
            raise
        self._forms.note_sent(form, call)
        yield from self._use_form(bundle)
        return call

    def _form_to_send(self, call_id: str) -> tuple[SkillForm, Bundle]:
        """An open form, or one whose call is still to run: pressing twice sends once."""
        form = self._forms.get(call_id)
        if form.state != "sent" or not self._is_undecided(form):
            form = self._forms.get_open(call_id)
        bundle = self._loader.bundles.get(form.capability_id)
        if bundle is None or bundle.digest != form.digest or self._loader.is_disabled(form.capability_id):
            raise CallNotOpen(
                f"{form.capability_id} has changed since the form {form.schema_id} was opened; open it again"
            )
        return form, bundle

    def _is_undecided(self, form: SkillForm) -> bool:
        known = {call.call_id: call.state for call in self._gate.kept()}
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
            known = self._gate.find(form.tool_call_id)
            is_same = check_arguments(tool, action.arguments, from_form=True) == known.arguments
            if not is_same and known.state != "failed":
                raise CallNotOpen(
                    f"The form {form.schema_id} was sent with other values, and that call is {known.state}: "
                    f"{known.call_id}"
                )
        return tool

    def _use_form(self, bundle: Bundle) -> Steps[None]:
        """What the user sends of a skill that has expired makes it active again."""
        if self._loader.active.get(bundle.capability_id) is None:
            yield from self._loader.use(bundle, "", explicit=True)
        self._loader.mark_used(bundle)


def _ids_of(bundle: Bundle) -> list[str]:
    return [str(entry.get("schema_id")) for entry in bundle.ui_schemas]


def _action_of(bundle: Bundle, form: SkillForm, event: Any) -> FormAction:
    if not isinstance(event, Mapping):
        raise FormEventInvalid(f"An event of a form is an object with name and context, not {type(event).__name__}")
    try:
        return form_action(bundle, form.schema_id, event)
    except (FormError, ValueError, TypeError, RecursionError) as error:
        raise FormEventInvalid(one_line(str(error), most=400)) from None
