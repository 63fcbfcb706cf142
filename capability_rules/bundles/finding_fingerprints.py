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
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_edits import NOWHERE, follow_pointer, follow_step
from capability_rules.bundles.json_locations import locate_pointers
from capability_rules.bundles.problem import Path
from capability_rules.bundles.text import Lines

_TOOLS: Final = "tools.json"
_NAMES: Final = ("name", "schema_id", "id")
# A line of a list, a quotation or a table: what leads up to it stands before all of them.
_LISTED: Final = re.compile(r"\s{0,8}(?:[-*+|>•#]|\d{1,3}[.)])")
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
# A passage of more characters, written as JSON, counts by its digest.
LONG: Final = 4096
# About the bundle as a whole, whatever its texts say.
_OF_BUNDLE: Final = frozenset({"SCAN_MISSING", "EVALUATION_MISSING", "EVALUATION_FAILED"})
# What their messages say depends on the texts alone, and on how many others there are: the passage says enough.
_BY_PASSAGE: Final = ("SEC_", "SCAN_", "EVALUATION_", "FILE_UNCHECKED")
# What they are about has a name of its own, which says enough.
_BY_SUBJECT: Final = ("SCAN_", "EVALUATION_", "FILE_UNCHECKED")
# Which other capability it is that this one is taken for stands in the message alone.
_ABOUT_OTHERS: Final = frozenset({"SEC_LOOKALIKE_ID", "SEC_LOOKALIKE_NAME"})


def fingerprint_findings(findings: Sequence[Finding], files: Mapping[str, str]) -> list[str]:
    """A fingerprint, `sha256:` and hex, of each finding, in their order; `files` are the texts that they are about."""
    texts = _read_passages(findings, files)
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        identity = json.dumps(_identity(finding, texts.get(finding.file)), ensure_ascii=True, sort_keys=True)
        seen[identity] += 1
        found.append(f"sha256:{hashlib.sha256(f'{identity}:{seen[identity]}'.encode()).hexdigest()}")
    return found


class Passage(NamedTuple):
    """The passage that a finding is in; `text` is its beginning.

    `fingerprint` is of the file, the passage and what it is understood by: the heading, the blocks and the lead-in
    around it, in JSON where it stands. `core` is of the file and the passage alone, as decisions were kept before.
    """

    fingerprint: str
    text: str
    core: str


def find_passages(findings: Sequence[Finding], files: Mapping[str, str]) -> list[Passage]:
    """The passage of each finding, in their order. A finding about a path, or of no place, is a passage of its own."""
    texts = _read_passages(findings, files)
    found = []
    for finding in findings:
        content, around = [finding.code, finding.message], None
        if finding.file in texts and finding.line is not None:
            content = texts[finding.file].read(finding.pointer, finding.line)
            around = texts[finding.file].read_around(finding.pointer, finding.line)
        core = _fingerprint_of(finding.file, content)
        whole = _fingerprint_of(finding.file, [content, around])
        found.append(Passage(whole, _describe(content), core))
    return found


def mark_doubts(
    findings: Sequence[Finding], files: Mapping[str, str], mark: Callable[[Finding, Passage], Finding]
) -> tuple[Finding, ...]:
    """The same findings, each doubt as `mark` returns it for its passage."""
    doubts = [finding for finding in findings if finding.is_doubt]
    passages = dict(zip(map(id, doubts), find_passages(doubts, files), strict=True))
    return tuple(mark(one, passages[id(one)]) if id(one) in passages else one for one in findings)


def hold(finding: Finding, passage: Passage) -> Finding:
    """The finding of a passage that nobody has decided about."""
    return replace(finding, held=True, passage=passage.fingerprint)


def _read_passages(findings: Sequence[Finding], files: Mapping[str, str]) -> dict[str, _Passages]:
    return {
        name: _Passages(name, files[name], {each.pointer for each in findings if each.file == name})
        for name in {each.file for each in findings} & files.keys()
    }


def _fingerprint_of(file: str, content: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps([file, content], sort_keys=True).encode()).hexdigest()}"


def _describe(content: Any) -> str:
    """The beginning of a passage as its author wrote it."""
    if isinstance(content, dict):
        ((key, value),) = content.items()
        shown = value if not key or isinstance(value, dict) else content
        content = value if isinstance(value, str) else json.dumps(shown, ensure_ascii=False)
    return ("\n".join(map(str, content)) if isinstance(content, list) else str(content))[:LONG]


def _identity(finding: Finding, texts: _Passages | None) -> list[Any]:
    words = finding.subject if finding.code.startswith(_BY_SUBJECT) else ""
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
        self._name, self._lines, self._places = name, text.split("\n"), Lines(text)
        self._is_markdown, self._values = name.endswith(".md"), None
        self._contents: dict[int, Any] = {}
        self._document: Any = NOWHERE
        if name.endswith(".json"):
            try:
                self._document = json.loads(text)
            except (ValueError, RecursionError):
                return
            self._values = _find_values(self._document, text, pointers)

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

    def read(self, pointer: str, line: int) -> Any:
        """The content of the passage at a place, whole."""
        line = min(line, len(self._lines))
        if self._document is NOWHERE:
            start, end = self._blocks[line - 1]
            return [one.rstrip() for one in self._lines[start:end]]
        path, value = follow_pointer(self._document, pointer)
        if self._name == _TOOLS and "policy" in path[1:2]:
            return _claim_of(self._document[path[0]])
        # What is doubted may be the key.
        return self._lines[line - 1].strip() if value is NOWHERE or not pointer else {_key_of(path): value}

    def read_around(self, pointer: str, line: int) -> Any:
        """What a passage is understood by: in a text the heading above it, the block that leads up to it, and those
        beside it; in JSON the path to it."""
        if self._document is not NOWHERE:
            return _name_path(self._document, follow_pointer(self._document, pointer)[0]) if pointer else []
        line = min(line, len(self._lines))
        blocks = self._written_blocks
        here = next((at for at, block in enumerate(blocks) if block[0] < line <= block[1]), None)
        if here is None:
            return []
        before = [self._lines[start:end] for start, end in blocks[:here]]
        behind = [self._lines[start:end] for start, end in blocks[here + 1 : here + 2]]
        # A heading behind it is of what follows.
        behind = [block for block in behind if not block[0].startswith("#")]
        heading = next((block for block in reversed(before) if block[0].startswith("#")), [])
        lead = next((block for block in reversed(before) if not _LISTED.match(block[0])), [])
        around = [heading[:1], lead, *before[-1:], *behind]
        return [[one.strip() for one in block] for block in around]

    def _content(self, place: int, read: Callable[[], Any]) -> Any:
        if place not in self._contents:
            self._contents[place] = _shorten(read())
        return self._contents[place]

    @cached_property
    def _written_blocks(self) -> list[tuple[int, int]]:
        """The blocks that are not empty, in their order."""
        found = dict.fromkeys(self._blocks)
        return [(start, end) for start, end in found if any(one.strip() for one in self._lines[start:end])]

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


def _name_path(document: Any, path: Path) -> list[str | int]:
    """The steps to a value, an item of a list by the name that it has: one that is added before it changes nothing."""
    found: list[str | int] = []
    for step in path:
        document = follow_step(document, step)
        names = (document.get(key) for key in _NAMES) if isinstance(document, dict) and isinstance(step, int) else ()
        found.append(next((name for name in names if isinstance(name, str)), step))
    return found


def _claim_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What a tool says that it does: a doubt about its policy is about all of it, not about the word `read`."""
    return {"tool": {key: tool[key] for key in ("name", "description", "policy") if key in tool}}


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
