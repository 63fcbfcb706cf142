"""Ask the user: six widgets as A2UI, or one plain question where there is no screen (docs/ui-schemas.md 5).

The reply of a form and the words of a person come back through `Ask.read`, as one value of the right type.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from agent_client.bundles.forms import surface_messages
from agent_client.json_schema.coercion import coerce
from agent_client.text.sanitize import one_line

Widget = Literal["buttons", "confirm", "text_input", "select", "radio", "checkbox"]
WIDGETS: Final[tuple[Widget, ...]] = ("buttons", "confirm", "text_input", "select", "radio", "checkbox")
CATALOG: Final = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
OPTIONS_MAX: Final = 50
_NEEDS_OPTIONS: Final = frozenset({"buttons", "select", "radio", "checkbox"})
_YES: Final = frozenset({"yes", "y", "true", "ok", "sure", "1"})
_NO: Final = frozenset({"no", "n", "false", "0"})
Json = dict[str, Any]


class ReplyNotUnderstood(ValueError):
    """The reply is not one of the options; the message can be shown to the user."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question. `request_id` distinguishes its reply from that of another one."""

    prompt: str
    widget: Widget
    options: tuple[str, ...]
    label: str
    request_id: str

    def entry(self) -> Json:
        """The question as an entry of ui_schemas.json: its one action is a reply."""
        return {
            "schema_id": f"Ask{self.widget.title().replace('_', '')}.v1",
            "a2ui_version": "v0.9.1",
            "definition": {
                "catalogId": CATALOG,
                "components": [
                    {"id": "root", "component": "Column", "children": ["prompt", *self._roots()]},
                    {"id": "prompt", "component": "Text", "text": {"path": "/prompt"}, "variant": "h4"},
                    *self._components(),
                ],
                "dataModel": self._data(),
            },
            "actions": {"answer": {"reply": True}},
        }

    def messages(self, surface_id: str | None = None) -> list[Json]:
        """The three A2UI v0.9.1 messages that show it."""
        return surface_messages(self.entry()["definition"], surface_id or f"ask-{self.request_id}")

    def plain(self) -> str:
        """The same question in words, for a terminal or a voice."""
        if self.widget == "confirm":
            return f"{self.prompt} (yes/no)"
        if not self.options:
            return self.prompt
        lines = [f"{number}. {option}" for number, option in enumerate(self.options, start=1)]
        how = "one or more numbers, separated by commas" if self.widget == "checkbox" else "a number, or the words"
        return "\n".join([self.prompt, *lines, f"({how})"])

    def read(self, reply: Any) -> Any:
        """The value of a reply: a text, true or false, or for checkbox a list of texts.

        `reply` is the `context` of the form's event, or what the person typed. Raises `ReplyNotUnderstood`.
        """
        if isinstance(reply, Mapping):
            if reply.get("request_id", self.request_id) != self.request_id:
                raise ReplyNotUnderstood("That answers another question.")
            reply = reply.get("value")
        if isinstance(reply, str):
            reply = self._from_words(reply.strip())
        value = coerce(reply, self._schema())
        if not self._is_answer(value):
            raise ReplyNotUnderstood(f"Please answer: {self.plain()}")
        return value

    # The form.

    def _roots(self) -> list[str]:
        return ["choices"] if self.widget in ("buttons", "confirm") else ["input", "send"]

    def _data(self) -> Json:
        value: Any = {"text_input": "", "checkbox": []}.get(self.widget, [])
        data: Json = {"request_id": self.request_id, "prompt": self.prompt}
        return data if self.widget in ("buttons", "confirm") else {**data, "value": value}

    def _components(self) -> list[Json]:
        if self.widget == "confirm":
            return _row([("Yes", True), ("No", False)])
        if self.widget == "buttons":
            return _row([(option, option) for option in self.options])
        return [self._input(), *_button("send", "Continue", {"path": "/value"}, is_primary=True)]

    def _input(self) -> Json:
        label = self.label or self.prompt
        shared: Json = {"id": "input", "label": label, "value": {"path": "/value"}, "accessibility": {"label": label}}
        if self.widget == "text_input":
            return {**shared, "component": "TextField", "variant": "shortText"}
        options = [{"label": option, "value": option} for option in self.options]
        variant = "multipleSelection" if self.widget == "checkbox" else "mutuallyExclusive"
        picker = {**shared, "component": "ChoicePicker", "variant": variant, "options": options}
        return {**picker, "filterable": True} if self.widget == "select" else picker

    # The reply.

    def _schema(self) -> Json:
        if self.widget == "confirm":
            return {"type": "boolean"}
        return {"type": "array"} if self.widget == "checkbox" else {"type": "string"}

    def _is_answer(self, value: Any) -> bool:
        if self.widget == "confirm":
            return isinstance(value, bool)
        if self.widget == "checkbox":
            return isinstance(value, list) and all(item in self.options for item in value)
        if not isinstance(value, str) or not value.strip():
            return False
        return self.widget == "text_input" or value in self.options

    def _from_words(self, words: str) -> Any:
        """What a person typed: yes or no, a number of the list, or the words of an option."""
        if self.widget == "confirm":
            folded = words.casefold().rstrip(".!")
            return True if folded in _YES else False if folded in _NO else words
        if self.widget == "checkbox":
            whole = self._option(words)
            parts = [whole] if whole in self.options else map(self._option, map(str.strip, words.split(",")))
            return list(dict.fromkeys(part for part in parts if part))
        return self._option(words) if self.options else words

    def _option(self, words: str) -> str:
        """The words of an option before its number: where the options are "10" and "2", 2 is no second one."""
        named = next((option for option in self.options if option.casefold() == words.casefold()), None)
        if named is not None:
            return named
        number = words.rstrip(".)")
        if number.isascii() and number.isdecimal() and len(number) <= 4 and 1 <= int(number) <= len(self.options):
            return self.options[int(number) - 1]
        return words


def ask(prompt: str, widget: Widget = "confirm", options: Sequence[str] = (), *, label: str = "") -> Ask:
    """Create a question. `label` is the text in the field of text_input, where A2UI 0.9 knows no placeholder.

    Raises `ValueError` for an unknown widget, for options where there are none, or the reverse.
    """
    if widget not in WIDGETS:
        raise ValueError(f"widget must be one of {', '.join(WIDGETS)}")
    if not prompt.strip():
        raise ValueError("A question has words")
    shown = tuple(one_line(option, most=120) for option in options)
    if bool(shown) != (widget in _NEEDS_OPTIONS):
        raise ValueError(f"{widget} takes {'options' if widget in _NEEDS_OPTIONS else 'no options'}")
    if len(shown) > OPTIONS_MAX or len({option.casefold() for option in shown}) < len(shown) or "" in shown:
        raise ValueError(f"Options are at most {OPTIONS_MAX}, all different, and none is empty")
    return Ask(prompt, widget, shown, label, secrets.token_hex(6))


def _row(choices: Sequence[tuple[str, Any]]) -> list[Json]:
    """A button for each option, all with the same event."""
    ids = [f"choice_{number}" for number in range(len(choices))]
    buttons = [part for name, (text, value) in zip(ids, choices, strict=True) for part in _button(name, text, value)]
    return [{"id": "choices", "component": "Row", "children": ids}, *buttons]


def _button(name: str, text: str, value: Any, *, is_primary: bool = False) -> list[Json]:
    context = {"request_id": {"path": "/request_id"}, "value": value}
    button: Json = {"id": name, "component": "Button", "child": f"{name}_label"}
    button["action"] = {"event": {"name": "answer", "context": context}}
    if is_primary:
        button["variant"] = "primary"
    return [button, {"id": f"{name}_label", "component": "Text", "text": text}]
