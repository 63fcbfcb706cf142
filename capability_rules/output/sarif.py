"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a change.

Source: OASIS Static Analysis Results Interchange Format 2.1.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from capability_rules.validation import Finding
from capability_rules.validation.bundle_set import ValidationResult
from capability_rules.validation.codes import list_codes

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def build_sarif(checked: Iterable[ValidationResult]) -> dict[str, Any]:
    """One run over all bundles of a call; columns count code points."""
    results = [_result(entry.path_of(finding), finding) for entry in checked for finding in entry.report.findings]
    used = sorted({result["ruleId"] for result in results})
    driver = {"name": "Capability Studio", "rules": [_rule(code) for code in used]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    row = list_codes()[code]
    return {
        "id": code,
        "shortDescription": {"text": row.cause},
        "help": {"text": f"{row.cause} {row.fix}"},
        "defaultConfiguration": {"level": row.severity},
    }


def _result(path: str, finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(path, errors="surrogateescape")}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line, "startColumn": finding.column}
    place: dict[str, Any] = {"physicalLocation": location}
    if finding.pointer:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.pointer}]
    result = {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": finding.words},
        "locations": [place],
    }
    if finding.held:
        result["properties"] = {"held": True}
    decision = finding.waiver or finding.accepted
    if decision is not None:
        # By people of the registry, not by a mark in the text.
        accepted = {"kind": "external", "status": "accepted", "justification": decision.reason}
        result["suppressions"] = [accepted]
    return result
