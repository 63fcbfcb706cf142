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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from registry.bundles.finding import Finding
from registry.bundles.json_edits import NOWHERE, follow_pointer
from registry.bundles.json_locations import locate_pointers
from registry.bundles.text import Lines

_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
# About the bundle as a whole, whatever its texts say.
_OF_BUNDLE: Final = frozenset({"SCAN_MISSING"})
# What their messages say depends on the texts alone, and on how many others there are: the passage says enough.
_BY_PASSAGE: Final = ("SEC_", "SCAN_")
# Which other capability it is that this one is taken for stands in the message alone.
_ABOUT_OTHERS: Final = frozenset({"SEC_LOOKALIKE_ID", "SEC_LOOKALIKE_NAME"})


def fingerprint_findings(findings: Iterable[Finding], files: Mapping[str, str]) -> list[str]:
    """A fingerprint, `sha256:` and hex, of each finding, in their order; `files` are the texts that they are about."""
    texts: dict[str, _Passages] = {}
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        if finding.file in files and finding.file not in texts:
            texts[finding.file] = _Passages(finding.file, files[finding.file])
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


@dataclass
class _Passages:
    """The passages of one file, each with the place of the finding in it."""

    name: str
    text: str
    lines: list[str] = field(init=False)
    blocks: list[tuple[int, int]] | None = field(default=None, init=False)
    places: Lines = field(init=False)
    value: Any = field(default=NOWHERE, init=False)

    def __post_init__(self) -> None:
        self.lines, self.places = self.text.split("\n"), Lines(self.text)
        if self.name.endswith(".json"):
            try:
                self.value = json.loads(self.text)
            except (ValueError, RecursionError):
                self.value = NOWHERE

    def find(self, pointer: str, line: int, column: int) -> list[Any]:
        """The passage at a place, and where in it the place is."""
        if self.value is not NOWHERE:
            found = self._find_value(pointer, line, column) if pointer else None
            return found if found is not None else self._find_line(line, column)
        if self.blocks is None:
            self.blocks = _list_blocks(self.lines, is_markdown=self.name.endswith(".md"))
        start, end = self.blocks[min(line, len(self.lines)) - 1]
        return [[one.rstrip() for one in self.lines[start:end]], line - 1 - start, column]

    def _find_line(self, line: int, column: int) -> list[Any]:
        written = self.lines[min(line, len(self.lines)) - 1]
        return [written.strip(), column - (len(written) - len(written.lstrip()))]

    def _find_value(self, pointer: str, line: int, column: int) -> list[Any] | None:
        path, value = follow_pointer(self.value, pointer)
        if value is NOWHERE:
            return None
        start = locate_pointers(self.text, [path])[path].start
        offset = self.places.start_of(line) + column - 1 - start
        # Only inside of a string does a place mean anything; a key stands before its value.
        place = max(offset, -1) if isinstance(value, str) or offset < 0 else 0
        key = path[-1] if path and isinstance(path[-1], str) else ""
        return [key, value, place]


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
