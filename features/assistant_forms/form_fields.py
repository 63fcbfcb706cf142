"""A form of a capability as the flat fields of an elicitation, and back as the event that its renderer would send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from studio.pages.html_forms import HtmlButton, HtmlField, HtmlForm, build_html_form, parse_event

_BUTTON: Final = "button"
_FORMATS: Final = {"date": "date", "datetime-local": "date-time"}


@dataclass(frozen=True)
class FormFields:
    """`names` are those of the elicitation by the place in the form's data; `buttons` send something."""

    definition: Mapping[str, Any]
    form: HtmlForm
    names: Mapping[str, str]
    buttons: tuple[HtmlButton, ...]

    def describe(self) -> dict[str, Any]:
        """The properties of the elicitation."""
        properties = {self.names[field.name]: _describe(field) for field in self.form.fields}
        if len(self.buttons) > 1:
            choices = [{"const": str(one.number), "title": one.label} for one in self.buttons]
            properties[_BUTTON] = {"type": "string", "title": "Send with", "oneOf": choices}
        return properties

    def read_event(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """`{"name", "context"}` of what a person entered."""
        given = {field.name: _as_entered(field, content.get(self.names[field.name])) for field in self.form.fields}
        pressed = next((one for one in self.buttons if str(one.number) == content.get(_BUTTON)), self.buttons[0])
        return parse_event(self.definition, given, pressed.number)


def build_fields(entry: Mapping[str, Any], data: Mapping[str, Any]) -> FormFields:
    """The fields of an entry of ui_schemas.json, filled with `data`."""
    definition = {**entry["definition"], "dataModel": data}
    form = build_html_form(definition)
    actions = entry.get("actions")
    bound = actions if isinstance(actions, Mapping) else {}
    buttons = tuple(one for one in form.buttons if _sends(bound.get(one.event["name"])))
    names: dict[str, str] = {}
    for number, field in enumerate(form.fields):
        last = field.name.rpartition("/")[2]
        is_free = last and last != _BUTTON and last not in names.values() and not last.isdecimal()
        names[field.name] = last if is_free else f"field_{number}"
    return FormFields(definition, form, names, buttons)


def _sends(action: Any) -> bool:
    """Whether a button calls a tool or replies; one that closes the form is the client's own."""
    return isinstance(action, Mapping) and bool(action.get("tool") or action.get("reply"))


def _describe(field: HtmlField) -> dict[str, Any]:
    described: dict[str, Any] = {"title": field.label}
    match field.kind:
        case "check":
            return described | {"type": "boolean", "default": bool(field.value)}
        case "choice":
            chosen = {"default": field.value[0]} if field.value else {}
            return described | {"type": "string", "oneOf": _list_choices(field)} | chosen
        case "choices":
            chosen = {"default": field.value} if field.value else {}
            return described | {"type": "array", "items": {"anyOf": _list_choices(field)}} | chosen
        case "number":
            return described | {"type": "number"} | _get_number(field.value)
    named = {"format": _FORMATS[field.kind]} if field.kind in _FORMATS else {}
    return described | {"type": "string"} | named | ({"default": field.value} if field.value else {})


def _list_choices(field: HtmlField) -> list[dict[str, str]]:
    return [{"const": value, "title": label or value} for value, label in field.choices]


def _get_number(text: str) -> dict[str, float]:
    try:
        return {"default": float(text)}
    except ValueError:
        return {}


def _as_entered(field: HtmlField, value: Any) -> list[str]:
    """As a browser would send it."""
    if field.kind == "check":
        return ["on"] if value is True else []
    if isinstance(value, list):
        return [one for one in value if isinstance(one, str)]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return []
    return [str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)]
