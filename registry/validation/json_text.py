"""JSON with places: a strict reader, and a walker that finds where a value stands in the author's text.

Why our own walker, and not a parser that keeps every position: the values come from the standard library's C reader
(10 ms for 1 MiB), and places are looked up only for what was found wrong. Readers that keep all positions build one
object a token, which costs seconds and hundreds of MiB on a hostile file of 1 MiB; the small libraries that do it
(json-source-map and its kin) neither are strict nor bound themselves. A property test holds that both read the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from registry.validation.problems import Path, PathStep

LEVELS_MAX: Final = 64
INTEGER_MAX: Final = 2**53 - 1
FAULTS_MAX: Final = 5000

# Possessive quantifiers: a string without its end must not be tried again from inside.
_STRING = r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"'
_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING_AT = re.compile(_STRING)
_SCALAR_AT = re.compile(r"[^\s,\]}]++")
_STRUCTURE = re.compile(rf"{_STRING}|[\[\]{{}}]")
_SIBLINGS = re.compile(rf"{_STRING}|[\[\]{{}},]")
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:\"]++")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class JsonFault:
    """A breach of the strict rules: what, where in the value, where in the text (code points from 0)."""

    code: str
    path: Path
    message: str
    hint: str
    offset: int


@dataclass(frozen=True, slots=True)
class JsonText:
    """`readable` is False where no value could be made of the text; the faults say why."""

    value: Any
    readable: bool
    faults: tuple[JsonFault, ...] = ()


def read(text: str) -> JsonText:
    """Read one JSON document under the rules of CONTRACT 1; never raises.

    A text with duplicate keys (the last wins) or numbers out of range (they come back clamped) stays readable, so that
    the rest of it can still be checked.
    """
    nul = text.find("\0")
    if nul != -1:
        hint = "Remove the NUL character."
        return _unreadable(JsonFault("TEXT_NUL", (), "The file holds a NUL character (U+0000)", hint, nul))
    deep = _first_too_deep(text)
    if deep is not None:
        message = f"More than {LEVELS_MAX} levels of lists and objects"
        return _unreadable(JsonFault("JSON_TOO_DEEP", (), message, "Flatten the structure.", deep))
    loader = _StrictLoader()
    try:
        value = loader.load(text)
    except _NotJson as error:
        return _unreadable(error.fault)
    if not loader.suspicious and not _SURROGATE.search(text) and "\\u0000" not in text:
        return JsonText(value, readable=True)
    faults = tuple(_faults(text))
    # Past FAULTS_MAX nobody has looked: half a surrogate pair there could not be stored.
    readable = len(faults) < FAULTS_MAX and all(
        fault.code in ("JSON_DUPLICATE_KEY", "JSON_NUMBER_OUT_OF_RANGE") for fault in faults
    )
    return JsonText(value if readable else None, readable, faults)


def _unreadable(fault: JsonFault) -> JsonText:
    return JsonText(None, readable=False, faults=(fault,))


def _first_too_deep(text: str) -> int | None:
    if text.count("[") + text.count("{") <= LEVELS_MAX:
        return None
    depth = 0
    for match in _STRUCTURE.finditer(text):
        character = text[match.start()]
        if character in "[{":
            depth += 1
            if depth > LEVELS_MAX:
                return match.start()
        elif character in "]}":
            depth -= 1
    return None


class _NotJson(Exception):
    def __init__(self, fault: JsonFault) -> None:
        self.fault = fault


@dataclass
class _StrictLoader:
    """The standard reader with hooks that notice what JSON forbids and Python lets through."""

    suspicious: bool = False
    constant: str = ""

    def load(self, text: str) -> Any:
        try:
            return json.loads(
                text,
                object_pairs_hook=self._object,
                parse_int=self._integer,
                parse_float=self._float,
                parse_constant=self._constant,
            )
        except json.JSONDecodeError as error:
            raise _NotJson(_syntax_fault(text, error)) from None
        except RecursionError:
            # The depth was counted before, so this is a text whose brackets do not pair.
            raise _NotJson(JsonFault("JSON_INVALID", (), "The brackets do not pair", "", 0)) from None
        except _Constant:
            at = _find_constant(text, self.constant)
            message = f"{self.constant} is not JSON"
            hint = "JSON has numbers only; use null where there is none."
            raise _NotJson(JsonFault("JSON_INVALID", (), message, hint, at)) from None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.suspicious = True
        return value

    def _integer(self, digits: str) -> int:
        # Python refuses to read thousands of digits, and needs a long time for some fewer.
        if len(digits) > 17 or abs(int(digits)) > INTEGER_MAX:
            self.suspicious = True
            return -INTEGER_MAX if digits.startswith("-") else INTEGER_MAX
        return int(digits)

    def _float(self, digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            self.suspicious = True
            return math.copysign(1.7976931348623157e308, number)
        return number

    def _constant(self, name: str) -> Any:
        self.constant = name
        raise _Constant


class _Constant(Exception):
    pass


def _syntax_fault(text: str, error: json.JSONDecodeError) -> JsonFault:
    offset = min(error.pos, len(text))
    hint = "Check the commas, quotes and brackets just before this place."
    if not text.strip():
        return JsonFault("JSON_INVALID", (), "The file is empty", "Write [] or {} at least.", 0)
    seen = text[offset : offset + 1]
    before = text[:offset].rstrip()[-1:]
    if "delimiter" in error.msg:
        hint = "A comma or a closing bracket is missing before this place."
    elif seen in "]}" and before == ",":
        hint = "Remove the comma before this bracket: JSON allows none there."
    elif seen == "'":
        hint = "Use double quotes."
    elif "control character" in error.msg:
        hint = "Write line breaks and tabs in a string as \\n and \\t."
    elif seen in ("/", "#"):
        hint = "JSON has no comments."
    elif error.msg.startswith("Extra data"):
        hint = "There is more text behind the end of the document."
    return JsonFault("JSON_INVALID", (), f"Not valid JSON: {error.msg}", hint, offset)


def _find_constant(text: str, constant: str) -> int:
    for match in _TOKEN.finditer(text):
        if match.group() == constant:
            return match.start()
    return 0


@dataclass(slots=True)
class _Container:
    """An open list or object during the walk over all tokens."""

    is_object: bool
    index: int = 0
    key: str = ""
    expects_key: bool = False
    keys: set[str] = field(default_factory=set)

    @property
    def step(self) -> PathStep:
        return self.key if self.is_object else self.index


def _faults(text: str) -> Iterator[JsonFault]:
    """Every duplicate key, number out of range and lone surrogate of a well-formed text, at most FAULTS_MAX."""
    yield from islice(_all_faults(text), FAULTS_MAX)


def _all_faults(text: str) -> Iterator[JsonFault]:
    stack: list[_Container] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        first = token[0]
        if first in "[{":
            stack.append(_Container(is_object=first == "{", expects_key=first == "{"))
        elif first in "]}":
            stack.pop()
        elif first == ",":
            _next_sibling(stack[-1])
        elif first == ":":
            stack[-1].expects_key = False
        elif first == '"':
            yield from _string_faults(token, match.start(), stack)
        elif first in "-0123456789":
            yield from _number_faults(token, match.start(), stack)


def _next_sibling(container: _Container) -> None:
    container.index += 1
    container.expects_key = container.is_object


def _path(stack: list[_Container]) -> Path:
    return tuple(container.step for container in stack)


def _string_faults(token: str, offset: int, stack: list[_Container]) -> Iterator[JsonFault]:
    is_key = bool(stack) and stack[-1].expects_key
    text = json.loads(token) if "\\" in token else token[1:-1]
    if is_key:
        container = stack[-1]
        container.key = text
        if text in container.keys:
            message = f"The key {_shown(text)} stands twice in one object"
            yield JsonFault("JSON_DUPLICATE_KEY", _path(stack), message, "Remove one of the two.", offset)
        container.keys.add(text)
    if "\\" not in token:
        return
    if any("\ud800" <= character <= "\udfff" for character in text):
        message = "A \\u escape is one half of a surrogate pair"
        hint = "Write both halves, or the character itself."
        yield JsonFault("JSON_LONE_SURROGATE", _path(stack), message, hint, offset)
    if "\0" in text:
        yield JsonFault("TEXT_NUL", _path(stack), "The text holds \\u0000 (NUL)", "Remove the escape.", offset)


def _number_faults(token: str, offset: int, stack: list[_Container]) -> Iterator[JsonFault]:
    whole = not any(character in token for character in ".eE")
    if whole and (len(token) > 17 or abs(int(token)) > INTEGER_MAX):
        message = f"The whole number {_shorten(token)} is beyond 2^53-1, which not every client can read exactly"
        yield JsonFault("JSON_NUMBER_OUT_OF_RANGE", _path(stack), message, "Write it as a text.", offset)
    elif not whole and math.isinf(float(token)):
        message = f"The number {_shorten(token)} is out of range"
        yield JsonFault("JSON_NUMBER_OUT_OF_RANGE", _path(stack), message, "Use a smaller number.", offset)


def _shown(text: str) -> str:
    return json.dumps(_shorten(text), ensure_ascii=True)


def _shorten(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands: `start` of the value itself, `key` of its key (None in a list or at the root)."""

    start: int
    key: int | None = None


@dataclass
class _Wanted:
    """The paths looked for, as a tree: one node a step."""

    path: Path = ()
    children: dict[PathStep, _Wanted] = field(default_factory=dict)


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Span]:
    """Where each path stands in a well-formed text. A path that leads nowhere is given the nearest ancestor's place.

    Subtrees without a wanted path are passed over at the speed of one regular expression.
    """
    wanted = list(paths)
    root = _Wanted()
    for path in wanted:
        node = root
        for depth, step in enumerate(path):
            node = node.children.setdefault(step, _Wanted(path[: depth + 1]))
    spans: dict[Path, Span] = {}
    _Walker(text, spans).value(_skip_space(text, 0), None, root)
    return {path: _nearest(spans, path) for path in wanted}


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

    def value(self, at: int, key_at: int | None, wanted: _Wanted | None) -> int:
        """Pass one value that begins at `at`; answers the offset behind it."""
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

    def _object(self, at: int, wanted: _Wanted) -> int:
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

    def _list(self, at: int, wanted: _Wanted) -> int:
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
        for match in _STRUCTURE.finditer(self.text, at):
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
    """Where the `index`-th code point of the string that begins at `start` (its quote) stands in the text."""
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


def pointer(path: Path) -> str:
    """RFC 6901."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
