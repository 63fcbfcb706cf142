"""Objects as lines that a person can type: `entries.0.weight = 84.2`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

LINES_MAX: Final = 200
_DEPTH_MAX: Final = 10
_INDEX_MAX: Final = 99


class LineInvalid(ValueError):
    """A line that cannot be read; the message quotes it and says what is expected."""


def parse_lines(text: str) -> dict[str, Any]:
    """The object. A part of a name that is a number is a place in a list, from 0; a value that is JSON is that value,
    and any other is a text. Raises `LineInvalid`."""
    found: dict[str, Any] = {}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > LINES_MAX:
        raise LineInvalid(f"At most {LINES_MAX} lines.")
    for line in lines:
        name, sign, value = line.partition("=")
        path = [part.strip() for part in name.split(".")]
        if not sign or not all(path) or len(path) > _DEPTH_MAX:
            raise LineInvalid(f"“{line[:80]}” is not name = value, such as entries.0.weight = 84.2")
        _set(found, path, _read_value(value.strip()), line)
    return {name: _with_lists(value) for name, value in found.items()}


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _set(found: dict[str, Any], path: list[str], value: Any, line: str) -> None:
    at: Any = found
    for part in path[:-1]:
        at = at.setdefault(part, {})
        if not isinstance(at, dict):
            raise LineInvalid(f"“{line[:80]}”: {part} has a value already")
    at[path[-1]] = value


def _with_lists(value: Any) -> Any:
    """Objects whose names are 0, 1, 2 ... are lists."""
    if not isinstance(value, dict):
        return value
    whole = {name: _with_lists(each) for name, each in value.items()}
    places = sorted(int(name) for name in whole if name.isascii() and name.isdigit() and int(name) <= _INDEX_MAX)
    if whole and places == list(range(len(whole))):
        return [whole[str(place)] for place in places]
    return whole


def format_lines(value: Mapping[str, Any]) -> str:
    """The lines of an object, which `parse_lines` reads as the same."""
    return "\n".join(f"{name} = {_write_value(each)}" for name, each in _leaves(value, ""))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    rows = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else None
    if rows is None or not value:
        yield name, value
        return
    for key, each in rows:
        yield from _leaves(each, f"{name}.{key}" if name else str(key))


def _write_value(value: Any) -> str:
    if isinstance(value, str) and value == value.strip() and "\n" not in value and isinstance(_read_value(value), str):
        return value
    return json.dumps(value, ensure_ascii=False)
