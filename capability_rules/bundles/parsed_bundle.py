"""The author's texts, read once: values for the checks, and exact places for what they find."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

from capability_kit.bundles.digest import text_digest
from capability_rules.bundles import json_locations, json_reader
from capability_rules.bundles import text as texts
from capability_rules.bundles.file_description import HIDDEN_TEXT, describe_file
from capability_rules.bundles.file_pointer import (
    ALL_READ,
    CAPABILITY_BYTES_MAX,
    CONTENT_BYTES_MAX,
    NOT_READ,
    POINTERS_BYTES_MAX,
    TEXT_TYPES,
    is_pointer,
    parse_pointer,
)
from capability_rules.bundles.finding import Finding, sort_findings
from capability_rules.bundles.json_locations import Span
from capability_rules.bundles.problem import (
    BUNDLE_FILES,
    EXAMINED_MAX,
    PER_CODE_MAX,
    Path,
    RawFinding,
    Severity,
    collect_findings,
)
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.bundles.supporting_files import (
    COUNT_MAX,
    EVALUATION_FILES,
    METADATA_KEY,
    describe_path_error,
    find_collisions,
    is_part,
    named_paths,
    path_error,
)
from capability_rules.bundles.vendor_tools import find_tool_list

REQUIRED_FILES: Final = ("capability.json", "skill.md")
_PLACED_MAX: Final = 4_000
_NOT_A_LIST: Final = "not a list"
# By what an entry of these lists is known to the other files.
_ENTRY_NAMES: Final = {"tools.json": "name", "ui_schemas.json": "schema_id"}
_UNKNOWN_HINT: Final = (
    f"A bundle has four files: {', '.join(BUNDLE_FILES)}. A text that agents need is named in metadata.{METADATA_KEY}."
)


@dataclass(frozen=True)
class JsonDocument:
    """One JSON file.

    `value` is in the normalized form: tools.json and ui_schemas.json are lists, whatever wrapper the author wrote.
    `written` says which form that was, so that places lead back into it.
    """

    file: str
    text: str
    value: Any
    readable: bool
    written: str = "as is"
    # Where the list is, in a wrapper.
    list_path: Path = ()
    map_keys: tuple[str, ...] = ()

    def author_path(self, path: Path) -> tuple[Path, bool]:
        """The path in the author's own document, and whether it refers to the key there."""
        if self.written == "single":
            return path[1:], False
        if self.written == "wrapper":
            return (*self.list_path, *path), False
        if self.written == "map" and path and isinstance(path[0], int) and path[0] < len(self.map_keys):
            key = self.map_keys[path[0]]
            if path[1:2] == ("definition",):
                return (key, *path[2:]), False
            return (key,), path[1:2] == ("schema_id",)
        return path, False


def parse_json_document(file: str, text: str) -> tuple[JsonDocument, list[RawFinding], list[tuple[RawFinding, int]]]:
    """Parse one file. The second list pairs problems with their offset in the text: they need no look-up."""
    parsed = json_reader.read_json(text)
    placed = [
        (RawFinding(fault.code, file, fault.path, fault.message, fault.hint), fault.offset) for fault in parsed.faults
    ]
    document = JsonDocument(file, text, parsed.value, parsed.readable)
    if file == "tools.json" and parsed.readable:
        document, problems = _normalise_tools(document)
        return document, problems, placed
    if file == "ui_schemas.json" and parsed.readable and isinstance(parsed.value, dict):
        entries = [{"schema_id": key, "definition": value} for key, value in parsed.value.items()]
        return JsonDocument(file, text, entries, readable=True, written="map", map_keys=tuple(parsed.value)), [], placed
    return document, [], placed


def _normalise_tools(document: JsonDocument) -> tuple[JsonDocument, list[RawFinding]]:
    value, found = document.value, find_tool_list(document.value)
    if isinstance(value, list):
        return document, []
    if found is not None and isinstance(value, dict):
        path, tools = found
        hint = "Move it into a tool, or remove it."
        problems = [
            RawFinding("FIELD_UNKNOWN", "tools.json", (key,), f"Unknown key '{key}' beside tools", hint, at_key=True)
            for key in islice(value, EXAMINED_MAX)
            # Around a vendor's list stands what belongs to it.
            if path == ("tools",) and key not in ("tools", "$schema")
        ]
        # These are outside of the list: their place is looked up as written.
        written = "wrapper" if path else "single"
        return JsonDocument(
            "tools.json", document.text, tools, readable=True, written=written, list_path=path
        ), problems
    message = 'tools.json must be a list, or {"tools": [...]}'
    problem = RawFinding("FIELD_INVALID", "tools.json", (), message, "Write [] where there are no tools.")
    return JsonDocument("tools.json", document.text, [], readable=True, written=_NOT_A_LIST), [problem]


@dataclass
class ParsedBundle:
    """The texts of one bundle as they came, normalized, and whatever could be parsed."""

    files: dict[str, str] = field(default_factory=dict)
    json: dict[str, JsonDocument] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    # How many problems were reported of each file and code, and of which a check did not count the rest.
    reported: Counter[tuple[str, str]] = field(default_factory=Counter)
    uncounted: set[tuple[str, str]] = field(default_factory=set)
    # The texts of what travels beside the bundle (EVALUATION_FILES).
    beside: dict[str, str] = field(default_factory=dict)
    # Those whose text is not what the author wrote: too large, or not UTF-8.
    unreadable: set[str] = field(default_factory=set)

    @property
    def unread(self) -> frozenset[str]:
        """The files that are there but do not tell what they have: not parsed, not a list, or an entry has no name."""
        return frozenset(self.unreadable | {name for name in self.json if not self._tells_its_names(name)})

    def _tells_its_names(self, file: str) -> bool:
        document = self.json[file]
        if not document.readable or document.written == _NOT_A_LIST:
            return False
        key = _ENTRY_NAMES.get(file)
        if key is None:
            return True
        entries = document.value
        return isinstance(entries, list) and all(
            isinstance(each, dict) and isinstance(each.get(key), str) for each in entries
        )

    @cached_property
    def skill(self) -> SkillDocument:
        return SkillDocument(self.files.get("skill.md", ""))

    def _lines(self, file: str) -> texts.Lines:
        """The lines of a file, split once; files are still being added while the first findings are placed."""
        known = self._lines_read.get(file)
        text = self.beside[file] if file in self.beside else self.files[file]
        if known is None or known.text is not text:
            known = self._lines_read[file] = texts.Lines(text)
        return known

    @cached_property
    def _lines_read(self) -> dict[str, texts.Lines]:
        return {}

    def value(self, file: str) -> Any:
        """The parsed value; `[]` for an absent list, None where it could not be read."""
        document = self.json.get(file)
        if document is not None and document.readable:
            return document.value
        return [] if file in ("tools.json", "ui_schemas.json") else None

    def items(self, file: str) -> list[Any]:
        """The value of tools.json or ui_schemas.json as a list, whatever it is."""
        value = self.value(file)
        return value if isinstance(value, list) else []

    def report(self, problems: Iterable[RawFinding]) -> None:
        """Give each problem its line and column, and keep it as a finding."""
        by_file: dict[str, list[RawFinding]] = {}
        for problem in problems:
            if self._has_room(problem):
                by_file.setdefault(problem.file, []).append(problem)
        for file, found in by_file.items():
            document = self.json.get(file)
            if file == "skill.md":
                self._report_skill(found)
            elif file not in BUNDLE_FILES:
                # A problem without an offset concerns the file as a whole, such as its path.
                self.findings += [self._finding(problem, "", problem.offset) for problem in found]
            elif document is not None and document.readable:
                self._report_json(document, found)
            else:
                self.findings += [self._finding(problem, "", None) for problem in found]

    def report_at(self, problem: RawFinding, offset: int | None, pointer: str | None = None) -> None:
        """Keep a problem whose offset in the text is known."""
        if self._has_room(problem):
            written = json_locations.build_pointer(problem.path) if pointer is None else pointer
            self.findings.append(self._finding(problem, written, offset))

    def _has_room(self, problem: RawFinding) -> bool:
        kind = (problem.file, problem.code)
        self.reported[kind] += 1
        if problem.more_follow:
            self.uncounted.add(kind)
        return self.reported[kind] <= PER_CODE_MAX

    def sorted_findings(self) -> tuple[Finding, ...]:
        """All findings by file and place; where there are too many of a kind, the last one says how many more."""
        found = list(sort_findings(self.findings))
        last = {(finding.file, finding.code): place for place, finding in enumerate(found)}
        for kind, place in last.items():
            more = self.reported[kind] - PER_CODE_MAX
            if more > 0 or kind in self.uncounted:
                words = f"{'At least ' if kind in self.uncounted else ''}{more:,}" if more > 0 else "There are"
                message = f"{found[place].message.rstrip('.')}. {words} more of this kind in this file"
                found[place] = replace(found[place], message=message)
        return tuple(found)

    def _report_skill(self, problems: list[RawFinding]) -> None:
        for problem in problems:
            # Without an offset it is the file as a whole; an offset without headings is below those around it.
            offset = problem.offset or 0
            headings = problem.path if problem.path or problem.offset is None else self.skill.headings_at(offset)
            self.findings.append(self._finding(problem, "/".join(map(str, headings)), offset))

    def _report_json(self, document: JsonDocument, problems: list[RawFinding]) -> None:
        places = [self._place(document, problem) for problem in problems]
        spans = json_locations.locate_pointers(document.text, [path for path, _ in places])
        for problem, (path, at_key) in zip(problems, places, strict=True):
            offset = _offset(document.text, spans[path], problem, at_key=at_key)
            self.findings.append(self._finding(problem, json_locations.build_pointer(path), offset))

    def _place(self, document: JsonDocument, problem: RawFinding) -> tuple[Path, bool]:
        if document.written == "wrapper" and problem.path and isinstance(problem.path[0], str):
            return problem.path, problem.at_key
        path, at_key = document.author_path(problem.path)
        return path, at_key or problem.at_key

    def _finding(self, problem: RawFinding, pointer: str, offset: int | None) -> Finding:
        line, column = (None, None)
        if offset is not None and (problem.file in self.files or problem.file in self.beside):
            line, column = self._lines(problem.file).place(offset)
        severity = problem.severity or self.severities.get(problem.code, "error")
        message, hint = problem.message.replace("\0", "\\u0000"), problem.hint.replace("\0", "\\u0000")
        place = (problem.file, pointer, line, column)
        return Finding(problem.code, severity, *place, message, hint, problem.subject, problem.certainty)


def _offset(text: str, span: Span, problem: RawFinding, *, at_key: bool) -> int:
    start = span.key if at_key and span.key is not None else span.start
    if problem.offset is None or text[start : start + 1] != '"':
        return start
    return json_locations.string_offset(text, start, problem.offset)


def parse_bundle(files: Mapping[str, bytes | str], severities: Mapping[str, Severity]) -> ParsedBundle:
    """Normalize and parse whatever is there; what cannot be read becomes findings, never an exception."""
    documents = ParsedBundle(severities=severities)
    total = 0
    for name in BUNDLE_FILES:
        if name in files:
            total += texts.size_bytes(files[name])
            _read_file(documents, name, files[name])
        elif name in REQUIRED_FILES:
            problem = RawFinding("FILE_MISSING", name, (), f"{name} is missing", f"Add a file named {name}.")
            documents.report_at(problem, None, "")
    documents.beside = {name: texts.decode_text(files[name])[0] for name in EVALUATION_FILES if name in files}
    named = named_paths(documents.value("capability.json"))
    total += _read_supporting(documents, files, named)
    if total > texts.BUNDLE_BYTES_MAX:
        message = f"The bundle has {total:,} bytes; at most {texts.BUNDLE_BYTES_MAX:,} are allowed"
        problem = RawFinding("BUNDLE_TOO_LARGE", "capability.json", (), message, "Shorten the texts.")
        documents.report_at(problem, 0 if "capability.json" in documents.files else None, "")
    documents.report(collect_findings(_mark_problems(files, named)))
    unknown = [name for name in files if not is_part(name, named) and name not in EVALUATION_FILES]
    if "capability.json" in documents.unread:
        # It may name them all, but for those that nothing can name.
        unknown = [name for name in unknown if path_error(name)]
    _report_unknown_files(documents, unknown)
    return documents


def _mark_problems(files: Mapping[str, bytes | str], named: Mapping[str, int]) -> Iterator[RawFinding]:
    """What capability.json names and that does not exist. Of one that is there its own file is checked."""
    # A place inside of a string is counted from its start each time; of thousands of lines that takes too long.
    is_placed = max(named.values(), default=0) < _PLACED_MAX
    for name, offset in named.items():
        if name in files and name not in BUNDLE_FILES:
            continue
        shown, fault, path = name[:200], path_error(name), ("metadata", METADATA_KEY)
        code = "FILE_PATH_INVALID" if fault else "FILE_NAMED_MISSING"
        message = describe_path_error(name, fault) if fault else f"The file '{shown}' is not there"
        hint = f"Take the line out of metadata.{METADATA_KEY}{', or add the file' if not fault else ''}."
        place = offset if is_placed else None
        yield RawFinding(code, "capability.json", path, message, hint, offset=place, subject=shown)


def _report_unknown_files(documents: ParsedBundle, unknown: list[str]) -> None:
    more = len(unknown) - PER_CODE_MAX
    for place, name in enumerate(sorted(unknown)[:PER_CODE_MAX], start=1):
        close = next((known for known in BUNDLE_FILES if known.lower() == name.lower()), None)
        hint = f"Name it {close}." if close else _UNKNOWN_HINT
        severity = documents.severities.get("FILE_UNKNOWN", "warning")
        shown = name[:200]
        message = f"The file '{shown}' is not part of a bundle and is left out"
        if place == PER_CODE_MAX and more > 0:
            message += f", as are {more:,} more files"
        documents.findings.append(Finding("FILE_UNKNOWN", severity, shown, "", None, None, message, hint))


def _read_supporting(documents: ParsedBundle, files: Mapping[str, bytes | str], named: Collection[str]) -> int:
    """Their size in bytes. What is past the number that a bundle may have is named and not read."""
    names = sorted(name for name in files if is_part(name, named) and name not in BUNDLE_FILES)
    taken = {name: _as_kept(files[name]) for name in names[:COUNT_MAX]}
    _check_pointers(documents, taken)
    collisions = find_collisions(names)
    for name, content in taken.items():
        _read_file(documents, name, content)
        fault = path_error(name) or ("it is another file's, but for the case of letters" if name in collisions else "")
        if fault:
            problem = RawFinding("FILE_PATH_INVALID", name, (), describe_path_error(name, fault), "Rename the file.")
            documents.report_at(problem, None, "")
    if len(names) > COUNT_MAX:
        message = f"There are {len(names):,} supporting files; at most {COUNT_MAX:,} are allowed"
        problem = RawFinding("FILES_TOO_MANY", names[COUNT_MAX], (), message, "Join some of them, or leave some out.")
        documents.report_at(problem, None, "")
    return sum(texts.size_bytes(content) for content in taken.values() if not is_pointer(content))


def _as_kept(content: bytes | str) -> bytes | str:
    """As it is, or the pointer to what is not text."""
    is_kept = isinstance(content, bytes) and texts.is_binary(content)
    return describe_file(content).write() if is_kept and isinstance(content, bytes) else content


def _check_pointers(documents: ParsedBundle, taken: Mapping[str, bytes | str]) -> None:
    """The sizes of what is kept by its digest, and what nobody has read."""
    total = written = 0
    in_part: dict[str, str] = {}
    for name, content in taken.items():
        pointer = parse_pointer(content) if isinstance(content, str) else None
        if pointer is None:
            continue
        total, written = total + pointer.size, written + texts.size_bytes(content)
        if pointer.size > CONTENT_BYTES_MAX:
            words = f"The file has over {CONTENT_BYTES_MAX >> 20} MiB, the most that a supporting file may have"
            documents.report_at(RawFinding("FILE_TOO_LARGE", name, (), words, "Make it smaller."), None, "")
        if HIDDEN_TEXT in pointer.contains:
            message = f"'{name[:200]}' has text that it does not show to who opens it"
            hint = "Show the text, or take it out."
            documents.report_at(RawFinding("SEC_HIDDEN_MARKUP", name, (), message, hint), None, "")
        if pointer.media_type in TEXT_TYPES and pointer.read != ALL_READ:
            in_part[name] = pointer.digest
        elif pointer.read != ALL_READ and pointer.size <= CONTENT_BYTES_MAX:
            said = "not read" if pointer.read == NOT_READ else f"read in part: {pointer.read}"
            message = f"'{name[:200]}' ({pointer.media_type}) was {said}, so nobody checked what is in it"
            hint = "Open it and look, or take it out where agents do not need it."
            documents.report_at(RawFinding("FILE_NOT_TEXT", name, (), message, hint), None, "")
    if in_part:
        more = f" and {len(in_part) - 1:,} more files" if len(in_part) > 1 else ""
        # Agents read them as they read every other text, and padding must not carry one past the checks.
        first = next(iter(in_part))
        message = f"Of '{first[:200]}'{more} only the beginning was checked, and agents read all of it"
        hint = "Shorten the texts: 1 MiB a file and 2 MiB a bundle are checked. Or have an admin read and waive it."
        # A waiver is for these bytes alone.
        subject = text_digest(json.dumps(in_part, sort_keys=True))
        documents.report_at(RawFinding("FILE_UNCHECKED", first, (), message, hint, subject=subject), None, "")
    if total > CAPABILITY_BYTES_MAX or written > POINTERS_BYTES_MAX:
        what = "files" if total > CAPABILITY_BYTES_MAX else "texts that could be read of the files"
        most = CAPABILITY_BYTES_MAX if total > CAPABILITY_BYTES_MAX else POINTERS_BYTES_MAX
        message = f"The {what} have {max(total, written):,} bytes together; at most {most:,} are allowed"
        problem = RawFinding("BUNDLE_TOO_LARGE", "capability.json", (), message, "Leave some out.")
        documents.report_at(problem, 0 if "capability.json" in documents.files else None, "")


def _read_file(documents: ParsedBundle, name: str, raw: bytes | str) -> None:
    size = texts.size_bytes(raw)
    if size > texts.FILE_BYTES_MAX:
        message = f"The file has {size:,} bytes; at most {texts.FILE_BYTES_MAX:,} are allowed"
        documents.files[name] = ""
        documents.unreadable.add(name)
        documents.report_at(RawFinding("FILE_TOO_LARGE", name, (), message, "Shorten it."), 0, "")
        return
    text, fault = texts.decode_text(raw)
    documents.files[name] = text
    if fault is not None:
        documents.unreadable.add(name)
        documents.report_at(RawFinding(fault.code, name, (), fault.message, fault.hint), fault.offset, "")
    if name == "skill.md" or name not in BUNDLE_FILES:
        _report_nul(documents, name, text)
    elif fault is None:
        _read_json(documents, name, text)


def _report_nul(documents: ParsedBundle, name: str, text: str) -> None:
    nul = text.find("\0")
    if nul != -1:
        hint = "Remove the NUL character."
        documents.report_at(RawFinding("TEXT_NUL", name, (), "The file holds a NUL character (U+0000)", hint), nul, "")
        documents.files[name] = text.replace("\0", "\ufffd")


def _read_json(documents: ParsedBundle, name: str, text: str) -> None:
    document, problems, placed = parse_json_document(name, text)
    documents.json[name] = document
    for problem, offset in placed:
        code = "UI_FILE_NOT_JSON" if name == "ui_schemas.json" and problem.code == "JSON_INVALID" else problem.code
        documents.report_at(RawFinding(code, name, problem.path, problem.message, problem.hint), offset)
    documents.report(problems)
