"""Is a bundle valid, and if not, where? One function serves editor, preview, command line, API and publishing."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.bundles.bundle import SkillBundle
from registry.bundles.deadline import Deadline, DeadlineExceeded
from registry.bundles.finding import Finding, sort_findings
from registry.bundles.parsed_bundle import ParsedBundle, parse_bundle
from registry.bundles.problem import BUNDLE_FILES, RawFinding
from registry.bundles.validation_context import ValidationContext
from registry.common import tracing
from registry.validation.codes import severity_by_code

if TYPE_CHECKING:
    from registry.validation.pipeline import Check

__all__ = ["BUNDLE_FILES", "RULES_VERSION", "Finding", "Report", "ValidationContext", "validate_bundle"]

logger = logging.getLogger(__name__)

# Raise it whenever a rule starts to refuse what it let through: stored bundles are then checked again when loaded.
RULES_VERSION: Final = "6"
# Of all codes together; of one code and file see registry.bundles.problem.
FINDINGS_MAX: Final = 3000
# docs/contract.md 2: one input never takes more than 2 s, of this thread's own work: a machine that is busy with
# something else refuses nobody's bundle. What has not begun by then is not begun, and what can take long
# checks between its steps.
SECONDS_MAX: Final = 1.8
OUT_OF_TIME: Final = "it ran out of time"


@dataclass(frozen=True)
class Report:
    """The findings, and the bundle where the texts could be read; `files` are normalized in any case."""

    files: Mapping[str, str]
    findings: tuple[Finding, ...]
    bundle: SkillBundle | None
    capability_id: str

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_warning)

    @property
    def waived(self) -> tuple[Finding, ...]:
        """The errors and warnings that somebody has accepted for a time (registry/catalog/assessment.py)."""
        return tuple(finding for finding in self.findings if finding.waiver is not None)

    @property
    def ok(self) -> bool:
        """No error: what shows no error here is publishable as far as its content goes."""
        return self.bundle is not None and not self.errors


def validate_bundle(files: Mapping[str, bytes | str], *, published: ValidationContext | None = None) -> Report:
    """Check the texts of one bundle; all findings at once, sorted by file and place.

    Never raises for any content. A check that fails itself becomes the error `CHECK_FAILED`: not publishable.
    """
    with tracing.span("validate bundle") as span:
        report = _validate(files, published or ValidationContext())
        span.set("studio.capability_id", report.capability_id)
        span.set("studio.errors", len(report.errors))
        span.set("studio.warnings", len(report.warnings))
        return report


def _validate(files: Mapping[str, bytes | str], published: ValidationContext) -> Report:
    # The checks and their tables load on first use: a process that only lists and loads never needs them.
    from registry.validation import pipeline

    deadline = Deadline.after(SECONDS_MAX)
    documents = parse_bundle(files, severity_by_code())
    _run(documents, pipeline.list_checks(documents, published, deadline), deadline)
    capability = documents.value("capability.json")
    capability_id = capability.get("capability_id") if isinstance(capability, dict) else None
    return Report(
        files=dict(documents.files),
        findings=_cut(documents.sorted_findings()),
        bundle=_bundle(documents),
        capability_id=capability_id if isinstance(capability_id, str) else "",
    )


def _run(documents: ParsedBundle, all_checks: Iterator[Check], deadline: Deadline) -> None:
    """Each check in turn; the one in which the time runs out is named, and none is begun after it."""
    name = "the files"
    for following, check in all_checks:
        if deadline.is_over():
            _report_failure(documents, name, OUT_OF_TIME)
            return
        name = following
        try:
            documents.report(check())
        except DeadlineExceeded:
            _report_failure(documents, name, OUT_OF_TIME)
            return
        except Exception:
            logger.exception("the check %s failed", name)
            _report_failure(documents, name, "it met an input that it does not understand")


def _report_failure(documents: ParsedBundle, check: str, reason: str) -> None:
    message = f"The check of {check} could not finish: {reason}"
    problem = RawFinding("CHECK_FAILED", "capability.json", (), message, "Make the bundle smaller or simpler.")
    documents.report_at(problem, 0 if "capability.json" in documents.files else None, "")


def _cut(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
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
