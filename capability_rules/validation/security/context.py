# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""Where in a document a match is: fenced, quoted, and in a passage that teaches what to watch for?

A security course quotes attacks. What is both marked as a quotation (fence, code span, quotation marks, table) and
is in a passage that calls it an attack is an example; either alone is not enough, or every attacker would add
quotation marks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from capability_rules.validation.security.code_spans import LINE_END, PARAGRAPH_END, find_code_spans
from capability_rules.validation.security.normalization import normalize_text
from capability_rules.validation.security.rule_loader import load_phrases
from capability_rules.validation.security.text_corpus import ScannedDocument

_FENCE = re.compile(r"^[ \t>]{0,8}(?:[-*+] )?(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+([^\n]{1,200})", re.MULTILINE)
_REACH = 400
_SPEAKS = re.compile(r"\s{0,9}[^\W_]")

_TEACHING, _FORBIDDING, _REASSURING = load_phrases("context", "teaching", "forbidding", "reassuring")


class Context:
    """Questions about places in one document, computed lazily."""

    def __init__(self, document: ScannedDocument) -> None:
        self._text = document.text
        self._markdown = document.is_markdown

    @cached_property
    def _fences(self) -> list[int]:
        """Offsets at which a fence opens (even places) and closes (odd places)."""
        edges: list[int] = []
        mark = ""
        for match in _FENCE.finditer(self._text) if self._markdown else ():
            if not mark:
                # With a backtick behind it, it is a code span.
                if match[1][0] == "~" or "`" not in match[2]:
                    mark = match[1]
                    edges.append(match.start())
            elif match[1][0] == mark[0] and len(match[1]) >= len(mark) and not match[2].strip():
                mark = ""
                edges.append(match.end())
        return edges

    @cached_property
    def _headings(self) -> list[tuple[int, int, str]]:
        found = _HEADING.finditer(self._text) if self._markdown else ()
        return [(m.start(), len(m.group(1)), normalize_text(m.group(2))) for m in found if not self.in_fence(m.start())]

    @cached_property
    def _heading_starts(self) -> list[int]:
        return [start for start, _, _ in self._headings]

    def in_fence(self, offset: int) -> bool:
        return bisect_right(self._fences, offset) % 2 == 1

    @cached_property
    def _spans_of_paragraphs(self) -> list[int]:
        return find_code_spans(self._text, PARAGRAPH_END)

    @cached_property
    def _spans_of_lines(self) -> list[int]:
        return find_code_spans(self._text, LINE_END)

    def in_code_span(self, offset: int) -> bool:
        """A renderer pairs backticks within a paragraph, and begins again with each item of a list: what is code by
        paragraphs and by lines is code."""
        return all(bisect_right(edges, offset) % 2 for edges in (self._spans_of_lines, self._spans_of_paragraphs))

    def line(self, offset: int) -> tuple[str, int]:
        """The line an offset is on, at most `_REACH` to either side, and where the offset is in it."""
        low = max(self._text.rfind("\n", max(offset - _REACH, 0), offset) + 1, offset - _REACH, 0)
        high = self._text.find("\n", offset, offset + _REACH)
        return self._text[low : high if high >= 0 else offset + _REACH], offset - low

    def is_marked(self, start: int, end: int) -> bool:
        """Whether the match is shown as a quotation: fence, code span, quotation marks, table row."""
        if self.in_fence(start):
            return True
        line, at = self.line(start)
        before, after = line[:at], line[at + (end - start) :]
        if self._markdown and before.lstrip().startswith("|"):
            return True
        if before.count("`") % 2 == 1 and "`" in line[at:]:
            return True
        if before.count('"') % 2 == 1 and '"' in line[at:]:
            return True
        return any(
            before.rfind(left) > before.rfind(right) and right in after
            for left, right in ("“”", "„“", "«»", "「」", "『』")
        )

    def is_placeholder(self, start: int, end: int) -> bool:
        """Whether a tag is a place to fill in, or a parameter of a type: shown as code, in a table or in capitals, and
        nobody speaks behind it."""
        said, behind = self._text[start:end], self._text[end : end + 12]
        is_shown = self.is_marked(start, end) or said.isupper() or self._text[start - 1 : start].isalnum()
        return is_shown and not _SPEAKS.match(behind)

    def is_taught(self, start: int, end: int) -> bool:
        """Whether the passage says that such text is an attack: on the line, in the words that lead up to it, in the
        heading above it."""
        line, at = self.line(start)
        around = normalize_text(line[:at] + " … " + line[at + end - start :])
        lead, heading = normalize_text(self._lead(start)), self._heading(start)
        if self.is_marked(start, end):
            # A quoted example is below the headings above its own too.
            heading = "\n".join(self._heading_chain(start))
        if _REASSURING.search(around) or _REASSURING.search(lead):
            return False
        if _FORBIDDING.search(lead) or _FORBIDDING.search(heading):
            return True
        return any(_TEACHING.search(text) for text in (around, lead, heading))

    def _lead(self, start: int) -> str:
        """What leads up to a match: the line before its list, if it ends with a colon.

        For a match in a fence: the line before the fence, and a comment that opens it.
        """
        begin = bisect_right(self._fences, start)
        if begin % 2 == 1:
            fence = self._fences[begin - 1]
            opening = self._text[fence : fence + 200].split("\n")
            comment = opening[1] if len(opening) > 1 and opening[1].lstrip().startswith(("#", "//", "--")) else ""
            return self._introduction(fence, any_line=True) + "\n" + comment
        return self._introduction(start, any_line=False)

    def _introduction(self, start: int, *, any_line: bool) -> str:
        low = max(self._text.rfind("\0", 0, start) + 1, start - 1200)
        lines = self._text[low:start].split("\n")[:-1]
        for text in reversed(lines):
            stripped = text.strip()
            if stripped.startswith("#"):
                return ""
            if stripped and not stripped.startswith(("-", "*", "+", "|", ">", "•")) and not stripped[:1].isdigit():
                return stripped if any_line or stripped.rstrip("*_ ").endswith((":", "：")) else ""
        return ""

    def _heading_chain(self, start: int) -> Iterator[str]:
        """The heading that a place is below, and those above that one, level by level."""
        level = 7
        for at in range(bisect_right(self._heading_starts, start) - 1, -1, -1):
            if self._headings[at][1] < level:
                level = self._headings[at][1]
                yield self._headings[at][2]

    def _heading(self, start: int) -> str:
        index = bisect_right(self._heading_starts, start) - 1
        return self._headings[index][2] if index >= 0 else ""
