"""Reads what an outside scanner found, as SARIF 2.1.0; strict, since nobody looks at what is stored.

Source: OASIS Static Analysis Results Interchange Format 2.1.0. Texts of a log are not trusted: they are cut, put on one
line, and what cannot be seen in them is spelled out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from capability_rules.bundles.json_reader import read_json
from capability_rules.bundles.problem import BUNDLE_FILES, Severity
from capability_rules.bundles.text import Lines, decode_text
from capability_rules.errors import InvalidRequest
from capability_rules.validation.rules.json_schema import type_word

BYTES_MAX: Final = 1024 * 1024
RUNS_MAX: Final = 20
RESULTS_MAX: Final = 2000
MESSAGE_MAX: Final = 500
NAME_MAX: Final = 80
RULE_MAX: Final = 255
VERSION: Final = "2.1.0"
_LEVELS: Final = ("none", "note", "warning", "error")
_NOT_A_FAULT: Final = frozenset({"pass", "open", "informational", "notApplicable", "review"})
_ARGUMENT: Final = re.compile(r"\{(\d{1,2})\}")


@dataclass(frozen=True, slots=True)
class ScanResult:
    """One error or warning of a tool, at a place of the bundle; `line` and `column` as in a finding."""

    severity: Severity
    rule_id: str
    file: str
    line: int | None
    column: int | None
    message: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ToolResults:
    """What one tool found; `notes` and `suppressed` count results that block nothing."""

    tool: str
    version: str
    results: tuple[ScanResult, ...]
    notes: int
    suppressed: int


def parse_sarif(content: bytes) -> Any:
    """The JSON of a log. Raises `InvalidRequest` with line and column for what is too large or not strict JSON."""
    if len(content) > BYTES_MAX:
        raise InvalidRequest(f"The log has {len(content):,} bytes; at most {BYTES_MAX:,} are allowed")
    text, fault = decode_text(content)
    if fault is not None:
        raise InvalidRequest(f"The log is not text in UTF-8: {fault.message}")
    parsed = read_json(text)
    if parsed.faults or not parsed.readable:
        first = parsed.faults[0]
        line, column = Lines(text).place(first.offset)
        raise InvalidRequest(f"The log is not valid JSON at line {line}, column {column}: {first.message}")
    return parsed.value


def read_sarif(log: Any, files: Mapping[str, str], *, below: str = "") -> list[ToolResults]:
    """What each tool of a log found in the bundle of these files, by tool; runs of one tool are put together.

    `below` is the folder that the log's paths begin with. Raises `InvalidRequest` with a JSON Pointer (RFC 6901) in
    `pointer` for another version, too many runs or results, a run that failed, and a place that is not in the bundle.
    """
    version = _object(log, "").get("version")
    if version != VERSION:
        raise _refusal("/version", f"must be {VERSION!r}, found {str(version)[:40]!r}")
    runs = _list(log, "runs", "")
    if not 1 <= len(runs) <= RUNS_MAX:
        raise _refusal("/runs", f"must have 1 to {RUNS_MAX} runs, found {len(runs)}")
    found: dict[str, ToolResults] = {}
    left = RESULTS_MAX
    for index, run in enumerate(runs):
        reader = _RunReader(_object(run, f"/runs/{index}"), f"/runs/{index}", files, _folder(below))
        results = _list(reader.run, "results", reader.at) if "results" in reader.run else []
        left -= len(results)
        if left < 0:
            raise _refusal(f"{reader.at}/results", f"a log has at most {RESULTS_MAX} results")
        read = reader.read(results)
        before = found.get(read.tool)
        found[read.tool] = read if before is None else _join(before, read)
    return list(found.values())


def _join(first: ToolResults, second: ToolResults) -> ToolResults:
    return replace(
        first,
        results=(*first.results, *second.results),
        notes=first.notes + second.notes,
        suppressed=first.suppressed + second.suppressed,
    )


def _refusal(pointer: str, words: str) -> InvalidRequest:
    return InvalidRequest(f"The SARIF log at {pointer or '/'}: {words}", pointer=pointer)


def _object(value: Any, pointer: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refusal(pointer, f"must be an object, found {type_word(value)}")
    return value


def _list(owner: Mapping[str, Any], key: str, pointer: str) -> list[Any]:
    value = owner.get(key)
    if not isinstance(value, list):
        raise _refusal(f"{pointer}/{key}", f"must be a list, found {type_word(value)}")
    return value


def _text(owner: Any, key: str) -> str:
    value = owner.get(key) if isinstance(owner, dict) else None
    return value if isinstance(value, str) else ""


def _folder(below: str) -> str:
    return "" if not below else posixpath.normpath(below).strip() + "/" if posixpath.normpath(below) != "." else ""


def clean_text(text: str, most: int) -> str:
    """On one line, cut at `most` characters, with U+XXXX for what cannot be seen or would act on a terminal."""
    words = " ".join(text[: most * 4].split())
    shown = "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in words)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


@dataclass
class _RunReader:
    """One run: its rules, and what its results come to."""

    run: dict[str, Any]
    at: str
    files: Mapping[str, str]
    below: str

    def __post_init__(self) -> None:
        self.driver = _object(_object(self.run.get("tool"), f"{self.at}/tool").get("driver"), f"{self.at}/tool/driver")
        self.rules = _rules_of(self.driver)
        extensions = self.run["tool"].get("extensions")
        others = [rule for one in extensions for rule in _rules_of(one)] if isinstance(extensions, list) else []
        self.by_id = {_text(rule, "id"): rule for rule in [*others, *self.rules]}
        self.lines: dict[str, list[str]] = {}

    def read(self, results: Sequence[Any]) -> ToolResults:
        self._require_success()
        kept, notes, suppressed = [], 0, 0
        for index, value in enumerate(results):
            at = f"{self.at}/results/{index}"
            result = _object(value, at)
            if result.get("baselineState") == "absent":
                continue
            level = self._level(result, at)
            if _is_suppressed(result):
                suppressed += 1
            elif level in ("none", "note"):
                notes += 1
            else:
                kept.append(self._result(result, "error" if level == "error" else "warning", at))
        version = clean_text(_text(self.driver, "semanticVersion") or _text(self.driver, "version"), NAME_MAX)
        return ToolResults(self._name(), version, tuple(kept), notes, suppressed)

    def _name(self) -> str:
        name = _text(self.driver, "name").strip()
        if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
            raise _refusal(f"{self.at}/tool/driver/name", f"must have 1 to {NAME_MAX} printable characters")
        return name

    def _require_success(self) -> None:
        invocations = self.run.get("invocations")
        for index, one in enumerate(invocations if isinstance(invocations, list) else ()):
            if isinstance(one, dict) and one.get("executionSuccessful") is False:
                raise _refusal(f"{self.at}/invocations/{index}", "the tool says that its run failed: run it again")

    def _level(self, result: dict[str, Any], at: str) -> str:
        """The level of a result: its own, else that of its rule, else a warning."""
        if result.get("kind") in _NOT_A_FAULT:
            return "none"
        configuration = self._rule(result).get("defaultConfiguration")
        level = result.get("level", _text(configuration, "level") or "warning")
        if level not in _LEVELS:
            raise _refusal(f"{at}/level", f"must be one of {', '.join(_LEVELS)}, found {str(level)[:40]!r}")
        return str(level)

    def _rule(self, result: dict[str, Any]) -> dict[str, Any]:
        named = result.get("rule") if isinstance(result.get("rule"), dict) else {}
        index = result.get("ruleIndex", named.get("index") if isinstance(named, dict) else None)
        rule_id = _text(result, "ruleId") or _text(named, "id")
        if rule_id in self.by_id:
            return self.by_id[rule_id]
        if not rule_id and type(index) is int and 0 <= index < len(self.rules):
            return self.rules[index]
        return self.by_id.get(rule_id.partition("/")[0], {})

    def _result(self, result: dict[str, Any], severity: Severity, at: str) -> ScanResult:
        rule = self._rule(result)
        rule_id = _text(result, "ruleId") or _text(result.get("rule"), "id") or _text(rule, "id")
        file, line, column = self._place(result, at)
        message = self._message(result, rule) or _text(rule.get("shortDescription"), "text") or "no message"
        return ScanResult(severity, clean_text(rule_id, RULE_MAX), file, line, column, clean_text(message, MESSAGE_MAX))

    def _message(self, result: dict[str, Any], rule: dict[str, Any]) -> str:
        message = result.get("message")
        text = _text(message, "text")
        if not text and isinstance(message, dict):
            strings = rule.get("messageStrings")
            text = _text(strings.get(_text(message, "id")) if isinstance(strings, dict) else None, "text")
        arguments = message.get("arguments") if isinstance(message, dict) else None
        given = arguments if isinstance(arguments, list) else []

        def fill(match: re.Match[str]) -> str:
            index = int(match[1])
            return str(given[index])[:MESSAGE_MAX] if index < len(given) else match[0]

        return _ARGUMENT.sub(fill, text[: MESSAGE_MAX * 4]) if given else text

    def _place(self, result: dict[str, Any], at: str) -> tuple[str, int | None, int | None]:
        """File, line and column; the beginning of capability.json where the tool names no place."""
        locations = result.get("locations")
        if not isinstance(locations, list) or not locations:
            return self._at_line("capability.json", {}, at)
        at = f"{at}/locations/0/physicalLocation"
        physical = locations[0].get("physicalLocation") if isinstance(locations[0], dict) else None
        if physical is None:
            return self._at_line("capability.json", {}, at)
        physical = _object(physical, at)
        file = self._file(physical.get("artifactLocation"), f"{at}/artifactLocation")
        region = physical.get("region")
        return self._at_line(file, region if isinstance(region, dict) else {}, f"{at}/region")

    def _file(self, location: Any, at: str) -> str:
        uri, index = _text(location, "uri"), location.get("index") if isinstance(location, dict) else None
        artifacts = self.run.get("artifacts")
        if not uri and isinstance(artifacts, list) and type(index) is int and 0 <= index < len(artifacts):
            known = artifacts[index].get("location") if isinstance(artifacts[index], dict) else None
            uri = _text(known, "uri")
        path = _path_of(uri)
        file = path.removeprefix(self.below) if path.startswith(self.below) else ""
        if file not in self.files and file not in BUNDLE_FILES:
            shown = clean_text(uri, 200)
            words = f"'{shown}' is not a file of this bundle"
            hint = "where paths begin with a folder, name it as 'below'" if not self.below else f"below {self.below}"
            raise _refusal(at, f"{words} ({hint})")
        return file

    def _at_line(self, file: str, region: dict[str, Any], at: str) -> tuple[str, int | None, int | None]:
        if file not in self.files:
            return file, None, None
        lines = self.lines.setdefault(file, self.files[file].split("\n"))
        line = _number(region, "startLine", at)
        if line > len(lines):
            raise _refusal(f"{at}/startLine", f"{file} has {len(lines)} lines: these are the results of another text")
        column = _number(region, "startColumn", at)
        if self.run.get("columnKind") != "unicodeCodePoints":
            column = _code_points(lines[line - 1], column)
        return file, line, min(column, len(lines[line - 1]) + 1)


def _rules_of(component: Any) -> list[dict[str, Any]]:
    rules = component.get("rules") if isinstance(component, dict) else None
    return [rule if isinstance(rule, dict) else {} for rule in rules] if isinstance(rules, list) else []


def _is_suppressed(result: dict[str, Any]) -> bool:
    """Whether every suppression of it is accepted, which one without a status is (SARIF 3.35.3)."""
    given = result.get("suppressions")
    if not isinstance(given, list) or not given:
        return False
    return all(isinstance(one, dict) and one.get("status", "accepted") == "accepted" for one in given)


def _number(region: dict[str, Any], key: str, at: str) -> int:
    value = region.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _refusal(f"{at}/{key}", "must be an integer from 1")
    return value


def _path_of(uri: str) -> str:
    """The path of a file URI or of a relative reference; empty for everything else."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if not uri or parts.scheme not in ("", "file") or "\\" in uri:
        return ""
    return posixpath.normpath(unquote(parts.path)) if parts.path else ""


def _code_points(line: str, column: int) -> int:
    """A column in UTF-16 units, which SARIF counts by default, as one in code points."""
    units = 1
    for index, char in enumerate(line[:column]):
        if units >= column:
            return index + 1
        units += 1 + (char > "\uffff")
    return min(column, len(line) + 1)
