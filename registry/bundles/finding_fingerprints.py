"""What identifies a finding in a text that changes around it: its code, its file, and the passage that was found.

A line number does not: an edit above would lose it. The passage is the JSON value that the finding points at; in a
text it is the paragraph, or the fenced block, around its place. A changed passage is another finding. Of findings that
are equal in all this the order counts, as in SARIF's `partialFingerprints`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from registry.bundles.finding import Finding
from registry.bundles.json_edits import NOWHERE, follow_pointer
from registry.bundles.json_locations import locate_pointers
from registry.bundles.problem import Path
from registry.bundles.text import Lines

_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
# A passage of more characters, written as JSON, counts by its digest.
LONG: Final = 4096
# About the bundle as a whole, whatever its texts say.
_OF_BUNDLE: Final = frozenset({"SCAN_MISSING"})
# What their messages say depends on the texts alone, and on how many others there are: the passage says enough.
_BY_PASSAGE: Final = ("SEC_", "SCAN_")
# Which other capability it is that this one is taken for stands in the message alone.
_ABOUT_OTHERS: Final = frozenset({"SEC_LOOKALIKE_ID", "SEC_LOOKALIKE_NAME"})


def fingerprint_findings(findings: Sequence[Finding], files: Mapping[str, str]) -> list[str]:
    """A fingerprint, `sha256:` and hex, of each finding, in their order; `files` are the texts that they are about."""
    texts = {
        name: _Passages(name, files[name], {each.pointer for each in findings if each.file == name})
        for name in {each.file for each in findings} & files.keys()
    }
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        identity = json.dumps(_identity(finding, texts.get(finding.file)), ensure_ascii=True, sort_keys=True)
        seen[identity] += 1
        found.append(f"sha256:{hashlib.sha256(f'{identity}:{seen[identity]}'.encode()).hexdigest()}")
    return found


def _identity(finding: Finding, texts: _Passages | None) -> list[Any]:
    words = finding.subject if finding.code.startswith("SCAN_") else ""
    if finding.code in _ABOUT_OTHERS or not finding.code.startswith(_BY_PASSAGE):
        words = finding.message
    passage: list[Any] = []
    if texts is not None and finding.line is not None and finding.code not in _OF_BUNDLE:
        passage = texts.find(finding.pointer, finding.line, finding.column or 1)
    return [finding.code, finding.severity, finding.file, words, passage]


class _Value(NamedTuple):
    """A JSON value that findings point at: `key` is its own in an object, else empty; `start` is its offset."""

    key: str
    content: Any
    is_text: bool
    start: int


class _Passages:
    """The passages of one file, each with the place of the finding in it.

    Each is read once, however many findings there are of it: thousands of findings of one long passage would take
    minutes else.
    """

    def __init__(self, name: str, text: str, pointers: Collection[str]) -> None:
        """`pointers` are those of all findings of the file."""
        self._lines, self._places = text.split("\n"), Lines(text)
        self._is_markdown, self._values = name.endswith(".md"), None
        self._contents: dict[int, Any] = {}
        if name.endswith(".json"):
            try:
                document = json.loads(text)
            except (ValueError, RecursionError):
                return
            self._values = _find_values(document, text, pointers)

    def find(self, pointer: str, line: int, column: int) -> list[Any]:
        """The passage at a place, and where in it the place is."""
        line = min(line, len(self._lines))
        if self._values is None:
            start, end = self._blocks[line - 1]
            block = self._content(start, lambda: [one.rstrip() for one in self._lines[start:end]])
            return [block, line - 1 - start, column]
        value = self._values.get(pointer)
        if value is None:
            written = self._lines[line - 1]
            return [self._content(line, written.strip), column - (len(written) - len(written.lstrip()))]
        offset = self._places.start_of(line) + column - 1 - value.start
        # Only inside of a string does a place mean anything; a key stands before its value.
        return [value.key, value.content, max(offset, -1) if value.is_text or offset < 0 else 0]

    def _content(self, place: int, read: Callable[[], Any]) -> Any:
        if place not in self._contents:
            self._contents[place] = _shorten(read())
        return self._contents[place]

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        return _list_blocks(self._lines, is_markdown=self._is_markdown)


def _find_values(document: Any, text: str, pointers: Collection[str]) -> dict[str, _Value]:
    """By their pointers; one that leads nowhere, or to the whole document, is left out."""
    followed = {pointer: follow_pointer(document, pointer) for pointer in pointers if pointer}
    spans = locate_pointers(text, [path for path, value in followed.values() if value is not NOWHERE])
    return {
        pointer: _Value(_key_of(path), _shorten(value), isinstance(value, str), spans[path].start)
        for pointer, (path, value) in followed.items()
        if value is not NOWHERE
    }


def _key_of(path: Path) -> str:
    return path[-1] if path and isinstance(path[-1], str) else ""


def _shorten(content: Any) -> Any:
    """A passage, or the digest of a long one."""
    written = json.dumps(content, ensure_ascii=True, sort_keys=True)
    return content if len(written) <= LONG else {"sha256": hashlib.sha256(written.encode()).hexdigest()}


def _list_blocks(lines: list[str], *, is_markdown: bool) -> list[tuple[int, int]]:
    """For each line the first line of its block and the one behind it: a fenced block, or lines without an empty one
    between them."""
    starts: list[int] = []
    fence, begun = "", False
    for at, line in enumerate(lines):
        mark = _FENCE.match(line) if is_markdown else None
        is_inside = bool(fence)
        if mark is not None and not fence:
            fence = mark[1]
            starts.append(at)
            begun = True
            continue
        continues = (is_inside or bool(line.strip())) and begun
        starts.append(starts[-1] if continues else at)
        begun = is_inside or bool(line.strip())
        if mark is not None and mark[1] == fence:
            fence, begun = "", False
    ends: list[int] = [0] * len(lines)
    for at in range(len(lines) - 1, -1, -1):
        is_last = at == len(lines) - 1 or starts[at + 1] != starts[at]
        ends[at] = at + 1 if is_last else ends[at + 1]
    return list(zip(starts, ends, strict=True))
