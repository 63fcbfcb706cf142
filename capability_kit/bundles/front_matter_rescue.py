"""A front matter that is not YAML, read by its lines: a value that YAML refuses is the text that stands there.

Most often it is a colon in a value without quotes, on one line or wrapped over several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

from capability_kit.bundles.front_matter_remarks import FORMAT_KEYS, Remark
from capability_kit.bundles.yaml_tree import Path, YamlFeature, YamlTree, YamlUnreadable, compose_tree

LEVELS_MAX: Final = 16
# `key:` with a value or without; a key of several words is one, too, where the line before it is not a wrapped text.
_KEY: Final = re.compile(r"(?P<key>[^\W\d][\w.-]*|\"[^\"]+\"|'[^']+')[ \t]*:(?:[ \t\u00a0\u3000]+(?P<value>.*))?$")
_WORDS_KEY: Final = re.compile(r"(?P<key>[^\W\d][\w.-]*(?: [\w.-]+){1,3})[ \t]*:(?:[ \t]+(?P<value>.*))?$")
# The keys of the format also where the space after the colon was forgotten, or the colon is a wide one.
_KNOWN_KEY: Final = re.compile(rf"(?P<key>{'|'.join(sorted(FORMAT_KEYS))})[ \t]*[:\uff1a](?P<value>.*)$")
_ITEM: Final = re.compile(r"-(?:[ \t]+(?P<value>.*))?$")
_BLOCK: Final = re.compile(r"(?P<style>[|>])[+-]?[0-9]?[+-]?(?:[ \t]+#.*)?$")
_WRAPPED_LENGTH: Final = 50
_RESCUE_HINT: Final = "Put quotes around the whole value."
_TEXT_TAG: Final = "tag:yaml.org,2002:str"
_Pairs = list[tuple[yaml.Node, yaml.Node]]


def rescue(source: str, base: int, fault: str, offset: int) -> tuple[YamlTree, tuple[Remark, ...]] | None:
    """The nodes of all that can be read, and a remark for each value that is not YAML; None without a key.

    `fault` and `offset` say what is wrong with the whole: the remark where every value is YAML by itself.
    """
    reader = _LineReader(source, base)
    if reader.has_paragraphs():
        return None
    pairs = reader.read_map(0, len(reader.lines), 0, ())
    if not pairs:
        return None
    start, end = _mark(base), _mark(base + len(source))
    root = yaml.MappingNode("tag:yaml.org,2002:map", pairs, start, end)
    whole = Remark("rescued", f"{fault}; each key was read by itself", "Indent with spaces, one key per line.", offset)
    return YamlTree(root, tuple(reader.features)), tuple(reader.remarks) or (whole,)


def _mark(offset: int) -> yaml.Mark:
    return yaml.Mark("", offset, 0, 0, None, 0)


@dataclass
class _LineReader:
    source: str
    base: int
    features: list[YamlFeature] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def __post_init__(self) -> None:
        # YAML takes no tabs for indentation; one space for each keeps every place.
        self.lines = [_without_tabs(line) for line in self.source.split("\n")]
        self.starts = [self.base]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def has_paragraphs(self) -> bool:
        """Whether a text of its own stands between the keys: then it is not a front matter that a rule closes."""
        return any(
            line and not line[0].isspace() and line[0] not in "#]}-" and self._key_at(at, 0, at - 1) is None
            for at, line in enumerate(self.lines)
            if at and not self.lines[at - 1].strip()
        )

    def read_map(self, first: int, last: int, indent: int, path: Path) -> _Pairs:
        """The pairs of the lines from `first` up to `last`, whose keys stand at this indentation."""
        pairs: _Pairs = []
        for begin, end, match in self._entries(first, last, indent):
            name = match["key"].strip("\"'")
            offset = self.starts[begin] + indent
            key = yaml.ScalarNode(_TEXT_TAG, name, _mark(offset), _mark(offset + len(match["key"])))
            whole = self._compose(begin, end)
            if isinstance(whole, yaml.MappingNode) and len(whole.value) == 1:
                pairs += whole.value
            else:
                pairs.append((key, self._value(begin, end, indent, match, (*path, name))))
        return pairs

    def _entries(self, first: int, last: int, indent: int) -> Iterator[tuple[int, int, re.Match[str]]]:
        """The lines of each key: from its own up to the next one at the same indentation."""
        found: tuple[int, re.Match[str]] | None = None
        for at in range(first, last):
            match = self._key_at(at, indent, found[0] if found else None)
            if match is None:
                continue
            if found is not None:
                yield found[0], at, found[1]
            found = at, match
        if found is not None:
            yield found[0], last, found[1]

    def _key_at(self, at: int, indent: int, opened: int | None) -> re.Match[str] | None:
        line = self.lines[at]
        if _indent_of(line) != indent:
            return None
        text = line.strip()
        match = _KEY.match(text) or (_KNOWN_KEY.match(text) if indent == 0 else None)
        if match is None and (opened is None or len(self.lines[at - 1]) < _WRAPPED_LENGTH):
            match = _WORDS_KEY.match(text)
        return match

    def _compose(self, begin: int, end: int) -> yaml.Node | None:
        """The nodes of some lines, where YAML takes them as they are."""
        try:
            tree = compose_tree("\n".join(self.lines[begin:end]) + "\n", self.starts[begin])
        except YamlUnreadable:
            return None
        if any(feature.kind == "custom_tag" for feature in tree.features):
            return None
        self.features += tree.features
        return tree.root

    def _value(self, begin: int, end: int, indent: int, match: re.Match[str], path: Path) -> yaml.Node:
        value = (match["value"] or "").strip()
        below = self._next_line(begin + 1, end)
        is_empty = not value or value.startswith("#")
        if is_empty and below < end and _indent_of(self.lines[below]) >= indent and len(path) < LEVELS_MAX:
            nested = self._nested(below, end, path)
            if nested is not None:
                return nested
        block = _BLOCK.match(value)
        if block is not None:
            text = self._block_text(begin + 1, end, block["style"])
        else:
            text = _unquoted(_folded([value, *self._continued(begin + 1, end)]))
        return self._text(begin, text, path)

    def _nested(self, first: int, end: int, path: Path) -> yaml.Node | None:
        inner = _indent_of(self.lines[first])
        start, stop = _mark(self.starts[first] + inner), _mark(self.starts[end] - 1)
        if _ITEM.match(self.lines[first].strip()):
            items = [self._item(begin, until, inner, path) for begin, until in self._items(first, end, inner)]
            return yaml.SequenceNode("tag:yaml.org,2002:seq", items, start, stop)
        pairs = self.read_map(first, end, inner, path) if _KEY.match(self.lines[first].strip()) else []
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, start, stop) if pairs else None

    def _items(self, first: int, end: int, indent: int) -> Iterator[tuple[int, int]]:
        begins = [
            at
            for at in range(first, end)
            if _indent_of(self.lines[at]) == indent and _ITEM.match(self.lines[at].strip())
        ]
        yield from zip(begins, [*begins[1:], end], strict=True)

    def _item(self, begin: int, end: int, indent: int, path: Path) -> yaml.Node:
        whole = self._compose(begin, end)
        if isinstance(whole, yaml.SequenceNode) and len(whole.value) == 1:
            node: yaml.Node = whole.value[0]
            return node
        match = _ITEM.match(self.lines[begin].strip())
        value = ((match["value"] if match else None) or "").strip()
        if _KEY.match(value) and len(path) < LEVELS_MAX:
            # The same lines without the dash are the map that stands behind it.
            column = self.lines[begin].index(value, indent + 1)
            self.lines[begin] = " " * column + value
            return yaml.MappingNode(
                "tag:yaml.org,2002:map",
                self.read_map(begin, end, column, path),
                _mark(self.starts[begin] + column),
                _mark(self.starts[end] - 1),
            )
        return self._text(begin, _unquoted(_folded([value, *self._continued(begin + 1, end)])), path)

    def _text(self, begin: int, text: str, path: Path) -> yaml.ScalarNode:
        offset = self.starts[begin] + _indent_of(self.lines[begin])
        message = f"'{'.'.join(path)[:80]}' is not YAML as it is written; its value was taken as a text"
        self.remarks.append(Remark("rescued", message, _RESCUE_HINT, offset, path))
        return yaml.ScalarNode(_TEXT_TAG, text, _mark(offset), _mark(offset), style='"')

    def _continued(self, first: int, end: int) -> list[str]:
        """The lines that a value goes on with, without comments at the left edge and empty lines at the end."""
        lines = [self.lines[at].strip() for at in range(first, end) if not self.lines[at].startswith("#")]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _block_text(self, first: int, end: int, style: str) -> str:
        lines = self.lines[first:end]
        indents = [_indent_of(line) for line in lines if line.strip()]
        cut = [line[min(_indent_of(line), indents[0]) :] if indents else "" for line in lines]
        text = "\n".join(cut).rstrip("\n") if style == "|" else _folded([line.strip() for line in cut])
        return text.rstrip("\n") + "\n"

    def _next_line(self, first: int, end: int) -> int:
        """The next line that says something; `end` where there is none."""
        for at in range(first, end):
            text = self.lines[at].strip()
            if text and not text.startswith("#"):
                return at
        return end


def _without_tabs(line: str) -> str:
    rest = line.lstrip(" \t")
    return line[: len(line) - len(rest)].replace("\t", " ") + rest


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _folded(lines: list[str]) -> str:
    """One break is a space, an empty line a break."""
    text = "\n".join(line.strip() for line in lines).strip("\n")
    return re.sub(r"\n+", lambda breaks: " " if len(breaks[0]) == 1 else breaks[0][1:], text)


def _unquoted(text: str) -> str:
    """Without the quotes that were meant to enclose the whole; quotes around its first words alone are its own."""
    quote = text[:1]
    if quote not in ('"', "'") or len(text) < 2:
        return text
    if text.count(quote) == 1:
        return text[1:].strip() if quote == '"' else text
    if not text.endswith(quote) or _closes_early(text, quote):
        return text
    inner = text[1:-1]
    return inner.replace('\\"', '"').replace("\\\\", "\\") if quote == '"' else inner.replace("''", "'")


def _closes_early(text: str, quote: str) -> bool:
    """Whether the next quote ends what the first one began: a word before it, and none behind."""
    at = text.find(quote, 1)
    return (
        at < len(text) - 1 and not text[at - 1].isspace() and not text[at + 1].isalnum() and text[at + 1] not in "\"'"
    )
