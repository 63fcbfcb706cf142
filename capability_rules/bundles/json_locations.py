"""Where a value is in the author's JSON text: a walker that looks up only the places of findings.

Why our own walker, and not a parser that keeps every position: the values come from the standard library's C reader
(10 ms for 1 MiB). Readers that keep all positions build one object a token, which costs seconds and hundreds of MiB on
a hostile file of 1 MiB; the small libraries that do it (json-source-map and its kin) neither are strict nor bound
themselves. A property test checks that both read the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from capability_rules.bundles.json_reader import STRING, STRUCTURE
from capability_rules.bundles.problem import Path, PathStep
from capability_rules.bundles.text import Lines

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_STRING_AT: Final = re.compile(STRING)
_SCALAR_AT: Final = re.compile(r"[^\s,\]}]++")
_SIBLINGS: Final = re.compile(rf"{STRING}|[\[\]{{}},]")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value is: `start` of the value itself, `key` of its key (None in a list or at the root)."""

    start: int
    key: int | None = None


@dataclass
class _PointerNode:
    """The paths looked for, as a tree: one node a step."""

    path: Path = ()
    children: dict[PathStep, _PointerNode] = field(default_factory=dict)


def locate_pointers(text: str, paths: Iterable[Path]) -> dict[Path, Span]:
    """Where each path is in a well-formed text. A path that leads nowhere is given the nearest ancestor's place.

    Subtrees without a wanted path are passed over at the speed of one regular expression.
    """
    wanted = list(paths)
    root = _PointerNode()
    for path in wanted:
        node = root
        for depth, step in enumerate(path):
            node = node.children.setdefault(step, _PointerNode(path[: depth + 1]))
    spans: dict[Path, Span] = {}
    _Walker(text, spans).value(_skip_space(text, 0), None, root)
    return {path: _nearest(spans, path) for path in wanted}


def locate_path(text: str, path: Path) -> tuple[int, int]:
    """The line and column of one path, as `locate_pointers` finds it."""
    return Lines(text).place(locate_pointers(text, [path])[path].start)


def _nearest(spans: dict[Path, Span], path: Path) -> Span:
    while path not in spans:
        if not path:
            return Span(0)
        path = path[:-1]
    return spans[path]


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


@dataclass
class _Walker:
    text: str
    spans: dict[Path, Span]

    def value(self, at: int, key_at: int | None, wanted: _PointerNode | None) -> int:
        """Pass one value that begins at `at`; returns the offset behind it."""
        if wanted is None:
            return self._skip(at)
        self.spans[wanted.path] = Span(at, key_at)
        if not wanted.children:
            return self._skip(at)
        if self.text[at] == "{":
            return self._object(at + 1, wanted)
        if self.text[at] == "[":
            return self._list(at + 1, wanted)
        return self._skip(at)

    def _object(self, at: int, wanted: _PointerNode) -> int:
        at = _skip_space(self.text, at)
        while self.text[at] != "}":
            key_at = at
            at = self._string_end(at)
            raw = self.text[key_at + 1 : at - 1]
            key = json.loads(f'"{raw}"') if "\\" in raw else raw
            at = _skip_space(self.text, _skip_space(self.text, at) + 1)
            at = _skip_space(self.text, self.value(at, key_at, wanted.children.get(key)))
            if self.text[at] == ",":
                at = _skip_space(self.text, at + 1)
        return at + 1

    def _list(self, at: int, wanted: _PointerNode) -> int:
        last = max((step for step in wanted.children if isinstance(step, int)), default=-1)
        at = _skip_space(self.text, at)
        index = 0
        while self.text[at] != "]" and index <= last:
            if index not in wanted.children:
                following = min(step for step in wanted.children if isinstance(step, int) and step > index)
                at, index = self._skip_siblings(at, index, following)
                continue
            at = _skip_space(self.text, self.value(at, None, wanted.children[index]))
            index += 1
            if self.text[at] == ",":
                at = _skip_space(self.text, at + 1)
        return self._close(at)

    def _skip_siblings(self, at: int, index: int, following: int) -> tuple[int, int]:
        """From the element `index` at `at` to the element `following`, or to the bracket that ends the list."""
        depth = 0
        for match in _SIBLINGS.finditer(self.text, at):
            character = self.text[match.start()]
            if character in "[{":
                depth += 1
            elif character in "]}":
                if depth == 0:
                    return match.start(), following + 1
                depth -= 1
            elif character == "," and depth == 0:
                index += 1
                if index == following:
                    return _skip_space(self.text, match.end()), index
        return len(self.text) - 1, following + 1

    def _close(self, at: int) -> int:
        """From inside a list to the offset behind its bracket."""
        depth = 0
        for match in STRUCTURE.finditer(self.text, at):
            character = self.text[match.start()]
            if character in "[{":
                depth += 1
            elif character in "]}":
                if depth == 0:
                    return match.end()
                depth -= 1
        return len(self.text)

    def _skip(self, at: int) -> int:
        first = self.text[at]
        if first == '"':
            return self._string_end(at)
        if first in "[{":
            return self._close(at + 1)
        match = _SCALAR_AT.match(self.text, at)
        return match.end() if match else at + 1

    def _string_end(self, at: int) -> int:
        match = _STRING_AT.match(self.text, at)
        if match is None:
            raise ValueError(f"no string at offset {at}: locate() takes well-formed JSON alone")
        return match.end()


def string_offset(text: str, start: int, index: int) -> int:
    """Where the `index`-th code point of the string that begins at `start` (its quote) is in the text."""
    match = _STRING_AT.match(text, start)
    if match is None:
        return start
    at, end = start + 1, match.end() - 1
    while index > 0 and at < end:
        at += _escape_length(text, at)
        index -= 1
    return min(at, end)


def _escape_length(text: str, at: int) -> int:
    """How many characters of the text one code point of the string takes."""
    if text[at] != "\\":
        return 1
    if text[at + 1] != "u":
        return 2
    high = "\\u" + text[at + 2 : at + 4].lower()
    is_pair = high in ("\\ud8", "\\ud9", "\\uda", "\\udb") and text[at + 6 : at + 8] == "\\u"
    return 12 if is_pair else 6


def build_pointer(path: Path) -> str:
    """The JSON Pointer (RFC 6901) of a path."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
