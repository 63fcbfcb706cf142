"""The data of a form: its fields, what it begins with, and whether what a model gives for it fits.

A form's `dataModel` holds the author's sample values (docs/ui-schemas.md 1). A form that is opened for a user begins
with the defaults of the tool's arguments and with what the model knows, and else empty: an invented value must never be
sent as if somebody had entered it, and what nobody set is left out of the call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.json_pointer import decode_step
from capability_kit.json_schema.coercion import resolve_target
from capability_kit.text.sanitize import one_line

Json = dict[str, Any]
Path = tuple[str, ...]
# In the place of data: a form is walked without.
UNKNOWN: Final[Any] = object()
# The steps of a path; of a list that a template repeats, this one is any item.
ANY_ITEM: Final = "*"
INPUTS: Final = frozenset({"TextField", "CheckBox", "ChoicePicker", "Slider", "DateTimeInput"})
# The id of a question; the form is given its own.
REQUEST_ID: Final = "request_id"
ROWS_MAX: Final = 200
_ERRORS_MAX: Final = 10
# A published form has at most 200 components on 50 levels.
_VISITS_MAX: Final = 5_000
_SHAPE_LEVELS: Final = 4
_SHAPE_CHARACTERS: Final = 300
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?")


class FormDataInvalid(ValueError):
    """The data does not fit the form; the sentence names all errors."""


def fill_form(
    entry: Mapping[str, Any], data: Mapping[str, Any], *, tools: Sequence[Mapping[str, Any]] = (), request_id: str = ""
) -> Json:
    """The data model to open a form with: `data` as its widgets keep it, and defaults or empty fields where it says
    nothing.

    `entry` is one of ui_schemas.json, `tools` are those of its bundle. Values may have the types of the tools: 187.6
    becomes "187.6", "lb" becomes ["lb"]. Raises `FormDataInvalid`.
    """
    sample = entry["definition"].get("dataModel")
    if not isinstance(sample, dict) or not sample:
        return dict(data)
    filler = _Filler(entry, tools, request_id)
    made: Json = filler.object_of(data, sample, ())
    if filler.errors:
        more = len(filler.errors) - _ERRORS_MAX
        listed = filler.errors[:_ERRORS_MAX] + ([f"and {more} more"] if more > 0 else [])
        raise FormDataInvalid("; ".join(listed))
    return made


def find_inputs(definition: Mapping[str, Any]) -> dict[Path, Json]:
    """The input components by the path of the value that they keep."""
    found: dict[Path, Json] = {}
    for component, scope in walk_components(definition):
        path = binding_of(component.get("value"), scope)
        if component.get("component") in INPUTS and path is not None:
            found.setdefault(path, component)
    return found


@dataclass(frozen=True, slots=True)
class _Argument:
    """What a button sends from a path of the data: the schema of the tool that takes it."""

    schema: Any
    root: Any
    is_required: bool

    def find(self, steps: Path) -> _Argument | None:
        """The argument below it; None where its schema does not say."""
        found = self
        for step in steps:
            target = resolve_target(found.schema, self.root) or {}
            if step == ANY_ITEM or step.isdecimal():
                found = _Argument(target.get("items"), self.root, is_required=True)
            else:
                found = _Argument.of(target, step, self.root)
        return found if resolve_target(found.schema, self.root) is not None else None

    @staticmethod
    def of(schema: Mapping[str, Any], name: str, root: Any) -> _Argument:
        properties, required = schema.get("properties"), schema.get("required")
        known = properties if isinstance(properties, dict) else {}
        return _Argument(known.get(name), root, is_required=isinstance(required, list) and name in required)


def _find_arguments(entry: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> dict[Path, _Argument]:
    """The arguments of tools by the paths that the form's buttons send them from."""
    schemas = {tool["name"]: tool["args_schema"] for tool in tools if isinstance(tool.get("args_schema"), dict)}
    actions = entry.get("actions")
    found: dict[Path, _Argument] = {}
    for component, scope in walk_components(entry["definition"]):
        action = component.get("action")
        event = action.get("event") if isinstance(action, dict) else None
        bound = actions.get(event.get("name")) if isinstance(event, dict) and isinstance(actions, dict) else None
        schema = schemas.get(bound.get("tool")) if isinstance(bound, dict) else None
        context = event.get("context") if isinstance(event, dict) else None
        if schema is not None and isinstance(context, dict):
            found |= _paths_sent(_Argument(schema, schema, is_required=True), context, scope)
    return found


def _paths_sent(argument: _Argument, written: Mapping[str, Any], scope: Path) -> dict[Path, _Argument]:
    target = resolve_target(argument.schema, argument.root) or {}
    found: dict[Path, _Argument] = {}
    for name, value in written.items():
        inner = _Argument.of(target, name, argument.root)
        path = binding_of(value, scope)
        if path is not None:
            found[path] = inner
        elif isinstance(value, dict) and "call" not in value:
            found |= _paths_sent(inner, value, scope)
    return found


def walk_components(definition: Mapping[str, Any], data: Any = UNKNOWN) -> Iterator[tuple[Json, Path]]:
    """Each component that is drawn, with the path that its relative bindings begin with; in the order of drawing.

    A template is drawn once for each item that its list has in `data`; without data once, for `ANY_ITEM`.
    """
    known = {each["id"]: each for each in definition.get("components", ()) if isinstance(each, dict) and "id" in each}
    left: list[tuple[str, Path]] = [("root", ())]
    seen: set[tuple[str, Path]] = set()
    while left and len(seen) < _VISITS_MAX:
        name, scope = left.pop()
        component = known.get(name)
        if component is None or (name, scope) in seen:
            continue
        seen.add((name, scope))
        yield component, scope
        # A stack: what stands first is drawn first.
        left += reversed(list(_children(component, scope, data)))


def _children(component: Mapping[str, Any], scope: Path, data: Any) -> Iterator[tuple[str, Path]]:
    for key in ("child", "trigger", "content"):
        if isinstance(component.get(key), str):
            yield component[key], scope
    for tab in component.get("tabs") or ():
        if isinstance(tab, dict) and isinstance(tab.get("child"), str):
            yield tab["child"], scope
    children = component.get("children")
    if isinstance(children, list):
        yield from ((each, scope) for each in children if isinstance(each, str))
    elif isinstance(children, dict) and isinstance(children.get("componentId"), str):
        path = binding_of(children, scope)
        if path is not None:
            items = () if data is UNKNOWN else find_value(data, path)
            count = len(items) if isinstance(items, list) else 0
            steps = [ANY_ITEM] if data is UNKNOWN else map(str, range(count))
            yield from ((children["componentId"], (*path, step)) for step in steps)


def binding_of(value: Any, scope: Path) -> Path | None:
    """The path that `{"path": ...}` means; one without a leading `/` is relative to `scope`, and `.` is the scope.

    As the official renderer reads it: empty steps are passed over.
    """
    if not isinstance(value, dict) or not isinstance(value.get("path"), str):
        return None
    pointer = value["path"]
    named = tuple(decode_step(step) for step in pointer.split("/") if step and pointer != ".")
    return named if pointer.startswith("/") else (*scope, *named)


def find_value(data: Any, path: Path, missing: Any = None) -> Any:
    """The value at a path of the data; `missing` where there is none."""
    for step in path:
        if isinstance(data, list) and step.isdecimal() and int(step) < len(data):
            data = data[int(step)]
        elif isinstance(data, dict) and step in data:
            data = data[step]
        else:
            return missing
    return data


def format_shape(entry: Mapping[str, Any]) -> str:
    """The names of the form's data on one line, in a fixed order: `{entries: [{unit, weight}], source}`.

    Empty for a form without data.
    """
    definition = entry.get("definition")
    # A draft may have anything there.
    sample = definition.get("dataModel") if isinstance(definition, dict) else None
    if not isinstance(sample, dict) or not sample:
        return ""
    return one_line(_shape(sample, _SHAPE_LEVELS), most=_SHAPE_CHARACTERS)


def _shape(value: Any, levels: int) -> str:
    if isinstance(value, dict) and levels:
        # By UTF-16, as every client sorts.
        names = sorted(
            (name for name in value if name != REQUEST_ID), key=lambda name: name.encode("utf-16-be", "surrogatepass")
        )
        below = ((name, _shape(value[name], levels - 1)) for name in names)
        return "{" + ", ".join(f"{name}: {inner}" if inner else name for name, inner in below) + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict) and levels:
        return f"[{_shape(value[0], levels - 1)}]"
    return ""


class _Filler:
    """One fill: the inputs of the form, and the errors so far."""

    def __init__(self, entry: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], request_id: str) -> None:
        definition = entry["definition"]
        self._arguments = _find_arguments(entry, tools)
        self._inputs = find_inputs(definition)
        scopes = {scope for _, scope in walk_components(definition)}
        self._templates = {scope[:end] for scope in scopes for end, step in enumerate(scope) if step == ANY_ITEM}
        self._request_id = request_id
        self.errors: list[str] = []

    def object_of(self, given: Mapping[str, Any], sample: Json, path: Path) -> Json:
        unknown = [name for name in given if name not in sample]
        if unknown:
            there = ", ".join(one_line(str(name), most=60) for name in sample)
            self._report((*path, str(unknown[0])), f"the form has no such value; there are: {there}")
        return {
            name: self._value(given[name], item, (*path, name))
            if given.get(name) is not None
            else self._empty(item, (*path, name))
            for name, item in sample.items()
        }

    def _value(self, given: Any, sample: Any, path: Path) -> Any:
        component = self._input(path)
        if component is not None:
            return self._widget_value(given, component, path)
        if isinstance(sample, dict):
            if isinstance(given, dict):
                return self.object_of(given, sample, path)
            return self._report(path, f"an object is expected, not {_kind(given)}")
        if isinstance(sample, list):
            return self._list(given, sample, path)
        if isinstance(sample, str) and _is_number(given):
            return _number_text(given)
        if isinstance(sample, bool) != isinstance(given, bool) or isinstance(sample, str) != isinstance(given, str):
            return given if sample is None else self._report(path, f"{_kind(sample)} is expected, not {_kind(given)}")
        return given

    def _list(self, given: Any, sample: Sequence[Any], path: Path) -> Any:
        if not isinstance(given, list):
            return self._report(path, f"a list is expected, not {_kind(given)}")
        if len(given) > ROWS_MAX:
            return self._report(path, f"at most {ROWS_MAX} rows, not {len(given):,}")
        if not sample:
            return given
        if self._is_template(path):
            return [self._value(item, sample[0], (*path, str(at))) for at, item in enumerate(given)]
        if isinstance(sample[0], dict) or self._input((*path, "0")):
            if len(given) > len(sample):
                return self._report(path, f"the form has room for {len(sample)}, not for {len(given)}")
            filled = [self._value(item, sample[at], (*path, str(at))) for at, item in enumerate(given)]
            return filled + [self._empty(sample[at], (*path, str(at))) for at in range(len(given), len(sample))]
        return given

    def _empty(self, sample: Any, path: Path) -> Any:
        """What a field begins with that nothing is known of; an error where the user could not enter it."""
        component, argument = self._input(path), self._argument(path)
        default = argument.schema.get("default") if argument is not None else None
        if default is not None:
            return self._value(default, sample, path)
        if component is not None:
            # A box or a slider always sends something: only where the call needs it, somebody has set it so.
            is_left_out = argument is not None and not argument.is_required and component["component"] in _ALWAYS_SET
            return None if is_left_out else _EMPTY.get(component["component"], component.get("min", 0))
        if isinstance(sample, dict):
            return {name: self._empty(item, (*path, name)) for name, item in sample.items()}
        if isinstance(sample, list) and self._is_template(path):
            return [self._empty(sample[0], (*path, "0"))] if sample else []
        if isinstance(sample, list) and (any(isinstance(item, dict) for item in sample) or self._input((*path, "0"))):
            return [self._empty(item, (*path, str(at))) for at, item in enumerate(sample)]
        if path[-1] == REQUEST_ID:
            return self._request_id
        if sample in ("", None) or sample == []:
            return sample
        if argument is not None and not argument.is_required:
            return None
        expected = _describe(argument.schema) if argument is not None else _kind(sample)
        return self._report(path, f"give {expected}: no field of the form asks for it")

    def _widget_value(self, given: Any, component: Mapping[str, Any], path: Path) -> Any:
        kind = component["component"]
        if kind == "ChoicePicker":
            return self._choices(given, component, path)
        if kind == "CheckBox":
            found = {"true": True, "false": False}.get(str(given).lower()) if isinstance(given, bool | str) else None
            return self._report(path, f"true or false is expected, not {_kind(given)}") if found is None else found
        if kind == "Slider":
            return self._number(given, path)
        if _is_number(given):
            given = _number_text(given)
        if not isinstance(given, str):
            return self._report(path, f"a text is expected, not {_kind(given)}")
        if kind == "DateTimeInput" and given and not _DATE.fullmatch(given):
            return self._report(path, f"{_quoted(given)} is not a date such as 2026-01-15")
        return given

    def _choices(self, given: Any, component: Mapping[str, Any], path: Path) -> Any:
        wanted = given if isinstance(given, list) else [given]
        options = component.get("options")
        rows = [row for row in options if isinstance(row, dict)] if isinstance(options, list) else []
        values = [str(row.get("value")) for row in rows]
        folded = {str(row.get(key)).casefold(): str(row.get("value")) for key in ("label", "value") for row in rows}
        found = []
        for each in wanted:
            text = _number_text(each) if _is_number(each) else str(each)
            if values and text not in values and text.casefold() not in folded:
                return self._report(path, f"{_quoted(text)} is none of {', '.join(values[:20])}")
            found.append(text if text in values or not values else folded[text.casefold()])
        if len(found) > 1 and component.get("variant") == "mutuallyExclusive":
            return self._report(path, "one of them is expected, not several")
        return found

    def _number(self, given: Any, path: Path) -> Any:
        try:
            number = given if _is_number(given) else float(given) if isinstance(given, str) else math.nan
        except ValueError:
            number = math.nan
        is_finite = math.isfinite(number)
        return number if is_finite else self._report(path, f"a number is expected, not {_kind(given)}")

    def _input(self, path: Path) -> Json | None:
        return self._inputs.get(path) or self._inputs.get(_general(path))

    def _argument(self, path: Path) -> _Argument | None:
        """The argument that the value at `path` is sent as, or a part of one."""
        for place in (path, _general(path)):
            for end in range(len(place), 0, -1):
                if place[:end] in self._arguments:
                    return self._arguments[place[:end]].find(place[end:])
        return None

    def _is_template(self, path: Path) -> bool:
        return path in self._templates or _general(path) in self._templates

    def _report(self, path: Path, words: str) -> None:
        self.errors.append(f"{one_line('/'.join(path), most=120)}: {words}")


_EMPTY: Final[Mapping[str, Any]] = {"TextField": "", "DateTimeInput": "", "CheckBox": False, "ChoicePicker": []}


_ALWAYS_SET: Final = frozenset({"CheckBox", "Slider"})


def _describe(schema: Mapping[str, Any]) -> str:
    """What a required value may be, from the tool's schema and never from the author's sample."""
    words = schema.get("enum")
    if isinstance(words, list) and words:
        return f"one of {one_line(', '.join(map(str, words[:20])), most=200)}"
    kinds = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    named = schema.get("type")
    return {**kinds, "array": "a list", "object": "an object"}.get(named if isinstance(named, str) else "", "it")


def _general(path: Path) -> Path:
    """The path with any item in the place of a number."""
    return tuple(ANY_ITEM if step.isdecimal() else step for step in path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    names: dict[type, str] = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")


def _quoted(text: str) -> str:
    return f"'{one_line(text, most=60)}'"
