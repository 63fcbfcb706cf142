"""A first form for a tool: a field for each argument and a button that calls the tool; it begins empty.

What cannot be entered in a form (a value whose type the schema leaves open) is left out where it is not required, and
refused where it is. The result is an entry of ui_schemas.json that can be published as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from capability_kit.json_text import as_mapping
from capability_rules.bundles.json_edits import add_item, add_key, apply_edits, value_at
from capability_rules.bundles.json_locations import build_pointer
from capability_rules.bundles.problem import Path
from capability_rules.errors import InvalidRequest

CATALOG: Final = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
FIELDS_MAX: Final = 60
_DEPTH_MAX: Final = 4
# With which the names of tools end, and the titles of forms begin; some are nouns as well.
_VERBS_ALONE: Final = frozenset(
    (
        *("add", "cancel", "close", "create", "delete", "make", "remove", "save", "send", "set", "start", "stop"),
        *("submit", "update"),
    )
)
_VERBS: Final = _VERBS_ALONE | {"book", "change", "log", "open", "order", "request"}
_WORD: Final = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True)
class GeneratedForm:
    """`texts` are the files that change; `left_out` names the arguments that have no field."""

    schema_id: str
    texts: Mapping[str, str]
    left_out: tuple[str, ...]


@dataclass
class _Making:
    components: list[dict[str, Any]] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, hint: str, **component: Any) -> str:
        """Add a component under a new id; returns the id."""
        stem = "_".join(_WORD.findall(hint)) or "part"
        stem = stem if stem[0].isalpha() else f"part_{stem}"
        taken = {one["id"] for one in self.components} | {"root", "form", "title", "actions", "send", "cancel"}
        name = next(n for n in (stem, *(f"{stem}_{i}" for i in range(2, 999))) if n not in taken)
        self.components.append({"id": name, **component})
        return name


def generate_form(*, files: Mapping[str, str], tool_name: str) -> GeneratedForm:
    """The texts with a new form for a tool, which names it as its form. Nothing is stored.

    Raises `InvalidRequest` where the files cannot be read, there is no such tool, or a required argument has no field.
    """
    tools_text, forms_text = files.get("tools.json") or "[]\n", files.get("ui_schemas.json") or "[]\n"
    base, tools = _tools(tools_text)
    index = next((at for at, one in enumerate(tools) if as_mapping(one).get("name") == tool_name), None)
    if index is None:
        raise InvalidRequest(f"tools.json has no tool '{tool_name[:64]}'")
    forms = _parsed(forms_text)
    if not isinstance(forms, list):
        raise InvalidRequest("ui_schemas.json must be a list for a form to be added to it")
    schema_id = _free_id(tool_name, forms)
    entry, left_out = build_form_entry(tools[index], schema_id)
    texts = {"ui_schemas.json": _ending(apply_edits(forms_text, [add_item(forms_text, (), entry)]))}
    ui = tools[index].get("ui")
    path: Path = (*base, index)
    if ui is None:
        texts["tools.json"] = apply_edits(tools_text, [add_key(tools_text, path, "ui", {"form": schema_id})])
    elif isinstance(ui, dict) and "form" not in ui:
        texts["tools.json"] = apply_edits(tools_text, [add_key(tools_text, (*path, "ui"), "form", schema_id)])
    return GeneratedForm(schema_id, texts, tuple(left_out))


def _ending(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidRequest("The file is not valid JSON yet: fix its findings first") from None


def _tools(text: str) -> tuple[tuple[str, ...], list[Any]]:
    value = _parsed(text)
    base: tuple[str, ...] = ("tools",) if isinstance(value, dict) else ()
    tools = value_at(text, base)
    return base, tools if isinstance(tools, list) else []


def _free_id(tool_name: str, forms: list[Any]) -> str:
    words = "".join(word[:1].upper() + word[1:] for word in _WORD.findall(tool_name))[:58]
    stem = f"{words if words[:1].isalpha() else 'Tool' + words}Form"
    taken = {as_mapping(one).get("schema_id") for one in forms}
    return next(name for name in (f"{stem}.v{number}" for number in range(1, 9999)) if name not in taken)


def build_form_entry(tool: Mapping[str, Any], schema_id: str) -> tuple[dict[str, Any], list[str]]:
    """A form for a tool as an entry of ui_schemas.json, and the arguments that it has no field for.

    Raises `InvalidRequest` where a required argument has no field.
    """
    schema, making = as_mapping(tool.get("args_schema")), _Making()
    children, sample = _fields(schema, "", making, 0)
    if len(making.components) > FIELDS_MAX:
        raise InvalidRequest(f"The tool has too many arguments for one form: at most {FIELDS_MAX} fields")
    title = name_tool(str(tool.get("name", "")))
    context = {name: {"path": build_pointer((name,))} for name in sample}
    event: dict[str, Any] = {"name": "send", **({"context": context} if context else {})}
    send = _button("send", event, "primary")
    if making.required:
        send["checks"] = [_all_given(making.required)]
    components = [
        {"id": "root", "component": "Card", "child": "form"},
        {"id": "form", "component": "Column", "children": ["title", *children, "actions"]},
        {"id": "title", "component": "Text", "text": title, "variant": "h2"},
        *making.components,
        {"id": "actions", "component": "Row", "children": ["cancel", "send"], "justify": "end"},
        _button("cancel", {"name": "cancel"}, "borderless"),
        {"id": "cancel_label", "component": "Text", "text": "Cancel"},
        send,
        {"id": "send_label", "component": "Text", "text": "Send"},
    ]  # fmt: skip
    definition = {"catalogId": CATALOG, "components": components, "dataModel": sample}
    entry = {
        "schema_id": schema_id,
        "title": title[:120],
        "a2ui_version": "v0.9.1",
        "definition": definition,
        "actions": {"send": {"tool": tool["name"]}, "cancel": {"dismiss": True}},
    }
    return entry, making.left_out


def _button(name: str, event: dict[str, Any], variant: str) -> dict[str, Any]:
    label, action = f"{name}_label", {"event": event}
    return {"id": name, "component": "Button", "child": label, "action": action, "variant": variant}


def _fields(schema: dict[str, Any], at: str, making: _Making, depth: int) -> tuple[list[str], dict[str, Any]]:
    """Fields for the properties of an object, and the data that they begin with."""
    needed = schema.get("required") if isinstance(schema.get("required"), list) else []
    children: list[str] = []
    sample: dict[str, Any] = {}
    for name, one in as_mapping(schema.get("properties")).items():
        is_needed = name in (needed or [])
        made = _field(name, as_mapping(one), at + build_pointer((name,)), making, depth, is_needed=is_needed)
        if made is None and is_needed:
            raise InvalidRequest(f"'{name[:64]}' is required, and no field of a form can hold what its schema asks for")
        if made is None:
            making.left_out.append(name)
            continue
        children += made[0]
        sample[name] = made[1]
    return children, sample


def _field(
    name: str, schema: dict[str, Any], path: str, making: _Making, depth: int, *, is_needed: bool
) -> tuple[list[str], Any] | None:
    """The components for one value with what it begins with; None where there is no field for it."""
    if depth > _DEPTH_MAX or {"$ref", "anyOf", "oneOf", "allOf", "not", "if", "const", "pattern"} & set(schema):
        return None
    kind, label = schema.get("type"), name_value(name) + ("" if is_needed else " (optional)")
    bound = {"label": label, "value": {"path": path}, "accessibility": {"label": label}}
    if isinstance(schema.get("enum"), list):
        return _choice(name, schema, bound, making, is_needed=is_needed)
    if kind == "object":
        heading = making.add(f"{name}_title", component="Text", text=label, variant="h4")
        children, sample = _fields(schema, path, making, depth + 1)
        return ([heading, *children], sample) if children else None
    if kind == "array":
        return _list(name, schema, bound, making, depth)
    if kind == "boolean":
        default = schema.get("default")
        # Optional and without a default it is not sent until somebody ticks it.
        unset = False if is_needed else None
        return [making.add(name, component="CheckBox", **bound)], default if isinstance(default, bool) else unset
    if kind == "string" and schema.get("format") in ("date", "date-time"):
        return _moment(name, schema, bound, making, is_needed=is_needed)
    if kind in ("string", "integer", "number"):
        return _text(name, schema, bound, making, is_needed=is_needed)
    return None


def _choice(
    name: str,
    schema: dict[str, Any],
    bound: dict[str, Any],
    making: _Making,
    *,
    is_needed: bool,
    several: bool = False,
) -> tuple[list[str], Any] | None:
    words = schema["enum"]
    if not words or not all(isinstance(one, str) and one for one in words) or len(set(words)) != len(words):
        return None
    options = [{"label": name_value(one), "value": one} for one in words]
    if not several and not is_needed:
        # What is chosen in a choice of one cannot be taken back in it.
        options.insert(0, {"label": "No choice", "value": ""})
    variant = "multipleSelection" if several else "mutuallyExclusive"
    made = making.add(name, component="ChoicePicker", variant=variant, options=options, **bound)
    if is_needed:
        making.required.append(bound["value"]["path"])
    return [made], [schema["default"]] if schema.get("default") in words else []


def _list(
    name: str, schema: dict[str, Any], bound: dict[str, Any], making: _Making, depth: int
) -> tuple[list[str], Any] | None:
    """A choice of several, or the first entry of a list of anything."""
    items = as_mapping(schema.get("items"))
    if isinstance(items.get("enum"), list):
        return _choice(name, items, bound, making, is_needed=False, several=True)
    if not items or (isinstance(schema.get("minItems"), int) and schema["minItems"] > 1):
        return None
    made = _field(name, items, f"{bound['value']['path']}/0", making, depth + 1, is_needed=True)
    return None if made is None else (made[0], [made[1]])


def _moment(
    name: str, schema: dict[str, Any], bound: dict[str, Any], making: _Making, *, is_needed: bool
) -> tuple[list[str], Any]:
    has_time = schema["format"] == "date-time"
    if is_needed:
        making.required.append(bound["value"]["path"])
    made = making.add(name, component="DateTimeInput", enableDate=True, enableTime=has_time, **bound)
    return [made], _initial(schema)


def _text(
    name: str, schema: dict[str, Any], bound: dict[str, Any], making: _Making, *, is_needed: bool
) -> tuple[list[str], Any]:
    is_number = schema.get("type") != "string"
    long = not is_number and isinstance(schema.get("maxLength"), int) and schema["maxLength"] > 200
    variant = "number" if is_number else "longText" if long else "shortText"
    path = bound["value"]["path"]
    checks = []
    if is_needed:
        making.required.append(path)
    if is_number:
        bounds = {"min": schema.get("minimum"), "max": schema.get("maximum")}
        given = {key: value for key, value in bounds.items() if isinstance(value, int | float)}
        if given:
            words = " and ".join(f"at {'least' if key == 'min' else 'most'} {value}" for key, value in given.items())
            checks.append(_within(path, f"{name_value(name)} must be {words}.", **given))
    more = {"checks": checks} if checks else {}
    return [making.add(name, component="TextField", variant=variant, **bound, **more)], _initial(schema)


def _within(path: str, message: str, **bounds: Any) -> dict[str, Any]:
    """A check of a number that says nothing while there is none: a form begins empty, and not in red."""
    value = {"value": {"path": path}}
    entered = {"call": "required", "args": value, "returnType": "boolean"}
    is_empty = {"call": "not", "args": {"value": entered}, "returnType": "boolean"}
    fits = {"call": "numeric", "args": {**value, **bounds}, "returnType": "boolean"}
    condition = {"call": "or", "args": {"values": [is_empty, fits]}, "returnType": "boolean"}
    return {"condition": condition, "message": message}


def _all_given(paths: list[str]) -> dict[str, Any]:
    calls = [{"call": "required", "args": {"value": {"path": path}}, "returnType": "boolean"} for path in paths]
    condition = calls[0] if len(calls) == 1 else {"call": "and", "args": {"values": calls}, "returnType": "boolean"}
    return {"condition": condition, "message": "Fill in what is needed first."}


def _initial(schema: dict[str, Any]) -> str:
    """What a text field begins with: the default of the argument, or nothing."""
    default = schema.get("default")
    return str(default) if isinstance(default, str | int | float) and not isinstance(default, bool) else ""


def name_tool(name: str) -> str:
    """What the form does: leave_request_create and create_leave_request ask to create a leave request."""
    words = name.split("_")
    ends_in_verb = words[-1] in _VERBS and words[0] not in _VERBS_ALONE
    return name_value(" ".join([words[-1], *words[:-1]]) if ends_in_verb else name)


def name_value(name: str) -> str:
    """The name of an argument or a value for people: `visit_day` is "Visit day"."""
    words = " ".join(re.sub(r"[_-]+", " ", name).split())
    return (words[:1].upper() + words[1:])[:120] or "Value"
