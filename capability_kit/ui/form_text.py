"""A form as text, for a terminal: what it shows, and the event of a button, as a renderer would deliver it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from capability_kit.bundles.form_data import INPUTS, Path, binding_of, find_value, walk_components
from capability_kit.text.sanitize import one_line

Json = dict[str, Any]
_LINES_MAX: Final = 200
_EXPRESSION: Final = re.compile(r"\$\{([^{}]*)\}")
_LINE_CHARACTERS: Final = 200


def draw_form(definition: Mapping[str, Any], data: Any) -> str:
    """The form with its values, one line for each text, field and button; paths name the fields of `data`."""
    lines: list[str] = []
    for component, scope in walk_components(definition, data):
        line = _line(component, scope, data, definition)
        if line and len(lines) < _LINES_MAX:
            lines.append(line)
    return "\n".join(lines)


def press_button(definition: Mapping[str, Any], data: Any, name: str) -> Json:
    """The event `{"name", "context"}` of a button, by its id or by the name of its event. Raises `ValueError`."""
    buttons = [(each, scope) for each, scope in walk_components(definition, data) if _event(each)]
    found = [pair for pair in buttons if pair[0]["id"] == name] or [
        pair for pair in buttons if _event(pair[0])["name"] == name
    ]
    if not found:
        there = ", ".join(dict.fromkeys(str(each["id"]) for each, _ in buttons)) or "none"
        raise ValueError(f"The form has no button {one_line(name, most=60)!r}; there are: {there}")
    component, scope = found[0]
    event = _event(component)
    context = event.get("context")
    values = context if isinstance(context, dict) else {}
    return {"name": event["name"], "context": {key: _value(each, scope, data) for key, each in values.items()}}


def set_value(data: Any, pointer: str, value: Any) -> None:
    """Change one value of a form's data, such as `entries/0/weight`. Raises `ValueError` for a path that it has not."""
    steps = [step for step in pointer.split("/") if step]
    try:
        for step in steps[:-1]:
            data = data[int(step)] if isinstance(data, list) else data[step]
        key = int(steps[-1]) if isinstance(data, list) else steps[-1]
        data[key]  # Nothing is added.
        data[key] = value
    except (KeyError, IndexError, TypeError, ValueError):
        raise ValueError(f"The form has no value {one_line(pointer, most=60)!r}") from None


def _line(component: Json, scope: Path, data: Any, definition: Mapping[str, Any]) -> str:
    kind = component.get("component")
    if kind == "Divider":
        return "---"
    if kind == "Text" and not _is_label(component, definition):
        return one_line(_shown(_value(component.get("text"), scope, data)), most=_LINE_CHARACTERS)
    if event := _event(component):
        label: Json = next((one for one in definition["components"] if one.get("id") == component.get("child")), {})
        words = _shown(_value(label.get("text"), scope, data)) or event["name"]
        return f"<{one_line(words, most=80)}> {component['id']}"
    if kind not in INPUTS:
        return ""
    path = binding_of(component.get("value"), scope)
    value = _value(component.get("value"), scope, data)
    label_text = one_line(_shown(_value(component.get("label"), scope, data)), most=80)
    shown = _choices(component, value) if kind == "ChoicePicker" else f"[{one_line(_shown(value), most=120)}]"
    return f"{label_text}: {shown}" + (f"  {'/'.join(path)}" if path else "")


def _choices(component: Json, value: Any) -> str:
    chosen = value if isinstance(value, list) else [value]
    options = component.get("options")
    rows = [row for row in options if isinstance(row, dict)] if isinstance(options, list) else []
    return " ".join(
        f"({'x' if row.get('value') in chosen else ' '}) {one_line(str(row.get('value')), most=60)}" for row in rows
    )


def _is_label(component: Json, definition: Mapping[str, Any]) -> bool:
    name = component.get("id")
    return any(
        one.get("component") == "Button" and one.get("child") == name for one in definition.get("components", ())
    )


def _event(component: Mapping[str, Any]) -> Json:
    action = component.get("action")
    event = action.get("event") if isinstance(action, dict) else None
    return event if isinstance(event, dict) and isinstance(event.get("name"), str) else {}


def _value(written: Any, scope: Path, data: Any) -> Any:
    """What a value of a component means: a literal, a path, or a text with paths; other functions are not computed."""
    path = binding_of(written, scope)
    if path is not None:
        return find_value(data, path)
    if isinstance(written, dict) and written.get("call") == "formatString":
        text = written.get("args", {}).get("value")
        if isinstance(text, str):
            return _EXPRESSION.sub(lambda found: _shown(_value({"path": found[1].strip()}, scope, data)), text)
    return "" if isinstance(written, dict) and "call" in written else written


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "x" if value else " "
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
