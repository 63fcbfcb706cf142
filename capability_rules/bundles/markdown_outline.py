"""The headings of skill.md: a line scanner that follows CommonMark for what makes a heading.

Why our own: the whole document is at most 1 MiB of anything, and CommonMark parsers in Python need over 5 s for 350,000
short paragraphs. Finding headings needs the block rules alone, line by line, in linear time. A test compares the
result with markdown-it-py on real skills and on generated documents.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_BREAK: Final = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_CONTAINER: Final = re.compile(r" {0,3}(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$))")
_EMPHASIS: Final = re.compile(r"[*`]|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_HTML_RAW: Final = re.compile(r" {0,3}<(script|pre|style|textarea)(?:[\s>]|$)", re.IGNORECASE)
_HTML_BLOCK: Final = re.compile(
    r" {0,3}</?(?:address|article|aside|blockquote|body|center|details|dialog|dir|div|dl|dt|dd|fieldset|figcaption"
    r"|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|optgroup|option|p|section"
    r"|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)(?:[\s/>]|$)",
    re.IGNORECASE,
)
_INDENTED: Final = re.compile(r"(?: {4}| {0,3}\t)")


@dataclass(frozen=True, slots=True)
class Heading:
    """`line` counts from 1 within the scanned text; `text` is what a reader sees, without emphasis marks."""

    level: int
    text: str
    line: int

    @property
    def key(self) -> str:
        return self.text.casefold()


LineKind = Literal["text", "heading", "underline", "code", "comment", "html"]


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """One line with what it is part of; `language` is that of the fence that contains it."""

    number: int
    text: str
    kind: LineKind
    language: str = ""


@dataclass(frozen=True)
class Outline:
    """A document's lines with their kinds, and its headings in order."""

    texts: list[str]
    kinds: list[LineKind]
    languages: dict[int, str]
    headings: tuple[Heading, ...]

    @cached_property
    def _heading_lines(self) -> list[int]:
        return [heading.line for heading in self.headings]

    @cached_property
    def _shape(self) -> tuple[list[int], list[int]]:
        """For each heading the last line of its section, and the index of the heading above it (-1: none)."""
        ends = [len(self.texts)] * len(self.headings)
        parents = [-1] * len(self.headings)
        open_ones: list[int] = []
        for index, heading in enumerate(self.headings):
            while open_ones and self.headings[open_ones[-1]].level >= heading.level:
                ends[open_ones.pop()] = heading.line - 1
            parents[index] = open_ones[-1] if open_ones else -1
            open_ones.append(index)
        return ends, parents

    def _index(self, line: int) -> int:
        """Which heading is the last at or before a line; -1 where there is none."""
        return bisect_right(self._heading_lines, line) - 1

    def lines(self, first: int, last: int) -> Iterator[MarkdownLine]:
        """The lines from `first` to `last`, both counted from 1 and included."""
        for number in range(first, min(last, len(self.texts)) + 1):
            yield MarkdownLine(number, self.texts[number - 1], self.kinds[number - 1], self.languages.get(number, ""))

    def section(self, heading: Heading) -> Iterator[MarkdownLine]:
        """The lines below a heading up to the next one of the same or a higher level."""
        return self.lines(heading.line + 1, self.end_of(heading))

    def end_of(self, heading: Heading) -> int:
        """The number of the last line of a heading's section."""
        return self._shape[0][self._index(heading.line)]

    def inside(self, heading: Heading) -> tuple[Heading, ...]:
        """The deeper headings of a section."""
        return self.headings[self._index(heading.line) + 1 : self._index(self.end_of(heading)) + 1]

    def path_of(self, heading: Heading) -> tuple[str, ...]:
        """The texts of a heading's ancestors and its own, from the outermost down."""
        return self.path_at(heading.line)

    def path_at(self, line: int) -> tuple[str, ...]:
        """The texts of the headings above a line, from the outermost down."""
        path: list[str] = []
        index = self._index(line)
        while index >= 0:
            path.append(self.headings[index].text)
            index = self._shape[1][index]
        return tuple(reversed(path))

    def has_text(self, heading: Heading) -> bool:
        """Whether a reader sees anything below a heading; deeper headings count, comments do not."""
        return any(line.text.strip() and line.kind not in ("comment", "underline") for line in self.section(heading))


def parse_outline(text: str) -> Outline:
    """Scan a Markdown document; linear in its length."""
    texts = text.split("\n")
    scanner = _Scanner()
    for number, line in enumerate(texts, start=1):
        scanner.kinds.append(scanner.kind(number, line))
    return Outline(texts, scanner.kinds, scanner.languages, tuple(scanner.headings))


class _Scanner:
    """The state of the scan: an open fence, an open HTML block, an open paragraph."""

    def __init__(self) -> None:
        self.kinds: list[LineKind] = []
        self.languages: dict[int, str] = {}
        self.headings: list[Heading] = []
        self.fence = ""
        self.language = ""
        self.html_end: re.Pattern[str] | None = None
        self.html_kind: LineKind = "html"
        self.paragraph: list[str] = []
        self.in_container = False

    def kind(self, number: int, line: str) -> LineKind:
        if self.fence:
            return self._inside_fence(number, line)
        if self.html_end is not None:
            return self._inside_html(line)
        if not line.strip(" \t"):
            self._end_paragraph()
            return "text"
        if line[0].isalpha():
            # No marker begins with a letter; most lines of most documents end here.
            return self._paragraph_line(line)
        if line[0] == "#":
            return self._heading_or_text(number, line)
        if self._opens_fence(line):
            return "code"
        if self._opens_html(line):
            return self.html_kind
        if not self.paragraph and not self.in_container and _INDENTED.match(line):
            return "code"
        return self._heading_or_text(number, line)

    def _end_paragraph(self) -> None:
        self.paragraph = []
        self.in_container = False

    def _paragraph_line(self, line: str) -> LineKind:
        if not self.in_container:
            self.paragraph.append(line)
        return "text"

    def _inside_fence(self, number: int, line: str) -> LineKind:
        self.languages[number] = self.language
        match = _FENCE.match(line)
        if match and match.group(1).startswith(self.fence) and not match.group(2).strip():
            self.fence = ""
        return "code"

    def _inside_html(self, line: str) -> LineKind:
        if self.html_end is not None and self.html_end.search(line):
            self.html_end = None
        return self.html_kind

    def _opens_fence(self, line: str) -> bool:
        match = _FENCE.match(line)
        if match is None or (match.group(1)[0] == "`" and "`" in match.group(2)):
            return False
        self._end_paragraph()
        self.fence = match.group(1)
        self.language = match.group(2).strip().split(" ")[0].lower()
        return True

    def _opens_html(self, line: str) -> bool:
        end = _html_end(line)
        if end is None:
            return False
        self._end_paragraph()
        self.html_kind = "comment" if line.lstrip().startswith("<!--") else "html"
        if not end.search(line, line.index("<") + 2):
            self.html_end = end
        return True

    def _heading_or_text(self, number: int, line: str) -> LineKind:
        atx = _ATX.match(line)
        if atx is not None:
            self._end_paragraph()
            words = atx.group(2) or ""
            self._add(len(atx.group(1)), _without_closing(words) if words[-1:] in "# \t" else words, number)
            return "heading"
        setext = _SETEXT.match(line)
        if setext is not None and self.paragraph and not self.in_container:
            self._setext(1 if setext.group(1)[0] == "=" else 2, number)
            return "underline"
        if _BREAK.match(line):
            self._end_paragraph()
            return "text"
        if _CONTAINER.match(line):
            self.paragraph = []
            self.in_container = True
        return self._paragraph_line(line)

    def _setext(self, level: int, number: int) -> None:
        first = number - len(self.paragraph)
        # A finding points at the words, not at the line under them.
        self._add(level, " ".join(self.paragraph), first)
        self.kinds[first - 1 :] = ["heading", *["underline"] * (number - first - 1)]  # type: ignore[list-item]
        self._end_paragraph()

    def _add(self, level: int, text: str, line: int) -> None:
        self.headings.append(Heading(level, plain_text(text), line))


def _html_end(line: str) -> re.Pattern[str] | None:
    stripped = line.lstrip(" ")
    if not stripped.startswith("<") or len(line) - len(stripped) > 3:
        return None
    if stripped.startswith("<!--"):
        return re.compile("-->")
    raw = _HTML_RAW.match(line)
    if raw is not None:
        return re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
    if _HTML_BLOCK.match(line):
        return re.compile(r"^[ \t]*$")
    return None


def _without_closing(text: str) -> str:
    stripped = text.strip(" \t")
    without = stripped.rstrip("#")
    if without != stripped and (not without or without[-1] in " \t"):
        return without.rstrip(" \t")
    return stripped


def plain_text(text: str) -> str:
    """A heading's words without emphasis and code marks, white space folded."""
    if text.isalnum():
        return text
    return " ".join(_EMPHASIS.sub("", text).split())
