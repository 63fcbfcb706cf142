"""The smallest change of an author's text: everything that is not touched stays as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from capability_kit.json_pointer import decode_step
from capability_rules.bundles.json_locations import locate_pointers
from capability_rules.bundles.problem import Path, PathStep

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
NOWHERE: Final = object()


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Put `text` in the place of what is from `start` to `end`; both count code points from 0."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after all of them; each counts in the text as it was."""
    for edit in sorted(edits, key=lambda one: one.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def to_json(value: Any) -> str:
    """The text of a JSON file of ours."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def value_at(text: str, path: Path) -> Any:
    """What a path leads to in a JSON text; None where it leads nowhere."""
    value = reduce(follow_step, path, json.loads(text))
    return None if value is NOWHERE else value


def path_of(text: str, pointer: str) -> Path:
    """A JSON Pointer as a path into a JSON text."""
    return follow_pointer(json.loads(text), pointer)[0]


def follow_pointer(value: Any, pointer: str) -> tuple[Path, Any]:
    """A JSON Pointer (RFC 6901) as a path, whose numbers are indexes where there is a list, and the value there.

    The value is `NOWHERE` where it leads nowhere.
    """
    path: list[PathStep] = []
    for raw in pointer.split("/")[1:]:
        word = decode_step(raw)
        path.append(int(word) if isinstance(value, list) and word.isdecimal() else word)
        value = follow_step(value, path[-1])
    return tuple(path), value


def follow_step(value: Any, step: PathStep) -> Any:
    """The value one step further, `NOWHERE` where there is none."""
    if isinstance(value, list):
        return value[step] if isinstance(step, int) and step < len(value) else NOWHERE
    return value.get(step, NOWHERE) if isinstance(value, dict) and isinstance(step, str) else NOWHERE


def replace_value(text: str, path: Path, value: Any) -> TextEdit:
    """Write another value where there is one."""
    start, end = _span(text, path)
    return TextEdit(start, end, _written(value, _indent_at(text, start)))


def rename_key(text: str, path: Path, name: str) -> TextEdit:
    """Give a key another name."""
    start = locate_pointers(text, [path])[path].key or 0
    return TextEdit(start, _end(text, start), json.dumps(name, ensure_ascii=False))


def add_key(text: str, path: Path, key: str, value: Any) -> TextEdit:
    """Write a further key at the end of the object at `path`."""
    entry = f"{json.dumps(key, ensure_ascii=False)}: "
    return _append(text, path, entry, value)


def add_item(text: str, path: Path, value: Any) -> TextEdit:
    """Write a further entry at the end of the list at `path`."""
    return _append(text, path, "", value)


def remove_value(text: str, path: Path) -> TextEdit:
    """Remove a key with its value, or an entry of a list, with the comma that goes with it."""
    span = locate_pointers(text, [path])[path]
    start, end = span.key if span.key is not None else span.start, _end(text, span.start)
    behind = _skip(text, end)
    if text[behind] == ",":
        return TextEdit(start, _skip(text, behind + 1), "")
    before = len(text[:start].rstrip())
    if text[before - 1] == ",":
        return TextEdit(before - 1, end, "")
    return TextEdit(before, behind, "")


def _append(text: str, path: Path, entry: str, value: Any) -> TextEdit:
    start, end = _span(text, path)
    inside = text[start + 1 : end - 1]
    outer = _indent_at(text, start)
    if not inside.strip():
        inner = outer + "  "
        return TextEdit(start + 1, end - 1, f"\n{inner}{entry}{_written(value, inner)}\n{outer}")
    last = start + 1 + len(inside.rstrip())
    if "\n" not in inside:
        return TextEdit(last, last, f", {entry}{_written(value, outer)}")
    inner = _indent_at(text, _skip(text, start + 1))
    return TextEdit(last, last, f",\n{inner}{entry}{_written(value, inner)}")


def _written(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")


def _span(text: str, path: Sequence[PathStep]) -> tuple[int, int]:
    start = locate_pointers(text, [tuple(path)])[tuple(path)].start
    return start, _end(text, start)


def _end(text: str, start: int) -> int:
    return int(_DECODER.raw_decode(text, start)[1])


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _indent_at(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
