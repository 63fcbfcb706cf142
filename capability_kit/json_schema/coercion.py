"""Coerces a form's values to a tool's argument types.

A2UI widgets write strings and lists of strings: a number field gives "187.6", a choice of one gives ["lb"]. A tool's
`args_schema` requires 187.6 and "lb". This is the only place that defines the conversion; publishing checks
sample data with it, and a runtime uses it on what the user entered, so that both agree.

The rules, by the type of the target schema, at every level:

- number or integer: a numeric string becomes that number ("187.6", "5", "-2.5e3").
- boolean: the strings "true" and "false" become true and false.
- any type but array: a list of one item becomes that item, which is then coerced, too.
- object: a property that is not required and that nobody set is left out; the others are coerced one by one. Not set
  are "", null, a list in which nothing is set (that of an array with a default stays: everything may have been taken
  out of it), and an object with properties none of which is set.
- array: its items are coerced one by one.

Everything else is left as it is, for the tool's own validation to accept or refuse. Nothing is ever guessed: "about 5"
stays a string, and an empty list that is required stays an empty list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from capability_kit.json_pointer import decode_step

Schema = dict[str, Any]

# A person does not enter a longer number, and reading one takes time that grows with the square of its length.
_NUMBER_CHARACTERS_MAX = 40
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_DEPTH_MAX = 64
_REFERENCES_MAX = 20
_EXACT_INTEGER_MAX = 2**53 - 1


def coerce(value: Any, schema: Any, root: Any = None) -> Any:
    """Return `value` in the form that `schema` asks for; the input itself is not changed.

    `schema` is a JSON Schema, such as a tool's `args_schema`, and `value` the arguments, or a property's schema and its
    value. `root` is the document that `$ref`s inside it point into; left out, it is `schema`. A `$ref` that leads
    elsewhere, and a schema that names no type, leave the value as it is; of `anyOf` and `oneOf` the one alternative
    that is not null counts. Raises nothing for any JSON-like input.
    """
    return _coerce(value, schema, _Coercion(schema if root is None else root), _DEPTH_MAX)


@dataclass(slots=True)
class _Coercion:
    """One call: the document, and the `required` of each schema met, as a set (a list may hold thousands of items)."""

    root: Any
    required: dict[int, frozenset[str]] = field(default_factory=dict)

    def required_of(self, schema: Schema) -> frozenset[str]:
        if id(schema) not in self.required:
            named = schema.get("required")
            names = named if isinstance(named, list) else []
            self.required[id(schema)] = frozenset(name for name in names if isinstance(name, str))
        return self.required[id(schema)]


def _coerce(value: Any, schema: Any, run: _Coercion, depth: int) -> Any:
    target = resolve_target(schema, run.root)
    if depth <= 0 or target is None:
        return value
    types = _types(target)
    if not types:
        return value
    if isinstance(value, list) and "array" not in types:
        return _coerce(value[0], target, run, depth - 1) if len(value) == 1 else value
    if isinstance(value, list):
        return _items(value, target, run, depth)
    if isinstance(value, dict):
        return _properties(value, target, run, depth) if "object" in types else value
    return _scalar(value, types) if isinstance(value, str) else value


def resolve_target(schema: Any, root: Any) -> Schema | None:
    """The schema that decides, past local references and an anyOf or oneOf with one alternative that is not null; None
    where there is none."""
    for _ in range(_REFERENCES_MAX):
        if not isinstance(schema, dict):
            return None
        if isinstance(schema.get("$ref"), str):
            schema = _referred(schema["$ref"], root)
        elif "type" not in schema and (only := _only_alternative(schema)) is not None:
            schema = only
        else:
            return schema
    return None


def _referred(reference: str, root: Any) -> Any:
    if not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].split("/")[1:]:
        name = decode_step(step)
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _only_alternative(schema: Schema) -> Any:
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            left = [branch for branch in branches if branch != {"type": "null"}]
            return left[0] if len(left) == 1 else None
    return None


def _types(schema: Schema) -> set[str]:
    """Name the types that the schema allows; where it names none, those of its `enum` or `const`."""
    named = schema.get("type")
    if isinstance(named, str):
        return {named}
    if isinstance(named, list):
        return {name for name in named if isinstance(name, str)}
    allowed = schema["enum"] if isinstance(schema.get("enum"), list) else [schema["const"]] if "const" in schema else []
    return {_type_of(item) for item in allowed}


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names: dict[type, str] = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _items(value: list[Any], schema: Schema, run: _Coercion, depth: int) -> list[Any]:
    first = schema.get("prefixItems")
    own = first if isinstance(first, list) else []
    rest = schema.get("items")
    return [_coerce(item, own[i] if i < len(own) else rest, run, depth - 1) for i, item in enumerate(value)]


def _properties(value: dict[str, Any], schema: Schema, run: _Coercion, depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    kept = run.required_of(schema)
    return {
        key: _coerce(item, known.get(key, schema.get("additionalProperties")), run, depth - 1)
        for key, item in value.items()
        if key in kept or not _is_left_out(item, known.get(key), run)
    }


def _is_left_out(item: Any, schema: Any, run: _Coercion) -> bool:
    """Whether nobody set an optional property."""
    target = resolve_target(schema, run.root) if isinstance(item, list) else None
    has_default = target is not None and "array" in _types(target) and bool(target.get("default"))
    return not has_default and _is_unset(item, _DEPTH_MAX)


def _is_unset(value: Any, depth: int) -> bool:
    if isinstance(value, list) and depth:
        return all(_is_unset(item, depth - 1) for item in value)
    if isinstance(value, dict) and value and depth:
        return all(_is_unset(item, depth - 1) for item in value.values())
    return value is None or value == ""


def _scalar(text: str, types: set[str]) -> Any:
    if "string" in types:
        return text
    if types & {"number", "integer"} and (number := _number(text)) is not None:
        return number
    if "boolean" in types and text in ("true", "false"):
        return text == "true"
    return text


def _number(text: str) -> int | float | None:
    stripped = text.strip()
    if len(stripped) > _NUMBER_CHARACTERS_MAX or not _NUMBER.fullmatch(stripped):
        return None
    number = float(stripped)
    if abs(number) <= _EXACT_INTEGER_MAX and number.is_integer():
        return int(number)
    return None if number in (float("inf"), float("-inf")) else number
