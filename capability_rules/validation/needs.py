"""Capabilities that name each other: what is not there, and what leads back to itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from capability_kit.json_text import parse_json
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_locations import build_pointer, locate_path
from capability_rules.bundles.needed_skills import find_circle, get_needed_skills
from capability_rules.validation.report import Report

_UNKNOWN: Final = "DEPENDENCY_UNKNOWN"
_CIRCLE: Final = "DEPENDENCY_CIRCLE"
NEED_CODES: Final = frozenset({_UNKNOWN, _CIRCLE})
_FILE: Final = "capability.json"
_UNKNOWN_HINT: Final = "Publish it, correct the id, or remove the line."
_CIRCLE_HINT: Final = "Keep the direction in which the instructions hand over, or ignore this."


def find_need_findings(
    report: Report, *, is_loadable: Callable[[str], bool], needs_of: Callable[[str], Iterable[str]]
) -> list[Finding]:
    """A warning for each needed skill that agents cannot load, and one where the needs lead back to it."""
    text = report.files.get(_FILE, "")
    value = parse_json(text) if '"skills"' in text else None
    capability = value if isinstance(value, dict) else {}
    skills = get_needed_skills(capability)
    if not skills:
        return []
    named, found = capability["dependencies"]["skills"], []
    for skill in skills:
        if skill != report.capability_id and not is_loadable(skill):
            message = f"The skill '{skill[:64]}' that it needs is not one that agents can load here"
            found.append(_finding(_UNKNOWN, text, named.index(skill), message, _UNKNOWN_HINT))
    others = [skill for skill in skills if skill != report.capability_id]
    circle = find_circle(report.capability_id, others, needs_of)
    if circle:
        message = f"What it needs leads back to it: {', '.join(circle[:-1])}, and {circle[-1]} again"
        found.append(_finding(_CIRCLE, text, named.index(circle[1]), message, _CIRCLE_HINT))
    return found


def _finding(code: str, text: str, index: int, message: str, hint: str) -> Finding:
    path = ("dependencies", "skills", index)
    line, column = locate_path(text, path)
    return Finding(code, "warning", _FILE, build_pointer(path), line, column, message, hint)
