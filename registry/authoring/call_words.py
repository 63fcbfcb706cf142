"""Calls and what they return in words: what a person reads in place of JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from capability_kit.json_text import as_mapping, parse_json
from registry.authoring.form_generator import name_tool, name_value

_ROWS_MAX: Final = 100
_VALUE_LENGTH_MAX: Final = 1000
# Names with values: `("Entries 1 weight", "84.2")`.
ValueRows = tuple[tuple[str, str], ...]


def name_called(name: str) -> str:
    """A tool in words; what stands before `__` is its capability: `visits__visit_book` is "Book visit"."""
    return name_tool(name.rpartition("__")[2])


def describe_values(value: Any) -> ValueRows:
    """Names with values in words, those within others behind them."""
    return tuple(_leaves(value, ""))[:_ROWS_MAX]


def describe_result(text: str) -> tuple[ValueRows, bool]:
    """What a tool returned, JSON or a text, and whether it is an error."""
    try:
        found = parse_json(text)
    except ValueError:
        found = text
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
