"""Ask the user: six widgets as A2UI, or one plain question where there is no screen (docs/ui-schemas.md 5).

The reply of a form and the words of a person come back through `Ask.read`, as one value of the right type.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from capability_kit.bundles.forms import surface_messages
from capability_kit.json_schema.coercion import coerce
from capability_kit.sentences import current_catalog, say
from capability_kit.text.sanitize import one_line

Widget = Literal["buttons", "confirm", "text_input", "select", "radio", "checkbox"]
WIDGETS: Final[tuple[Widget, ...]] = ("buttons", "confirm", "text_input", "select", "radio", "checkbox")
CATALOG: Final = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
OPTIONS_MAX: Final = 50
_NEEDS_OPTIONS: Final = frozenset({"buttons", "select", "radio", "checkbox"})
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
    default: object = None

    def entry(self) -> dict[str, object]:
        """The question as an entry of ui_schemas.json: its one action is a reply."""
        return self._entry()

    def _entry(self) -> Json:
        components: list[Json] = [
            {"id": "root", "component": "Column", "children": ["prompt", *self._roots()]},
            {"id": "prompt", "component": "Text", "text": {"path": "/prompt"}, "variant": "h4"},
            *self._components(),
        ]
        return _entry(f"Ask{self.widget.title().replace('_', '')}.v1", components, self._data())

    def messages(self, surface_id: str | None = None) -> list[dict[str, object]]:
        """The three A2UI v0.9.1 messages that show it."""
        return surface_messages(self._entry()["definition"], surface_id or f"ask-{self.request_id}")

    def plain(self) -> str:
        """The same question in words, for a terminal or a voice."""
        if self.widget == "confirm":
            return say("{question} (yes/no)", question=self.prompt)
        if not self.options:
            return self.prompt
        lines = [f"{number}. {option}" for number, option in enumerate(self.options, start=1)]
        is_several = self.widget == "checkbox"
        how = say("one or more numbers, separated by commas") if is_several else say("a number, or the words")
        return "\n".join([self.prompt, *lines, f"({how})"])

    def read(self, reply: object) -> object:
        """The value of a reply: a text, true or false, or for checkbox a list of texts.

        `reply` is the `context` of the form's event, or what the person typed. Raises `ReplyNotUnderstood`.
        """
        if isinstance(reply, Mapping):
            if reply.get("request_id", self.request_id) != self.request_id:
                raise ReplyNotUnderstood(say("That answers another question."))
            reply = reply.get("value")
        return self.value_of(reply)

    def value_of(self, reply: object) -> object:
        """As `read`, of the value alone."""
        if isinstance(reply, str):
            reply = self._from_words(reply.strip())
        value = coerce(reply, self._schema())
        if not self._is_answer(value):
            raise ReplyNotUnderstood(say("Please answer: {question}", question=self.plain()))
        return value

    # The form.

    def _roots(self) -> list[str]:
        return ["choices"] if self.widget in ("buttons", "confirm") else ["input", "send"]

    def _data(self) -> Json:
        data: Json = {"request_id": self.request_id, "prompt": self.prompt}
        return data if self.widget in ("buttons", "confirm") else {**data, "value": self.initial()}

    def initial(self) -> object:
        """The value that a form begins with: the default, as its component keeps it."""
        if self.widget == "text_input":
            return self.default or ""
        chosen = say("Yes" if self.default else "No") if isinstance(self.default, bool) else self.default
        return chosen if isinstance(chosen, list) else [] if chosen is None else [chosen]

    def _components(self) -> list[Json]:
        if self.widget == "confirm":
            return _row([(say("Yes"), True), (say("No"), False)], self.default)
        if self.widget == "buttons":
            return _row([(option, option) for option in self.options], self.default)
        return [
            self.input("input", "/value"),
            *_button("send", say("Continue"), {"value": {"path": "/value"}}, is_primary=True),
        ]

    def input(self, component_id: str, path: str) -> dict[str, object]:
        """The field whose value is kept at this path of the data model."""
        label = self.label or self.prompt
        shared: Json = {"id": component_id, "label": label, "value": {"path": path}, "accessibility": {"label": label}}
        if self.widget == "text_input":
            return {**shared, "component": "TextField", "variant": "shortText"}
        names = (say("Yes"), say("No")) if self.widget == "confirm" else self.options
        options = [{"label": option, "value": option} for option in names]
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
            folded, catalog = words.casefold().rstrip(".!\u3002\uff01"), current_catalog()
            return True if folded in catalog.yes else False if folded in catalog.no else words
        if self.widget == "checkbox":
            whole = self._option(words)
            parts = [whole] if whole in self.options else map(self._option, map(str.strip, words.split(",")))
            return list(dict.fromkeys(part for part in parts if part))
        return self._option(words) if self.options else words

    def _option(self, words: str) -> str:
        """The words of an option before its number: where the options are "10" and "2", 2 is not a second one."""
        named = next((option for option in self.options if option.casefold() == words.casefold()), None)
        if named is not None:
            return named
        number = words.rstrip(".)")
        if number.isascii() and number.isdecimal() and len(number) <= 4 and 1 <= int(number) <= len(self.options):
            return self.options[int(number) - 1]
        return words


@dataclass(frozen=True, slots=True)
class AskForm:
    """Several questions in one form, by the name under which each answer comes back."""

    questions: Mapping[str, Ask]
    request_id: str

    def entry(self) -> dict[str, object]:
        """The questions as an entry of ui_schemas.json: its one action is a reply with all values."""
        return self._entry()

    def _entry(self) -> Json:
        fields = {name: f"field_{number}" for number, name in enumerate(self.questions)}
        values: Json = {fields[name]: {"path": f"/{fields[name]}"} for name in self.questions}
        components: list[Json] = [
            {"id": "root", "component": "Column", "children": [*fields.values(), "send"]},
            *(each.input(fields[name], f"/{fields[name]}") for name, each in self.questions.items()),
            *_button("send", say("Continue"), values, is_primary=True),
        ]
        data = {fields[name]: each.initial() for name, each in self.questions.items()}
        return _entry("AskForm.v1", components, {"request_id": self.request_id, **data})

    def messages(self, surface_id: str | None = None) -> list[dict[str, object]]:
        """The three A2UI v0.9.1 messages that show it; the same ones again after a reload of the page."""
        return surface_messages(self._entry()["definition"], surface_id or f"ask-{self.request_id}")

    def answered_messages(
        self, answers: Mapping[str, object], surface_id: str | None = None
    ) -> list[dict[str, object]]:
        """The messages that show the questions with their answers, and nothing to press any more."""
        lines = [f"{each.prompt} {_shown(answers.get(name))}" for name, each in self.questions.items()]
        return surface_messages(build_text_surface(lines), surface_id or f"ask-{self.request_id}")

    def plain(self) -> str:
        """The same questions in words."""
        return "\n\n".join(each.plain() for each in self.questions.values())

    def read(self, reply: object) -> dict[str, object]:
        """The value of each question: `reply` is the `context` of the form's event, or what each name is answered with.

        Typed words are taken where there is one question. Raises `ReplyNotUnderstood`.
        """
        if not isinstance(reply, Mapping):
            if len(self.questions) > 1:
                raise ReplyNotUnderstood(say("Please answer all of these:\n\n{questions}", questions=self.plain()))
            reply = dict.fromkeys(self.questions, reply)
        if reply.get("request_id", self.request_id) != self.request_id:
            raise ReplyNotUnderstood(say("That answers another question."))
        found = {}
        for number, (name, each) in enumerate(self.questions.items()):
            value = reply.get(name, reply.get(f"field_{number}", each.default))
            if each.widget != "checkbox" and isinstance(value, list) and len(value) == 1:
                value = value[0]
            found[name] = each.value_of(value)
        return found


def ask(
    prompt: str, widget: Widget = "confirm", options: Sequence[str] = (), *, label: str = "", default: object = None
) -> Ask:
    """Create a question. `label` is the text in the field of text_input, where A2UI 0.9 knows no placeholder.

    `default` is chosen or filled in beforehand. Raises `ValueError` for an unknown widget, for options where there are
    none, or the reverse, and for a default that is not an answer.
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
    made = Ask(prompt, widget, shown, label, secrets.token_hex(6), default)
    if default is not None:
        try:
            made = replace(made, default=made.value_of(default))
        except ReplyNotUnderstood:
            raise ValueError(f"The default is none of the answers of {widget}") from None
    return made


def build_text_surface(lines: Sequence[str]) -> Json:
    """The definition of a surface that shows these lines below each other, and has nothing to press."""
    ids = [f"line_{number}" for number in range(len(lines))]
    texts = [{"id": name, "component": "Text", "text": line} for name, line in zip(ids, lines, strict=True)]
    components = [{"id": "root", "component": "Column", "children": ids}, *texts]
    return {"catalogId": CATALOG, "components": components, "dataModel": {}}


def _entry(schema_id: str, components: list[Json], data: Json) -> Json:
    definition = {"catalogId": CATALOG, "components": components, "dataModel": data}
    actions = {"answer": {"reply": True}}
    return {"schema_id": schema_id, "a2ui_version": "v0.9.1", "definition": definition, "actions": actions}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return say("Yes") if value else say("No")
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _row(choices: Sequence[tuple[str, Any]], default: Any) -> list[Json]:
    """A button for each option, all with the same event; the default stands out."""
    ids = [f"choice_{number}" for number in range(len(choices))]
    buttons = [
        part
        for name, (text, value) in zip(ids, choices, strict=True)
        for part in _button(name, text, {"value": value}, is_primary=default is not None and value == default)
    ]
    return [{"id": "choices", "component": "Row", "children": ids}, *buttons]


def _button(name: str, text: str, values: Json, *, is_primary: bool = False) -> list[Json]:
    context = {"request_id": {"path": "/request_id"}, **values}
    button: Json = {"id": name, "component": "Button", "child": f"{name}_label"}
    button["action"] = {"event": {"name": "answer", "context": context}}
    if is_primary:
        button["variant"] = "primary"
    return [button, {"id": f"{name}_label", "component": "Text", "text": text}]
