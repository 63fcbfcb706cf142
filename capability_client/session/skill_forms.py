"""A form of a skill that a model has opened for the user, and what became of it (docs/contract.md 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.form_data import REQUEST_ID, find_inputs
from capability_kit.bundles.forms import parse_form, surface_messages
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import CallRefused
from capability_kit.ui.ask import build_text_surface
from capability_kit.ui.form_text import draw_form, press_button

Json = dict[str, Any]
FormState = Literal["open", "sent", "closed"]
# Open and answered ones that a session keeps.
FORMS_MAX: Final = 20
DATA_CHARACTERS_MAX: Final = 32_000
_SENT_LINES_MAX: Final = 50


@dataclass
class SkillForm:
    """One form that was opened. `data` is what its fields begin with; `problem` says why it was not taken.

    `tool_call_id` is the call of the gate that it led to, `outcome` in words what the model reads of it, and `turn`
    the turn of its last change; `is_heard`: the model has read the outcome.
    """

    call_id: str
    capability_id: str
    schema_id: str
    digest: str
    entry: dict[str, object] = field(repr=False)
    data: dict[str, object] = field(repr=False)
    # As the model gave it, to recognize the same form.
    given: dict[str, object] = field(repr=False)
    state: FormState = "open"
    turn: int = 0
    problem: str = ""
    tool_call_id: str = ""
    outcome: str = ""
    is_heard: bool = False
    sent: dict[str, object] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """What it is called for a person."""
        return one_line(str(self.entry.get("title") or self.schema_id), most=120)

    @property
    def _definition(self) -> Json:
        found: Any = self.entry["definition"]
        return dict(found)

    @property
    def surface_id(self) -> str:
        """Under which its messages show it; the same one after a reload of the page."""
        return f"form-{self.call_id}"

    def messages(self, surface_id: str | None = None) -> list[dict[str, object]]:
        """The three A2UI v0.9.1 messages that show it; once it was sent or closed, what was sent, with no button."""
        name = surface_id or self.surface_id
        if self.state == "open":
            return surface_messages(self._definition, name, data=self.data)
        return surface_messages(self._answered(), name)

    def as_dict(self) -> dict[str, object]:
        """What a person has to see, as JSON: for a framework that hands on what a run is interrupted by."""
        shown = {"call_id": self.call_id, "capability_id": self.capability_id, "schema_id": self.schema_id}
        return {**shown, "title": self.title, "problem": self.problem, "messages": self.messages()}

    def plain(self, data: Mapping[str, object] | None = None) -> str:
        """The form as text, for a terminal; `data` is the form's data as the user left it."""
        return draw_form(self._definition, self.data if data is None else data)

    def labels(self) -> list[str]:
        """What the form asks for, in the words of its fields."""
        fields = find_inputs(self._definition).values()
        named = (one_line(str(each.get("label")), most=80) for each in fields if isinstance(each.get("label"), str))
        return list(dict.fromkeys(named))[:20]

    def press(self, button: str, data: Mapping[str, object] | None = None) -> dict[str, object]:
        """The event of a button, as a renderer delivers it; `data` is the form's data as the user left it.

        For a program without a renderer, such as a terminal. Raises `ValueError` for a button that there is not.
        """
        return press_button(self._definition, self.data if data is None else data, button)

    def as_row(self) -> dict[str, object]:
        """For the text of a session; the definition comes from the bundle again."""
        return {**vars(self), "entry": {"title": self.title}}

    @classmethod
    def of_row(cls, given: Mapping[str, object], bundle: Bundle) -> SkillForm:
        """From `as_row`. Raises `ValueError`, `KeyError` or `TypeError` for what is none."""
        row: Any = given
        if row["state"] not in ("open", "sent", "closed") or not isinstance(row["data"], dict):
            raise ValueError("a form of the file has no known state")
        if row["digest"] == bundle.digest:
            return cls(**{**row, "entry": parse_form(bundle, row["schema_id"])})
        # Of another release than the session has: nobody can send it any more.
        return cls(**{**row, "state": "closed" if row["state"] == "open" else row["state"]})

    def _answered(self) -> Json:
        said = [f"{key}: {_written(value)}" for key, value in self.sent.items() if key != REQUEST_ID]
        lines = [self.title, *(said[:_SENT_LINES_MAX] if self.state == "sent" else ["Closed"])]
        return build_text_surface(lines)


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_written(each)}" for key, each in value.items())
    if isinstance(value, list):
        return (
            "; ".join(map(_written, value))
            if any(isinstance(one, dict) for one in value)
            else ", ".join(map(str, value))
        )
    return "" if value is None else str(value)


class FormRequired(CallRefused):
    """The model opens a form: show `error.form.messages()`, then `session.submit(error.call_id, event)`."""

    code = "FORM_REQUIRED"

    def __init__(self, form: SkillForm) -> None:
        super().__init__(f"The form {form.schema_id} is shown to the user; the result comes once they have sent it")
        self.form = form
        self.call_id: str = form.call_id


class FormUnknown(CallRefused):
    """No skill that is loaded and ready has such a form."""

    code = "FORM_UNKNOWN"


class FormEventInvalid(CallRefused):
    """What the renderer sent is not an action of this form."""

    code = "FORM_EVENT_INVALID"
