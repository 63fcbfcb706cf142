"""A form of a capability as HTML of its own, for a browser without scripts; and what its renderer would have sent.

The widgets that take input become plain fields, in the order in which they are drawn, with the sample data in them.
What a function of the surface would compute is left out: nothing here runs the form.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_kit.json_text import as_mapping
from capability_rules.validation.a2ui.data_paths import MISSING, join_paths, parse_path, resolve

Json = dict[str, Any]
Steps = tuple[str, ...]
Kind = Literal["text", "long", "number", "date", "time", "datetime-local", "check", "choice", "choices"]
ROOT: Final = "root"
FIELDS_MAX: Final = 100
_VISITS_MAX: Final = 2000
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
    scope: Steps


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
    for component, scope, by_id in _drawn(definition, data):
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


def _drawn(definition: Mapping[str, Any], data: Any) -> Iterator[tuple[Json, Steps, dict[Any, Json]]]:
    """Each component where it is drawn, in order, a template once for each item of its list."""
    by_id = {one.get("id"): one for one in definition.get("components", ()) if isinstance(one, dict)}
    waiting: list[tuple[Any, Steps]] = [(ROOT, ())]
    for _visit in range(_VISITS_MAX):
        if not waiting:
            return
        name, scope = waiting.pop()
        component = by_id.get(name) if isinstance(name, str) else None
        if component is None:
            continue
        yield component, scope, by_id
        # A stack: what stands first is drawn first.
        waiting += reversed(list(_children(component, scope, data)))


def _children(component: Json, scope: Steps, data: Any) -> Iterator[tuple[Any, Steps]]:
    for key in ("child", "trigger", "content"):
        yield component.get(key), scope
    for tab in component.get("tabs", ()) if isinstance(component.get("tabs"), list) else ():
        yield as_mapping(tab).get("child"), scope
    children = component.get("children")
    if isinstance(children, list):
        for child in children:
            yield child, scope
    elif isinstance(children, dict) and isinstance(children.get("path"), str):
        place = _place(children["path"], scope)
        items = resolve(data, place)[0]
        for number in range(len(items) if isinstance(items, list) else 0):
            yield children.get("componentId"), (*place, str(number))


def _field(component: Json, scope: Steps, data: Any) -> HtmlField | None:
    kind, bound = _kind(component), as_mapping(component.get("value")).get("path")
    if kind is None or not isinstance(bound, str):
        return None
    place = _place(bound, scope)
    value, label = resolve(data, place)[0], _text(component.get("label"), scope, data)
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


def _put(data: Any, steps: Steps, value: Any) -> None:
    for step in steps[:-1]:
        inner = resolve(data, (step,))[0]
        if inner is MISSING:
            if not isinstance(data, dict):
                return
            inner = data[step] = {}
        data = inner
    if steps and isinstance(data, dict):
        data[steps[-1]] = value
    elif steps and isinstance(data, list) and resolve(data, steps[-1:])[0] is not MISSING:
        data[int(steps[-1])] = value


def _evaluated(value: Any, scope: Steps, data: Any) -> Any:
    """A context with what its paths lead to; what is not there, or is computed, is left out."""
    if isinstance(value, list):
        return [one for one in (_evaluated(one, scope, data) for one in value) if one is not MISSING]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("path"), str) and len(value) == 1:
        return resolve(data, _place(value["path"], scope))[0]
    if "call" in value:
        return MISSING
    parts = {key: _evaluated(one, scope, data) for key, one in value.items()}
    return {key: one for key, one in parts.items() if one is not MISSING}


def _text(value: Any, scope: Steps, data: Any) -> str:
    found = _evaluated(value, scope, data)
    return found[:200] if isinstance(found, str) else ""


def _place(path: str, scope: Steps) -> Steps:
    return parse_path(path) if path.startswith("/") else (*scope, *parse_path(path))
