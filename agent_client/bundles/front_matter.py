"""The front matter of a SKILL.md: the part of YAML that skills use, read without a YAML library.

Maps and lists in block and flow style, plain, quoted and block texts; every scalar is text. The registry reads YAML in
full and says what is wrong with it; here what is not understood is left out.
"""

from __future__ import annotations

import re
from typing import Any, Final

BYTES_MAX: Final = 16 * 1024
LEVELS_MAX: Final = 16
# Lines below its first one of a quoted text or a value in brackets.
_CONTINUED_MAX: Final = 200
_FENCE: Final = re.compile(r"---[ \t]*$")
_CLOSING: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_PLAIN_KEY: Final = r"[^\s\[\]{}#&*!|>'\"%@`,?:-](?:[^:\n]|:(?!\s|$))*?"
_PAIR: Final = re.compile(rf"(?:\"([^\"\\]*)\"[ \t]*|'([^']*)'[ \t]*|({_PLAIN_KEY})):(?:[ \t]+(.*))?$")
_ITEM: Final = re.compile(r"-(?:([ \t]+)(.*))?$")
_BLOCK_TEXT: Final = re.compile(r"([|>])([+-]?)([1-9]?)([+-]?)(?:[ \t]+#.*)?$")
_COMMENT: Final = re.compile(r"(?:^|[ \t])#.*$")
_FLOW_WORD: Final = re.compile(r"(?:[^,\[\]{}:#\n]|:(?![ \t\n,\[\]{}]|$)|(?<![ \t\n])#)+")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED: Final = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b"}
_DOUBLE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE: Final = re.compile(r"'((?:[^']|'')*)'")
_LEFT_OUT: Final = object()


class _NotUnderstood(ValueError):
    """A value outside of the supported YAML subset, or one that is incomplete."""


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """`(values, body)`; without front matter, and with one over 16 KB, the whole text is the body."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    first, _, _ = text.partition("\n")
    closing = _CLOSING.search(text, len(first) + 1) if _FENCE.match(first) else None
    if closing is None:
        return {}, text
    source = text[len(first) + 1 : closing.start()]
    if len(source.encode("utf-8", "surrogatepass")) > BYTES_MAX:
        return {}, text
    return parse_values(source), text[closing.end() + 1 :]


def parse_values(source: str) -> dict[str, Any]:
    """The keys and values of a front matter; what is not understood is left out."""
    return _Reader(source.split("\n")).mapping(0, 0)


class _Reader:
    """Reads the lines in order; `at` is the next one."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0

    def mapping(self, indent: int, level: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._next_indent() >= indent:
            pair = _PAIR.match(self.lines[self.at].strip()) if self._next_indent() == indent else None
            key = next((part for part in pair.groups()[:3] if part is not None), "").rstrip() if pair else ""
            self.at += 1
            if pair is None or " #" in key:
                self._skip_below(indent)
                continue
            value = self._value(pair[4] or "", indent, level, in_map=True)
            found.pop(key, None)
            if value is not _LEFT_OUT:
                found[key] = value
        return found

    def _sequence(self, indent: int, level: int) -> Any:
        found: list[Any] = []
        while self._next_indent() == indent:
            line = self.lines[self.at].strip()
            item = _ITEM.match(line)
            if item is None:
                break
            rest = item[2] or ""
            column = indent + 1 + len(item[1] or " ")
            if _ITEM.match(rest) or _PAIR.match(rest):
                self.lines[self.at] = " " * column + rest
                found.append(self._nested(column, level + 1))
            else:
                self.at += 1
                found.append(self._value(rest, indent, level, in_map=False))
        return _LEFT_OUT if any(each is _LEFT_OUT for each in found) else found

    def _nested(self, indent: int, level: int) -> Any:
        if level > LEVELS_MAX:
            self._skip_below(indent - 1)
            return _LEFT_OUT
        line = self.lines[self.at].strip()
        if _ITEM.match(line):
            return self._sequence(indent, level)
        if _PAIR.match(line):
            return self.mapping(indent, level)
        self.at += 1
        return self._value(line, indent - 1, level, in_map=False)

    def _value(self, rest: str, indent: int, level: int, *, in_map: bool) -> Any:
        rest = rest.strip()
        if not rest or rest.startswith("#"):
            below = self._next_indent()
            if below > indent or (in_map and below == indent and _ITEM.match(self.lines[self.at].strip())):
                return self._nested(below, level + 1)
            return ""
        block = _BLOCK_TEXT.match(rest)
        if block is not None:
            return self._block_text(indent, block)
        if rest[0] in "&*!":
            self._skip_below(indent)
            return _LEFT_OUT
        if rest[0] in "\"'[{":
            return self._closed(rest, indent)
        return self._plain(rest, indent)

    def _closed(self, rest: str, indent: int) -> Any:
        """A quoted text or a flow value, which may go on below; one line that is neither is text as it stands."""
        text, at = rest, self.at
        while True:
            try:
                value, end = _flow(text, 0, 0)
            except _NotUnderstood:
                value, end = _LEFT_OUT, len(text)
            if value is not _LEFT_OUT and not _COMMENT.sub("", text[end:]).strip():
                self.at = at
                return value
            is_below = at < min(len(self.lines), self.at + _CONTINUED_MAX) and _goes_on(self.lines[at], indent, rest)
            if value is not _LEFT_OUT or not is_below:
                break
            text, at = f"{text}\n{self.lines[at].strip()}", at + 1
        if self._next_indent() > indent:
            self._skip_below(indent)
            return _LEFT_OUT
        return rest

    def _plain(self, rest: str, indent: int) -> str:
        first = _COMMENT.sub("", rest).rstrip()
        if re.search(r":(?:\s|$)", first):
            return rest
        parts = [first]
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and _indent_of(line) <= indent:
                break
            parts.append(_COMMENT.sub("", line.strip()).rstrip())
            self.at += 1
        return _folded("\n".join(parts).rstrip())

    def _block_text(self, indent: int, header: re.Match[str]) -> str:
        lines: list[str] = []
        while self.at < len(self.lines) and (
            not self.lines[self.at].strip() or _indent_of(self.lines[self.at]) > indent
        ):
            lines.append(self.lines[self.at])
            self.at += 1
        first = next((line for line in lines if line.strip()), "")
        cut = max(indent, 0) + int(header[3]) if header[3] else _indent_of(first)
        lines = [line[cut:] for line in lines]
        chomp = header[2] or header[4]
        text = "\n".join(lines)
        kept = text.rstrip("\n")
        ends = text[len(kept) :] + "\n" if lines else ""
        body = _folded_block(kept.split("\n")) if header[1] == ">" else kept
        if chomp == "-" or not kept:
            return body
        return body + (ends if chomp == "+" else "\n")

    def _next_indent(self) -> int:
        """The indentation of the next line that says something; -1 at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and not line.lstrip().startswith("#"):
                return _indent_of(line)
            self.at += 1
        return -1

    def _skip_below(self, indent: int) -> None:
        while self._next_indent() > indent:
            self.at += 1


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _goes_on(line: str, indent: int, opened: str) -> bool:
    """Whether a line belongs to the value above it; closing brackets may stand as far left as the key."""
    closes = opened[0] in "[{" and line.strip()[:1] in ("]", "}")
    return not line.strip() or _indent_of(line) > indent or (closes and _indent_of(line) == indent)


def _flow(text: str, at: int, level: int) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends."""
    if level > LEVELS_MAX:
        raise _NotUnderstood
    at = _skipped(text, at)
    opening = text[at : at + 1]
    if opening == "[":
        return _flow_items(text, at + 1, level)
    if opening == "{":
        return _flow_pairs(text, at + 1, level)
    if opening in ('"', "'"):
        found = (_DOUBLE if opening == '"' else _SINGLE).match(text, at)
        if found is None:
            raise _NotUnderstood
        words = _folded(found[1])
        return _unescaped(words) if opening == '"' else words.replace("''", "'"), found.end()
    word = _FLOW_WORD.match(text, at)
    if word is None or not word[0].strip() or word[0][0] in "&*!|>%@`":
        raise _NotUnderstood
    return _folded(word[0].strip()), word.end()


def _flow_items(text: str, at: int, level: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = _skipped(text, at)
        if text[at : at + 1] == "]":
            return found, at + 1
        value, at = _flow(text, at, level + 1)
        at = _skipped(text, at)
        if text[at : at + 1] == ":" and isinstance(value, str):
            inner, at = _flow(text, at + 1, level + 1)
            value, at = {value: inner}, _skipped(text, at)
        found.append(value)
        at = _after_comma(text, at, "]")


def _flow_pairs(text: str, at: int, level: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = _skipped(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        key, at = _flow(text, at, level + 1)
        at = _skipped(text, at)
        if not isinstance(key, str):
            raise _NotUnderstood
        value: Any = ""
        if text[at : at + 1] == ":":
            at = _skipped(text, at + 1)
            if text[at : at + 1] not in (",", "}"):
                value, at = _flow(text, at, level + 1)
        found[key] = value
        at = _after_comma(text, _skipped(text, at), "}")


def _after_comma(text: str, at: int, closing: str) -> int:
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] != closing:
        raise _NotUnderstood
    return at


def _skipped(text: str, at: int) -> int:
    """Past white space and comments."""
    while at < len(text):
        if text[at] == "#" and (at == 0 or text[at - 1] in " \t\n"):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text[at] in " \t\n":
            at += 1
        else:
            break
    return at


def _unescaped(text: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code:
            return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""
        return _ESCAPED.get(match[4], "" if match[4] == "\n" else match[4])

    return _ESCAPE.sub(replaced, text)


def _folded(text: str) -> str:
    """Lines of a plain or quoted text: one break is a space, an empty line a break."""
    first, *others = text.split("\n")
    out, breaks = first.rstrip(" \t") if others else first, 0
    for number, line in enumerate(others, 1):
        breaks += 1
        stripped = line.lstrip(" \t") if number == len(others) else line.strip(" \t")
        if stripped or number == len(others):
            out += ("\n" * (breaks - 1) or " ") + stripped
            breaks = 0
    return out


def _folded_block(lines: list[str]) -> str:
    """Lines of a text after `>`: those that are indented further keep their breaks."""
    out = lines[0]
    empty = 0
    last = lines[0]
    for line in lines[1:]:
        if not line:
            empty += 1
            continue
        is_kept = line[0] in " \t" or last[:1] in (" ", "\t")
        out += "\n" * (empty + 1) if is_kept else "\n" * empty or " "
        out += line
        last, empty = line, 0
    return out
