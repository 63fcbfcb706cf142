"""A form of a capability as HTML of its own, for a browser without scripts; and what its renderer would have sent.

The widgets that take input become plain fields, in the order in which they are drawn, with the sample data in them.
What a function of the surface would compute is left out: nothing here runs the form.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_kit.bundles.form_data import Path, binding_of, find_value, walk_components
from capability_kit.json_text import as_mapping
from capability_rules.validation.a2ui.data_paths import MISSING, join_paths, parse_path

Json = dict[str, Any]
Kind = Literal["text", "long", "number", "date", "time", "datetime-local", "check", "choice", "choices"]
FIELDS_MAX: Final = 100
_TEXT_MAX: Final = 4000


@dataclass(frozen=True)
class HtmlField:
    """`name` is the place in the data that it is bound to; `value` a text, or the list of what is chosen."""

    name: str
    label: str
    kind: Kind
    value: Any
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class HtmlButton:
    """A button that sends an event; `number` distinguishes it from others of the same name."""

    number: int
    label: str
    event: Json
    scope: Path


@dataclass(frozen=True)
class HtmlForm:
    """What can be filled in and pressed."""

    fields: tuple[HtmlField, ...]
    buttons: tuple[HtmlButton, ...]


def build_html_form(definition: Mapping[str, Any], data: Any = None) -> HtmlForm:
    """The form of a definition that has passed validation, with its sample data or with `data`."""
    data = definition.get("dataModel", {}) if data is None else data
    fields: dict[str, HtmlField] = {}
    buttons: list[HtmlButton] = []
    by_id = {one.get("id"): one for one in definition.get("components", ()) if isinstance(one, dict)}
    for component, scope in walk_components(definition, data):
        made = _field(component, scope, data)
        if made is not None and len(fields) < FIELDS_MAX:
            fields.setdefault(made.name, made)
        event = as_mapping(as_mapping(component.get("action")).get("event"))
        if isinstance(event.get("name"), str):
            label = _text(by_id.get(component.get("child"), {}).get("text"), scope, data) or event["name"]
            buttons.append(HtmlButton(len(buttons), label, event, scope))
    return HtmlForm(tuple(fields.values()), tuple(buttons))


def parse_event(definition: Mapping[str, Any], given: Mapping[str, Sequence[str]], pressed: int) -> Json:
    """`{"name", "context"}` as a renderer would send it once the fields hold what was given."""
    data = copy.deepcopy(definition.get("dataModel", {}))
    form = build_html_form(definition)
    for field in form.fields:
        _put(data, parse_path(field.name), _entered(field, given.get(field.name, ())))
    button = next((one for one in form.buttons if one.number == pressed), None)
    if button is None:
        return {"name": "", "context": None}
    context = _evaluated(button.event.get("context"), button.scope, data)
    return {"name": button.event["name"], "context": context if isinstance(context, dict) else {}}


def _field(component: Json, scope: Path, data: Any) -> HtmlField | None:
    kind, place = _kind(component), binding_of(component.get("value"), scope)
    if kind is None or place is None:
        return None
    value, label = find_value(data, place, MISSING), _text(component.get("label"), scope, data)
    options = [as_mapping(one) for one in component.get("options", ()) if isinstance(component.get("options"), list)]
    choices = tuple((str(one.get("value", "")), _text(one.get("label"), scope, data)) for one in options)
    if kind in ("choice", "choices"):
        shown: Any = [str(one) for one in value] if isinstance(value, list) else []
    else:
        shown = value if kind == "check" else "" if value is MISSING or value is None else str(value)
    return HtmlField(
        join_paths(place, is_absolute=True), label or join_paths(place, is_absolute=True), kind, shown, choices
    )


def _kind(component: Json) -> Kind | None:
    variant = component.get("variant")
    match component.get("component"):
        case "TextField":
            return "number" if variant == "number" else "long" if variant == "longText" else "text"
        case "DateTimeInput":
            has_date, has_time = component.get("enableDate") is True, component.get("enableTime") is True
            return "datetime-local" if has_date and has_time else "time" if has_time else "date"
        case "CheckBox":
            return "check"
        case "Slider":
            return "number"
        case "ChoicePicker":
            return "choices" if variant == "multipleSelection" else "choice"
    return None


def _entered(field: HtmlField, given: Sequence[str]) -> Any:
    """As the widget would have written it into the data (docs/ui-schemas.md 2)."""
    texts = [text[:_TEXT_MAX] for text in given]
    if field.kind == "check":
        # A box that nobody has set is not set by what a browser leaves out.
        return bool(texts) if texts or field.value else field.value
    if field.kind in ("choice", "choices"):
        return [text for text in texts if text]
    return texts[0] if texts else ""


def _put(data: Any, steps: Path, value: Any) -> None:
    for step in steps[:-1]:
        inner = find_value(data, (step,), MISSING)
        if inner is MISSING:
            if not isinstance(data, dict):
                return
            inner = data[step] = {}
        data = inner
    if steps and isinstance(data, dict):
        data[steps[-1]] = value
    elif steps and isinstance(data, list) and find_value(data, steps[-1:], MISSING) is not MISSING:
        data[int(steps[-1])] = value


def _evaluated(value: Any, scope: Path, data: Any) -> Any:
    """A context with what its paths lead to; what is not there, or is computed, is left out."""
    if isinstance(value, list):
        return [one for one in (_evaluated(one, scope, data) for one in value) if one is not MISSING]
    if not isinstance(value, dict):
        return value
    place = binding_of(value, scope)
    if place is not None and len(value) == 1:
        return find_value(data, place, MISSING)
    if "call" in value:
        return MISSING
    parts = {key: _evaluated(one, scope, data) for key, one in value.items()}
    return {key: one for key, one in parts.items() if one is not MISSING}


def _text(value: Any, scope: Path, data: Any) -> str:
    found = _evaluated(value, scope, data)
    return found[:200] if isinstance(found, str) else ""
