"""Findings as commands of GitHub Actions, which shows them beside the lines of a pull request.

Source: GitHub, "Workflow commands for GitHub Actions", error, warning and notice messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from capability_rules.output.text import escape_controls
from capability_rules.validation import Finding
from capability_rules.validation.bundle_set import ValidationResult


def format_annotations(checked: Iterable[ValidationResult]) -> Iterator[str]:
    """A line for each finding. A held passage is a warning; what somebody has decided about is left out."""
    for entry in checked:
        for finding in entry.report.findings:
            if finding.waiver is None and finding.accepted is None:
                yield _annotation(entry, finding)


def _annotation(entry: ValidationResult, finding: Finding) -> str:
    properties = {"file": entry.path_of(finding)}
    if finding.line is not None:
        properties |= {"line": str(finding.line), "col": str(finding.column)}
    properties["title"] = f"{finding.code} (held)" if finding.held else finding.code
    where = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
    return f"::{finding.severity} {where}::{_escape(finding.words)}"


def _escape(text: str) -> str:
    return escape_controls(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
