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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_edits import NOWHERE, follow_pointer
from capability_rules.bundles.json_locations import locate_pointers
from capability_rules.bundles.json_reader import iterate_values
from capability_rules.bundles.problem import Path
from capability_rules.bundles.text import Lines

_TOOLS: Final = "tools.json"
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
# A passage of more characters, written as JSON, counts by its digest.
LONG: Final = 4096
# About the bundle as a whole, whatever its texts say.
_OF_BUNDLE: Final = frozenset({"SCAN_MISSING", "EVALUATION_MISSING", "EVALUATION_FAILED"})
# What their messages say depends on the texts alone, and on how many others there are: the passage says enough.
_BY_PASSAGE: Final = ("SEC_", "SCAN_", "EVALUATION_")
# What they are about has a name of its own, which says enough.
_BY_SUBJECT: Final = ("SCAN_", "EVALUATION_")
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
    """The passage that a finding is in: `fingerprint` is of the file and the passage alone, `text` is its beginning."""

    fingerprint: str
    text: str


def find_passages(findings: Sequence[Finding], files: Mapping[str, str]) -> list[Passage]:
    """The passage of each finding, in their order. A finding about a path, or of no place, is a passage of its own."""
    texts = _read_passages(findings, files)
    found = []
    for finding in findings:
        content: Any = [finding.code, finding.message]
        if finding.file in texts and finding.line is not None:
            content = texts[finding.file].read(finding.pointer, finding.line)
        found.append(Passage(_fingerprint_of(finding.file, content), _describe(content)))
    return found


def mark_doubts(
    findings: Sequence[Finding], files: Mapping[str, str], mark: Callable[[Finding, str], Finding]
) -> tuple[Finding, ...]:
    """The same findings, each doubt as `mark` returns it for the fingerprint of its passage."""
    doubts = [finding for finding in findings if finding.is_doubt]
    passages = dict(zip(map(id, doubts), find_passages(doubts, files), strict=True))
    return tuple(mark(one, passages[id(one)].fingerprint) if id(one) in passages else one for one in findings)


def hold(finding: Finding, passage: str) -> Finding:
    """The finding of a passage that nobody has decided about."""
    return replace(finding, held=True, passage=passage)


def list_passage_fingerprints(files: Mapping[str, str]) -> set[str]:
    """The fingerprints of every passage of these texts: what `find_passages` would say of a finding in any of them."""
    return {
        _fingerprint_of(name, content)
        for name, text in files.items()
        for content in _Passages(name, text, ()).read_all()
    }


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

    def read_all(self) -> Iterator[Any]:
        """The content of every passage."""
        if self._document is NOWHERE:
            for start, end in dict.fromkeys(self._blocks):
                yield [one.rstrip() for one in self._lines[start:end]]
            return
        if self._name == _TOOLS and isinstance(self._document, list):
            yield from (_claim_of(tool) for tool in self._document if isinstance(tool, dict))
        yield from (line.strip() for line in self._lines)
        for value in iterate_values(self._document):
            if isinstance(value, dict):
                yield from ({key: inner} for key, inner in value.items())
            elif isinstance(value, list):
                yield from ({"": inner} for inner in value)

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
