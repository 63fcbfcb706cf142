"""Expressions: what is in `${...}` in the text of a formatString call.

The language, as a2ui-core and the web renderer read it: a text with `${expression}` in it, `\\${` being a plain `${`.
An expression is a path (`/source`, `weight`), a literal ('text', 12.5, true, false, null), a call with named arguments
(`formatDate(value: ${/day}, format: 'yyyy')`), or another `${...}`. Reading is one pass over the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from capability_rules.validation.a2ui.limits import EXPRESSION_PARTS_MAX

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER_START = re.compile(r"[+-]?\.?[0-9]")
_NAME = re.compile(r"\w*")
_PATH = re.compile(r"[\w/.-]*")
_SPACE = re.compile(r"\s*")
_KEYWORDS: tuple[tuple[str, Any], ...] = (("true", True), ("false", False), ("null", ""))
_NESTING_MAX = 50


class ExpressionError(Exception):
    """The text cannot be read; `offset` counts code points into it."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True, slots=True)
class PathUse:
    """A path inside an expression, with the offset of its first character."""

    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class CallUse:
    """A call inside an expression, in the form of an ordinary call: `{"call", "args"}`."""

    call: dict[str, Any]
    offset: int


@dataclass(slots=True)
class Expressions:
    """All that one text uses."""

    paths: list[PathUse] = field(default_factory=list)
    calls: list[CallUse] = field(default_factory=list)


@lru_cache(maxsize=256)
def read_expressions(text: str) -> Expressions:
    """Read every `${...}` in `text`. Raises `ExpressionError` where the renderer would fail, too.

    The texts of one form are read by two checks, so that the last ones are kept; never change what comes back.
    """
    reader = _ExpressionReader(text)
    reader.read_text()
    return reader.found


def is_name_character(character: str) -> bool:
    """Whether a name may continue with this character (Unicode's XID_Continue)."""
    return ("a" + character).isidentifier() if character else False


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


class _ExpressionReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found = Expressions()

    def read_text(self) -> None:
        for parts, start in enumerate(self._openings(), 1):
            # Between two expressions there may be a text, which counts as a separate part.
            if parts * 2 > EXPRESSION_PARTS_MAX:
                raise ExpressionError(f"more than {EXPRESSION_PARTS_MAX // 2} expressions in one text", start)
            self.at = start + 2
            self._expression_to_brace(start, 0)

    def _openings(self) -> Iterator[int]:
        while (start := self.text.find("${", self.at)) >= 0:
            if start > 0 and self.text[start - 1] == "\\":
                self.at = start + 2
            else:
                yield start

    def _expression_to_brace(self, start: int, depth: int) -> Any:
        self._skip_space()
        value = "" if self._peek() == "}" else self._expression(depth)
        self._skip_space()
        if self.at >= len(self.text):
            raise ExpressionError("'${' is never closed by '}'", start)
        if self._peek() != "}":
            raise ExpressionError(f"unexpected '{self._peek()}' in an expression", self.at)
        self.at += 1
        return value

    def _expression(self, depth: int) -> Any:
        if depth > _NESTING_MAX:
            raise ExpressionError(f"expressions are nested more than {_NESTING_MAX} deep", self.at)
        start = self.at
        if self.text.startswith("${", start):
            self.at += 2
            return self._expression_to_brace(start, depth + 1)
        if self._peek() in ("'", '"'):
            return self._quoted()
        if _NUMBER_START.match(self.text, start):
            return self._number()
        for word, value in _KEYWORDS:
            if self.text.startswith(word, start) and not is_name_character(self.text[start + len(word) :][:1]):
                self.at += len(word)
                return value
        return self._path_or_call(start, depth)

    def _path_or_call(self, start: int, depth: int) -> Any:
        token = self._take(_PATH)
        self._skip_space()
        if self._peek() == "(":
            return self._call(token, start, depth)
        if not token:
            if self.at >= len(self.text):
                raise ExpressionError("an expression breaks off", start)
            raise ExpressionError(f"unexpected '{self._peek()}' in an expression", self.at)
        self.found.paths.append(PathUse(token, start))
        return {"path": token}

    def _call(self, name: str, start: int, depth: int) -> Any:
        self.at += 1
        args: dict[str, Any] = {}
        self._skip_space()
        while self._peek() not in (")", ""):
            argument = self._take(_NAME)
            self._skip_space()
            if self._peek() != ":" or not argument:
                raise ExpressionError(f"the arguments of '{name[:40]}' need names, as in value: ...", self.at)
            self.at += 1
            self._skip_space()
            args[argument] = self._expression(depth + 1)
            self._skip_space()
            if self._peek() == ",":
                self.at += 1
                self._skip_space()
        if self._peek() != ")":
            raise ExpressionError(f"the call of '{name[:40]}' is never closed by ')'", start)
        self.at += 1
        call = {"call": name, "args": args}
        self.found.calls.append(CallUse(call, start))
        return call

    def _quoted(self) -> str:
        start, quote = self.at, self.text[self.at]
        match = re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*){quote}", re.DOTALL).match(self.text, start)
        if not match:
            raise ExpressionError("a quoted text is never closed", start)
        self.at = match.end()
        return re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)

    def _number(self) -> float:
        match = _NUMBER.match(self.text, self.at)
        if not match or is_name_character(self.text[match.end() :][:1]):
            raise ExpressionError("this is not a number", self.at)
        self.at = match.end()
        return float(match[0])

    def _take(self, pattern: re.Pattern[str]) -> str:
        """Take a name or path. The pattern does not know the rarer characters of names, such as combining marks."""
        start = self.at
        self.at = _end(pattern, self.text, start)
        while is_name_character(self._peek()):
            self.at = _end(pattern, self.text, self.at + 1)
        return self.text[start : self.at]

    def _skip_space(self) -> None:
        self.at = _end(_SPACE, self.text, self.at)

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]
