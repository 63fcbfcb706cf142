"""One bundle checked in this process: every check in turn, each finding at its place.

`validate_bundle` of this package is what the product calls; it comes here, or asks a process that does (isolation/).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.deadline import Deadline, DeadlineExceeded
from capability_rules.bundles.finding import Finding, sort_findings
from capability_rules.bundles.parsed_bundle import ParsedBundle, parse_bundle
from capability_rules.bundles.problem import UNFINISHED_CODE, RawFinding
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.codes import severity_by_code
from capability_rules.validation.report import Report

if TYPE_CHECKING:
    from capability_rules.validation.pipeline import Check

logger = logging.getLogger(__name__)

# Of all codes together; of one code and file see capability_rules.bundles.problem.
FINDINGS_MAX: Final = 3000
# docs/contract.md 2: of CPU time of this thread. What counts in a verdict is work, with bounds of its own; the largest
# bundles take a third of this on an idle machine. What has not begun by then is not begun, and what can take long
# checks between its steps.
SECONDS_MAX: Final = 5.4
_FILES: Final = "the files"

# Called with the name of each check before it begins, first of all once the files were read.
CheckObserver = Callable[[str, ParsedBundle], None]


def check_in_place(
    files: Mapping[str, bytes | str],
    published: ValidationContext | None = None,
    *,
    on_check: CheckObserver = lambda _name, _documents: None,
) -> Report:
    """As `validate_bundle`, in this process; a check that does not look at its deadline is not ended."""
    # The checks and their tables load on first use: a process that only lists and loads never needs them.
    from capability_rules.validation import pipeline

    deadline = Deadline.after(SECONDS_MAX)
    documents = parse_bundle(files, severity_by_code())
    on_check(_FILES, documents)
    _run(documents, pipeline.list_checks(documents, published or ValidationContext(), deadline), deadline, on_check)
    return build_report(
        dict(documents.files), documents.sorted_findings(), _bundle(documents), capability_id_of(documents)
    )


def build_report(
    files: Mapping[str, str], found: tuple[Finding, ...], bundle: SkillBundle | None, capability_id: str
) -> Report:
    """The report on what was found, its notes apart."""
    findings = tuple(one for one in found if one.severity != "note")
    notes = tuple(one for one in found if one.severity == "note")
    return Report(files, cut_findings(findings), bundle, capability_id, notes[:FINDINGS_MAX])


def capability_id_of(documents: ParsedBundle) -> str:
    """The id that capability.json names; empty where it names none."""
    capability = documents.value("capability.json")
    capability_id = capability.get("capability_id") if isinstance(capability, dict) else None
    return capability_id if isinstance(capability_id, str) else ""


def _run(documents: ParsedBundle, all_checks: Iterator[Check], deadline: Deadline, on_check: CheckObserver) -> None:
    """Each check in turn; the one in which the time runs out is named, and none is begun after it."""
    name = _FILES
    for following, check in all_checks:
        if deadline.is_over():
            _report(documents, UNFINISHED_CODE, *unfinished_words(name))
            return
        name = following
        on_check(name, documents)
        try:
            documents.report(check())
        except DeadlineExceeded:
            _report(documents, UNFINISHED_CODE, *unfinished_words(name))
            return
        except Exception:
            logger.exception("the check %s failed", name)
            message = f"The check of {name} could not finish: it met an input that it does not understand"
            _report(documents, "CHECK_FAILED", message, "Make the bundle smaller or simpler.")


def _report(documents: ParsedBundle, code: str, message: str, hint: str) -> None:
    problem = RawFinding(code, "capability.json", (), message, hint)
    documents.report_at(problem, 0 if "capability.json" in documents.files else None, "")


def unfinished_words(check: str) -> tuple[str, str]:
    """Message and hint of `CHECK_UNFINISHED`."""
    return f"Not checked: there was no time to finish the check of {check}", "Try again in a few seconds."


def cut_findings(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The first FINDINGS_MAX, errors kept before warnings, with a last one that says what was cut."""
    if len(findings) <= FINDINGS_MAX:
        return findings
    kept = sorted(findings, key=lambda finding: not finding.is_error)[:FINDINGS_MAX]
    message = f"{len(findings) - FINDINGS_MAX:,} more findings are not shown"
    first = findings[0]
    last = Finding("FINDINGS_CUT", "warning", first.file, "", first.line, first.column, message, "Fix these first.")
    return sort_findings([*kept, last])


def _bundle(documents: ParsedBundle) -> SkillBundle | None:
    capability = documents.value("capability.json")
    if not isinstance(capability, dict) or "skill.md" not in documents.files:
        return None
    for name in ("tools.json", "ui_schemas.json"):
        if name in documents.files and (name not in documents.json or not isinstance(documents.json[name].value, list)):
            return None
    return SkillBundle(
        files=dict(documents.files),
        capability=capability,
        skill_doc=documents.skill.skill_doc,
        tools=documents.items("tools.json"),
        ui_schemas=documents.items("ui_schemas.json"),
    )
