"""Findings for a terminal: the line they are about, an arrow under the place, and the fix."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    # Every command prints through this module, and few have read a bundle: the readers stay unloaded.
    from capability_rules.validation import Finding
    from capability_rules.validation.bundle_set import ValidationResult

_COLOURS: Final = {"error": "31;1", "warning": "33;1", "place": "34", "hint": "36", "good": "32;1", "bold": "1"}
WIDTH_MAX: Final = 160


class TerminalStyle:
    """Whether to use color: on a terminal, unless NO_COLOR is set (no-color.org)."""

    def __init__(self, stream: TextIO) -> None:
        forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
        self.is_on = forced or (stream.isatty() and not os.environ.get("NO_COLOR"))

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self.is_on else text


def format_findings(finding: Finding, path: str, files: Mapping[str, str], paint: TerminalStyle) -> Iterator[str]:
    """One finding: what, where, the line with an arrow, and the hint."""
    message = paint("bold", escape_controls(finding.message))
    yield f"{paint(*_kind_of(finding))}[{finding.code}] {message}"
    from capability_rules.validation.bundle_set import folder_of

    place = f"{folder_of(path)}/{finding.file}" if finding.file else path
    if finding.line is not None:
        place += f":{finding.line}:{finding.column}"
    pointer = f"  ({escape_controls(finding.pointer)})" if finding.pointer else ""
    yield f"  {paint('place', '-->')} {escape_controls(place)}{pointer}"
    if finding.line is not None and finding.file in files:
        yield from _excerpt(files[finding.file], finding.line, finding.column or 1, finding.severity, paint)
    if finding.waiver is not None:
        terms = f"until {finding.waiver.until} by {finding.waiver.by}: {finding.waiver.reason}"
        yield f"  {paint('place', 'waived:')} {escape_controls(terms)}"
    elif finding.accepted is not None:
        words = f"by {finding.accepted.by}: {finding.accepted.reason}"
        yield f"  {paint('place', 'accepted:')} {escape_controls(words)}"
    elif finding.hint:
        yield f"  {paint('hint', 'hint:')} {escape_controls(finding.hint)}"
    yield ""


def _kind_of(finding: Finding) -> tuple[str, str]:
    """The color and the word of a finding: its severity, and what people have decided about it."""
    if finding.waiver is not None:
        return "place", f"waived {finding.severity}"
    if finding.accepted is not None:
        return "place", f"accepted {finding.severity}"
    return finding.severity, "held" if finding.held else finding.severity


def format_validation(entry: ValidationResult, paint: TerminalStyle) -> Iterator[str]:
    """Everything that was found in one bundle, and whether it can be published."""
    for finding in entry.report.findings:
        yield from format_findings(finding, entry.path, entry.report.files, paint)
    sign = paint("good", "ok") if entry.report.ok else paint("error", "not publishable")
    yield f"{escape_controls(entry.path)}: {sign} ({format_summary(entry.report.findings)})"


def _excerpt(text: str, line: int, column: int, severity: str, paint: TerminalStyle) -> Iterator[str]:
    lines = text.split("\n")
    if line > len(lines):
        return
    source = lines[line - 1]
    start = max(0, column - 1 - WIDTH_MAX // 2) if len(source) > WIDTH_MAX else 0
    shown = escape_controls(source[start : start + WIDTH_MAX])
    number = str(line)
    gutter = " " * len(number)
    before = escape_controls(source[start : column - 1])
    yield paint("place", f"  {gutter} |")
    yield f"{paint('place', f'  {number} |')} {shown}"
    yield f"{paint('place', f'  {gutter} |')} {' ' * _cells(before)}{paint(severity, '^')}"


def escape_controls(text: str) -> str:
    """What cannot be seen, or would act on the terminal, as U+XXXX: a bundle's text is never trusted."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else " " if character == "\t" else f"<U+{ord(character):04X}>"
        for character in text
    )


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0
        if unicodedata.category(character) in ("Mn", "Me")
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def format_summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning, 1 held, 1 waived, 1 accepted`, or `no findings`."""
    waived, accepted, held = (
        sum(bool(getattr(finding, what)) for finding in findings) for what in ("waiver", "accepted", "held")
    )
    errors, warnings = (sum(getattr(one, kind) for one in findings) for kind in ("is_error", "is_warning"))
    parts = [_count(errors, "error"), _count(warnings - held, "warning")]
    parts += [
        f"{number} {word}" for number, word in ((held, "held"), (waived, "waived"), (accepted, "accepted")) if number
    ]
    return ", ".join(part for part in parts if part) or "no findings"


def _count(number: int, noun: str) -> str:
    return "" if number == 0 else f"{number} {noun}{'' if number == 1 else 's'}"
