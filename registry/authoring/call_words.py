"""Calls and what they return in words: what a person reads in place of JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.json_text import as_mapping, parse_json
from registry.authoring.form_generator import name_tool, name_value

_ROWS_MAX: Final = 100
_VALUE_LENGTH_MAX: Final = 1000
# The tools of a session that open a capability and a form, as runtimes of agents name them (docs/contract.md 7).
_LOAD: Final = "capability_skill_load"
_FORM: Final = "form_open"
# Names with values: `("Entries 1 weight", "84.2")`.
ValueRows = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call in words: `kind` is `load`, `form`, or empty for a tool; `name` is that of what is called or opened."""

    kind: str
    name: str
    rows: ValueRows


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message of a conversation; of a tool `rows` are what it returned, in place of a text."""

    role: str
    text: str
    calls: tuple[ShownCall, ...] = ()
    rows: ValueRows = ()
    is_error: bool = False


def describe_message(role: str, text: str, calls: Iterable[tuple[str, Any]], names: Mapping[str, str]) -> ShownMessage:
    """`calls` are names of tools with arguments; `names` those of capabilities and forms by ID."""
    if role == "tool":
        return ShownMessage(role, "", (), *describe_result(text))
    return ShownMessage(role, text, tuple(_describe_call(name, given, names) for name, given in calls))


def _describe_call(name: str, given: Any, names: Mapping[str, str]) -> ShownCall:
    wanted = str(as_mapping(given).get({_LOAD: "capability_id", _FORM: "schema_id"}.get(name, ""), ""))
    if name == _LOAD:
        return ShownCall("load", names.get(wanted, wanted), ())
    if name == _FORM:
        return ShownCall("form", names.get(wanted, wanted), describe_values(as_mapping(given).get("data")))
    return ShownCall("", name_called(name), describe_values(given))


def name_called(name: str) -> str:
    """A tool in words; what stands before `__` is its capability: `visits__visit_book` is "Book visit"."""
    return name_tool(name.rpartition("__")[2])


def describe_values(value: Any) -> ValueRows:
    """Names with values in words, those within others behind them."""
    return tuple(_leaves(value, ""))[:_ROWS_MAX]


def describe_result(text: str) -> tuple[ValueRows, bool]:
    """What a tool returned, JSON or a text, and whether it is an error."""
    found = parse_json(text)
    found = text if found is None else found
    return describe_values(found), "error" in as_mapping(found)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, f"{name} {key}")
    elif isinstance(value, list) and any(isinstance(one, (Mapping, list)) for one in value):
        for number, each in enumerate(value, 1):
            yield from _leaves(each, f"{name} {number}")
    elif value not in (None, "", {}):
        words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        words = {"True": "yes", "False": "no"}.get(words, words) if isinstance(value, bool) else words
        yield name_value(name) if name else "", words[:_VALUE_LENGTH_MAX]
