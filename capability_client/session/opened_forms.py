"""The forms of a conversation: what was opened, and what became of it."""

from __future__ import annotations

import json
from typing import Any

from capability_client.session import own_tools
from capability_client.session.log import EventLog
from capability_client.session.skill_forms import FORMS_MAX, SkillForm
from capability_client.session.steps import Json
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import CallNotOpen, CallResult, ToolCall


class OpenedForms:
    """The latest forms, by the `call_id` under which each was opened."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.by_id: dict[str, SkillForm] = {}

    def get(self, call_id: str) -> SkillForm:
        """A form that was opened, whatever became of it. Raises `CallNotOpen`."""
        found = self.by_id.get(call_id)
        if found is None:
            raise CallNotOpen(f"The form '{one_line(str(call_id), most=40)}' is not known")
        return found

    def get_open(self, call_id: str) -> SkillForm:
        """A form that can still be sent. Raises `CallNotOpen`."""
        form = self.get(call_id)
        if form.state != "open":
            raise CallNotOpen(
                f"The form {form.schema_id} was {form.state}" + (f": {form.problem}" * bool(form.problem))
            )
        return form

    def list_open(self) -> list[SkillForm]:
        """What the user has not sent and not closed yet."""
        return [each for each in self.by_id.values() if each.state == "open"]

    def add(self, form: SkillForm) -> None:
        """Keep a form that is opened now; beyond the limit the oldest go, answered ones first."""
        form.turn = self._log.turn
        self.by_id[form.call_id] = form
        while len(self.by_id) > FORMS_MAX:
            over = next((name for name, each in self.by_id.items() if each.state != "open"), None)
            self.by_id.pop(over or next(iter(self.by_id)))
        self.note(form, "opened for the user")

    def note(self, form: SkillForm, words: str) -> None:
        """Report what became of a form."""
        self._log.note("form", form.capability_id, f"{form.schema_id}: {words}", call_id=form.call_id)

    def note_sent(self, form: SkillForm, call: ToolCall) -> None:
        """What the user sent has become a call."""
        form.state, form.problem, form.turn = "sent", "", self._log.turn
        form.tool_call_id, form.sent = call.call_id, call.arguments
        form.is_heard, form.outcome = False, f"{call.tool} waits for a person" if call.state == "waiting" else ""
        self.note(form, f"sent, as a call of {call.tool}")

    def note_outcome(self, call: ToolCall, words: str) -> None:
        """A call of the gate has ended: the form that led to it has its outcome."""
        for form in self.by_id.values():
            if form.tool_call_id == call.call_id:
                form.outcome, form.turn = f"{call.tool} {words}", self._log.turn

    def end(self, form: SkillForm, state: Any, result: Json) -> CallResult:
        """The user has sent or closed a form that calls no tool."""
        form.state, form.problem, form.turn = state, "", self._log.turn
        form.outcome = one_line(json.dumps(result, ensure_ascii=False, default=str), most=500)
        self.note(form, form.state)
        given: Json = {"schema_id": form.schema_id}
        return CallResult(ToolCall(form.call_id, form.capability_id, own_tools.FORM, given, "read", "done"), result)

    def give_up(self, form: SkillForm) -> None:
        """The program gives up on a form; the model has read why."""
        if form.state == "open":
            form.state, form.turn, form.is_heard = "closed", self._log.turn, True
            self.note(form, "closed: it was not sent")

    def shut(self, capability_id: str, why: str) -> None:
        """Close the open forms of a skill: nobody can send them any more."""
        for form in self.list_open():
            if form.capability_id == capability_id:
                form.state, form.problem, form.outcome, form.turn = "closed", why, f"closed: {why}", self._log.turn
                self.note(form, form.outcome)

    def hear(self, call_id: str) -> SkillForm | None:
        """The form that led to a call, whose outcome the model is about to read."""
        for form in self.by_id.values():
            if form.tool_call_id == call_id:
                form.is_heard = True
                return form
        return None

    def news(self) -> tuple[str, ...]:
        """What a model has not read of the forms: those that stayed open, and those that were answered since."""
        turn = self._log.turn
        return tuple(
            f"{form.schema_id} of {form.capability_id}: "
            + (
                "the user has not sent it yet"
                if form.state == "open"
                else one_line(form.outcome or form.state, most=300)
            )
            for form in self.by_id.values()
            if (form.turn < turn if form.state == "open" else not form.is_heard and form.turn >= turn - 1)
        )
