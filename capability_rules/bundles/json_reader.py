"""A strict reader of JSON: reports what the standard one accepts silently, with its place in the text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from capability_rules.bundles.problem import Path, PathStep

LEVELS_MAX: Final = 64
INTEGER_MAX: Final = 2**53 - 1
ERRORS_MAX: Final = 5000

# Possessive quantifiers: a string without its end must not be tried again from inside.
STRING: Final = r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"'
STRUCTURE: Final = re.compile(rf"{STRING}|[\[\]{{}}]")
_TOKEN = re.compile(rf"{STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:\"]++")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class JsonError:
    """A violation of the strict rules: what, where in the value, where in the text (code points from 0)."""

    code: str
    path: Path
    message: str
    hint: str
    offset: int


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """`readable` is False where the text could not be parsed; `faults` say why."""

    value: Any
    readable: bool
    faults: tuple[JsonError, ...] = ()


def read_json(text: str) -> ParsedJson:
    """Read one JSON document under the rules of docs/contract.md 1; never raises.

    A text with duplicate keys (the last wins) or numbers out of range (they are clamped) stays readable, so that
    the rest of it can still be checked.
    """
    nul = text.find("\0")
    if nul != -1:
        hint = "Remove the NUL character."
        return _unreadable(JsonError("TEXT_NUL", (), "The file holds a NUL character (U+0000)", hint, nul))
    deep = _first_too_deep(text)
    if deep is not None:
        message = f"More than {LEVELS_MAX} levels of lists and objects"
        return _unreadable(JsonError("JSON_TOO_DEEP", (), message, "Flatten the structure.", deep))
    loader = _StrictLoader(text)
    try:
        value = loader.load()
    except _NotJson as error:
        return _unreadable(error.fault)
    if not loader.suspicious and not _SURROGATE.search(text) and "\\u0000" not in text:
        return ParsedJson(value, readable=True)
    faults = tuple(islice(_find_faults(text), ERRORS_MAX))
    # Past ERRORS_MAX nothing was checked: half a surrogate pair there could not be stored.
    harmless = ("JSON_DUPLICATE_KEY", "JSON_NUMBER_OUT_OF_RANGE")
    readable = len(faults) < ERRORS_MAX and all(fault.code in harmless for fault in faults)
    return ParsedJson(value if readable else None, readable, faults)


def iterate_values(value: Any) -> Iterator[Any]:
    """Every value in a JSON value, itself included, in no order; without recursion, so that depth costs nothing."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, dict):
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def iterate_places(value: Any) -> Iterator[tuple[Path, Any]]:
    """As `iterate_values`, each with the path to it, in the order of the document."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        if isinstance(node, dict):
            waiting += [((*path, str(key)), inner) for key, inner in reversed(node.items())]
        elif isinstance(node, list):
            waiting += [((*path, index), node[index]) for index in reversed(range(len(node)))]


def _unreadable(fault: JsonError) -> ParsedJson:
    return ParsedJson(None, readable=False, faults=(fault,))


def _first_too_deep(text: str) -> int | None:
    if text.count("[") + text.count("{") <= LEVELS_MAX:
        return None
    depth = 0
    for match in STRUCTURE.finditer(text):
        character = text[match.start()]
        if character in "[{":
            depth += 1
            if depth > LEVELS_MAX:
                return match.start()
        elif character in "]}":
            depth -= 1
    return None


class _NotJson(Exception):
    def __init__(self, fault: JsonError) -> None:
        self.fault = fault


@dataclass
class _StrictLoader:
    """The standard reader with hooks that notice what JSON forbids and Python lets through."""

    text: str
    suspicious: bool = False

    def load(self) -> Any:
        try:
            return json.loads(
                self.text,
                object_pairs_hook=self._object,
                parse_int=self._integer,
                parse_float=self._float,
                parse_constant=self._constant,
            )
        except json.JSONDecodeError as error:
            raise _NotJson(_syntax_fault(self.text, error)) from None
        except RecursionError:
            # The depth was counted before, so this is a text whose brackets are unbalanced.
            raise _NotJson(JsonError("JSON_INVALID", (), "The brackets do not pair", "", 0)) from None

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
        at = next((match.start() for match in _TOKEN.finditer(self.text) if match.group() == name), 0)
        hint = "JSON has numbers only; use null where there is none."
        raise _NotJson(JsonError("JSON_INVALID", (), f"{name} is not JSON", hint, at))


def _syntax_fault(text: str, error: json.JSONDecodeError) -> JsonError:
    offset = min(error.pos, len(text))
    hint = "Check the commas, quotes and brackets just before this place."
    if not text.strip():
        return JsonError("JSON_INVALID", (), "The file is empty", "Write [] or {} at least.", 0)
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
    return JsonError("JSON_INVALID", (), f"Not valid JSON: {error.msg}", hint, offset)


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


def _find_faults(text: str) -> Iterator[JsonError]:
    """Every duplicate key, number out of range and lone surrogate of a well-formed text."""
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


def _string_faults(token: str, offset: int, stack: list[_Container]) -> Iterator[JsonError]:
    is_key = bool(stack) and stack[-1].expects_key
    text = json.loads(token) if "\\" in token else token[1:-1]
    if is_key:
        container = stack[-1]
        container.key = text
        if text in container.keys:
            message = f"Duplicate key {_quoted(text)} in this object"
            yield JsonError("JSON_DUPLICATE_KEY", _path(stack), message, "Remove one of the two.", offset)
        container.keys.add(text)
    if "\\" not in token:
        return
    if any("\ud800" <= character <= "\udfff" for character in text):
        message = "A \\u escape is one half of a surrogate pair"
        hint = "Write both halves, or the character itself."
        yield JsonError("JSON_LONE_SURROGATE", _path(stack), message, hint, offset)
    if "\0" in text:
        yield JsonError("TEXT_NUL", _path(stack), "The text holds \\u0000 (NUL)", "Remove the escape.", offset)


_INTEGER_HINT: Final = (
    "Write a value as a string. A limit in a schema is left out, or at most 9007199254740991."
)  # fmt: skip


def _number_faults(token: str, offset: int, stack: list[_Container]) -> Iterator[JsonError]:
    whole = not any(character in token for character in ".eE")
    if whole and (len(token) > 17 or abs(int(token)) > INTEGER_MAX):
        message = f"The whole number {_shorten(token)} is beyond 2^53-1, which not every client can read exactly"
        yield JsonError("JSON_NUMBER_OUT_OF_RANGE", _path(stack), message, _INTEGER_HINT, offset)
    elif not whole and math.isinf(float(token)):
        message = f"The number {_shorten(token)} is out of range"
        yield JsonError("JSON_NUMBER_OUT_OF_RANGE", _path(stack), message, "Use a smaller number.", offset)


def _quoted(text: str) -> str:
    return json.dumps(_shorten(text), ensure_ascii=True)


def _shorten(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
