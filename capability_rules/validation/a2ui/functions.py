"""Group 2: do the functions that a definition calls exist, and do their arguments fit?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from capability_kit.json_schema.pattern_cost import CHARACTERS_MAX, COST_MAX, read_pattern
from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui.budget import Budget, build_finding, component_name, join_words, quote_value
from capability_rules.validation.a2ui.catalog import function_names, function_schema
from capability_rules.validation.a2ui.entry import find_expression
from capability_rules.validation.a2ui.expressions import CallUse, ExpressionError, read_expressions
from capability_rules.validation.a2ui.schema_errors import find_schema_errors
from capability_rules.validation.a2ui.surface import Component
from capability_rules.validation.a2ui.urls import check_url

_EXPRESSION_HINT = "Write ${/path}, ${path} inside a list, or ${function(name: value)}."


def check_functions(component: Component, work: Budget) -> Iterator[RawFinding]:
    """Check every call in one component, those in the `${...}` of its texts included."""
    owner = component_name(component.body)
    for site in component.sites:
        if isinstance(site.node.get("call"), str) and len(site.path) > len(component.path):
            yield from _check_call(site.path, site.node, owner, work)
            text = find_expression(site.node)
            if text is not None:
                yield from _check_expressions((*site.path, "args", "value"), text, owner, work)


def _check_call(path: Path, call: dict[str, Any], owner: str, work: Budget) -> Iterator[RawFinding]:
    name = call["call"]
    if name not in function_names():
        yield build_finding("UI_FUNCTION_UNKNOWN", (*path, "call"), _unknown(owner, name), _hint_unknown(name, work))
        return
    for fault in find_schema_errors(function_schema(name), call, work):
        yield build_finding("UI_FUNCTION_ARGS", (*path, *fault.path), f"{owner}, '{name}': {fault.message}", fault.hint)
    args = call.get("args")
    if isinstance(args, dict):
        yield from _check_args((*path, "args"), name, args, owner)


def _check_args(path: Path, name: str, args: dict[str, Any], owner: str) -> Iterator[RawFinding]:
    for key, value in args.items():
        if value is None:
            message = f"{owner}, '{name}': the argument '{key[:40]}' is null, which A2UI refuses"
            yield build_finding("UI_FUNCTION_ARGS", (*path, key), message, "Give a value, or leave the argument out.")
    pattern = args.get("pattern")
    if name == "regex" and isinstance(pattern, str) and not is_regular_expression(pattern):
        message = f"{owner}: {quote_value(pattern)} is not a regular expression that a browser can read"
        hint = "Check brackets and backslashes; in JSON a backslash is written twice."
        yield build_finding("UI_FUNCTION_ARGS", (*path, "pattern"), message, hint)
    elif name == "regex" and isinstance(pattern, str):
        yield from _check_pattern_cost((*path, "pattern"), pattern, owner)
    if name == "openUrl" and isinstance(args.get("url"), str):
        yield from check_url((*path, "url"), args["url"], owner)


def _check_pattern_cost(path: Path, pattern: str, owner: str) -> Iterator[RawFinding]:
    """A browser backtracks, and runs the pattern at each key that the user presses."""
    read = read_pattern(pattern) if len(pattern) <= CHARACTERS_MAX else None
    if read is None or read.cost > COST_MAX:
        message = f"{owner}: the pattern takes a browser much to compile"
        hint = "Shorten it, and write smaller numbers in its repeats."
        yield build_finding("UI_PATTERN_EXPENSIVE", path, message, hint)
    elif read.nested_repeat:
        message = f"{owner}: {quote_value(read.nested_repeat)} repeats what repeats: some texts keep a browser busy"
        hint = "Take one of the two repeats away, or put a character between them that only stands there."
        yield build_finding("UI_PATTERN_EXPENSIVE", path, message, hint)


def _check_expressions(path: Path, text: str, owner: str, work: Budget) -> Iterator[RawFinding]:
    try:
        found = read_expressions(text)
    except ExpressionError as fault:
        message = f"{owner}: {fault.message}"
        yield build_finding("UI_FUNCTION_ARGS", path, message, _EXPRESSION_HINT, offset=fault.offset)
        return
    for use in found.calls:
        yield from _check_called_inside(path, use, owner, work)


def _check_called_inside(path: Path, use: CallUse, owner: str, work: Budget) -> Iterator[RawFinding]:
    """Check a call written inside `${...}`. Its parts have no place of their own: all is reported at the text."""
    name, offset = use.call["call"], use.offset
    if name not in function_names():
        message, hint = _unknown(owner, name), _hint_unknown(name, work)
        yield build_finding("UI_FUNCTION_UNKNOWN", path, message, hint, offset=offset)
        return
    inner = list(_check_call((), use.call, owner, work))
    for found in inner:
        yield build_finding(found.code, path, found.message, found.hint, offset=offset)


def _unknown(owner: str, name: str) -> str:
    return f"{owner}: there is no function {quote_value(name)}"


def _hint_unknown(name: str, work: Budget) -> str:
    return work.did_you_mean(name, function_names(), f"The functions are: {join_words(function_names(), 20)}.")


def is_regular_expression(pattern: str) -> bool:
    """Whether a browser can compile `pattern` (ECMA-262). It is read, never run, and never compiled."""
    return _regex_format().is_valid(pattern)


@cache
def _regex_format() -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator({"format": "regex"}, validate_formats=True, offline=True)
