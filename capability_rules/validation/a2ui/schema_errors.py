"""From a JSON Schema verdict to words that an author can act on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from capability_kit.json_schema.evaluator import first_error
from capability_rules.bundles.problem import Path
from capability_rules.validation.a2ui.budget import Budget, join_words, quote_value
from capability_rules.validation.a2ui.catalog import CatalogSchema
from capability_rules.validation.rules.json_schema import shorten_lists

_ALTERNATIVES = (Kind.OneOfNotValid, Kind.OneOfMultipleValid, Kind.AnyOf)

JsonObject = dict[str, Any]

# The slow result, with every error, costs up to 20 microseconds an item, and none of it can be had lazily.
_ITEMS_READ_MAX = 200

_CALL_RETURNS = {
    "DynamicString": ("a string", "string"),
    "DynamicNumber": ("a number", "number"),
    "DynamicBoolean": ("true or false", "boolean"),
    "DynamicStringList": ("an array of strings", "array"),
    "DynamicValue": ("a string, number, true, false or array", ""),
}
_TYPES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One disagreement with a schema: where, counted from the value that was checked, and in which words."""

    path: Path
    message: str
    hint: str


def find_schema_errors(checked: CatalogSchema, value: object, work: Budget) -> Iterator[SchemaError]:
    """Yield what a schema refuses in `value`; nothing where the value is valid.

    Long lists are read in part; where the error is further on, only the first one found is reported.
    """
    first = first_error(checked.validator, value)
    if first is None:
        return
    told: set[Path] = set()
    for error in list(checked.validator.iter_errors(shorten_lists(value, _ITEMS_READ_MAX))) or [first]:
        fault = _fault(error, checked.schema, work)
        # Where the type is wrong, that none of the alternatives fits says nothing more.
        if fault.path not in told or not isinstance(error.kind, _ALTERNATIVES):
            yield fault
        told.add(fault.path)


def _fault(error: jsonschema_rs.ValidationError, schema: JsonObject, work: Budget) -> SchemaError:
    node, definition = _follow(schema, error.schema_path)
    return SchemaError(tuple(error.instance_path), *_describe(error, node, definition, work))


def _follow(schema: JsonObject, schema_path: list[str | int]) -> tuple[Any, str]:
    """Walk to the schema that contains the failed keyword; also name the `$defs` entry, where it is one as a whole."""
    node: Any = schema
    for step in schema_path[:-1]:
        node = node[step]
    is_definition = len(schema_path) == 3 and schema_path[0] == "$defs"
    return node, str(schema_path[1]) if is_definition else ""


def _describe(error: jsonschema_rs.ValidationError, node: Any, definition: str, work: Budget) -> tuple[str, str]:
    match error.kind:
        case Kind.Required(property=missing):
            return f"the required '{missing}' is missing", f'Add "{missing}".'
        case Kind.AdditionalProperties(unexpected=unexpected):
            return _unknown_keys(unexpected, list(node.get("properties", {})), work)
        case Kind.Enum(options=options):
            choices = [str(option) for option in options]
            hint = work.did_you_mean(error.instance, choices, f"Write one of: {join_words(choices, 80)}.")
            return f"expected one of {join_words(choices)}; found {quote_value(error.instance)}", hint
        case Kind.Type(types=types):
            expected = " or ".join(_TYPES.get(name, name) for name in sorted(types))
            return f"expected {expected}; found {quote_value(error.instance)}", f"Write {expected}."
        case Kind.Constant(expected_value=expected):
            wanted = quote_value(expected)
            return f"expected {wanted}; found {quote_value(error.instance)}", f"Write {wanted}."
        case Kind.OneOfNotValid() | Kind.OneOfMultipleValid() | Kind.AnyOf():
            return _none_fits(error.instance, node, definition, work)
        case Kind.Pattern(pattern=pattern):
            return _wrong_text(pattern, error.instance)
        case Kind.MinItems(limit=limit):
            return f"expected at least {limit} items; found fewer", f"List at least {limit}."
    return error.message[:200], "Change the value as the message says."


def _unknown_keys(unexpected: list[str], known: list[str], work: Budget) -> tuple[str, str]:
    names = ", ".join(f"'{name[:40]}'" for name in unexpected[:5])
    message = f"there is no property {names}" + (" and others" if len(unexpected) > 5 else "")
    meant = [found for name in unexpected[:5] if (found := work.nearest(name, known))]
    if meant:
        return message, "Did you mean " + ", ".join(f"'{name}'" for name in meant) + "?"
    return message, f"Remove it. The properties here are: {join_words(known, 20)}."


def _none_fits(value: object, node: Any, definition: str, work: Budget) -> tuple[str, str]:
    if definition == "Action":
        message = f"expected either an 'event' or a 'functionCall'; found {quote_value(value)}"
        return message, 'Write {"event": {"name": "..."}} to tell the agent.'
    if definition in _CALL_RETURNS:
        return _not_dynamic(value, *_CALL_RETURNS[definition])
    required = [branch["required"][0] for branch in _branches(node) if branch.get("required")]
    if required and isinstance(value, dict):
        choice = " or ".join(f"'{name}'" for name in required)
        return f"expected {choice}; found neither", f"Add {choice}."
    names = [name for branch in _branches(node) for name in branch.get("enum", [])]
    otherwise = f"Write one of: {join_words(names, 80)}." if names else "Change the value."
    return f"no allowed form fits {quote_value(value)}", work.did_you_mean(value, names, otherwise)


def _branches(node: Any) -> list[JsonObject]:
    found = node.get("oneOf") or node.get("anyOf") or [] if isinstance(node, dict) else []
    return [branch for branch in found if isinstance(branch, dict)]


def _not_dynamic(value: object, expected: str, returns: str) -> tuple[str, str]:
    """Separate a wrong literal from a binding with extra keys, and from a call that returns another type."""
    forms = f'Write {expected}, a binding such as {{"path": "/name"}}, or a function call.'
    if isinstance(value, dict) and "path" in value:
        return f'a binding is {{"path": "..."}} and nothing else; found {quote_value(value)}', forms
    if isinstance(value, dict) and isinstance(value.get("call"), str) and returns:
        came = quote_value(value.get("returnType"))
        hint = f'Call a function that returns {expected}, and write "returnType": "{returns}" or leave it out.'
        return f"expected a call that returns {expected}; '{value['call'][:40]}' says {came}", hint
    if isinstance(value, dict) and "literalString" in value:
        return "this is the form of A2UI v0.8", "Write the text itself in place of the object."
    came = quote_value(value) if not isinstance(value, dict) else "an object"
    return f"expected {expected}, a binding or a call; found {came}", forms


def _wrong_text(pattern: str, value: object) -> tuple[str, str]:
    if "#" in pattern:
        return f"expected a color such as #1A73E8; found {quote_value(value)}", "Write # and six digits or letters A-F."
    message = f"expected a date, a time, or both with T between; found {quote_value(value)}"
    return message, "Write 2026-01-15, 08:30 or 2026-01-15T08:30."
