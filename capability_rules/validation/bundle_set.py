"""Several bundles checked as one call: against what is published, and against each other."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from capability_rules.bundles.finding import Finding, sort_findings
from capability_rules.bundles.json_locations import locate_path
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation import Report, validate_bundle
from capability_rules.validation.security.detectors.confusables import IdIndex

if TYPE_CHECKING:
    from capability_rules.bundles.bundle_reader import SourceBundle

UNREADABLE: Final = "IMPORT_FILE_UNREADABLE"


def folder_of(path: str) -> str:
    """A SKILL.md that was named means its folder."""
    return path.rpartition("/")[0] if path.lower().endswith("/skill.md") else path


@dataclass(frozen=True)
class ValidationResult:
    """One bundle of a call, and what was found."""

    path: str
    report: Report

    def path_of(self, finding: Finding) -> str:
        """The file of a finding, or the folder of one that is of no file, as the caller named the bundle."""
        return posixpath.normpath(posixpath.join(folder_of(self.path), finding.file))

    def as_dict(self) -> dict[str, Any]:
        """One entry of `{"bundles": [...]}`."""
        report = self.report
        findings = [finding.as_dict() for finding in report.findings]
        return {"path": self.path, "capability_id": report.capability_id or None, "ok": report.ok, "findings": findings}


def validate_set(
    sources: Iterable[SourceBundle], *, published: ValidationContext | None = None
) -> list[ValidationResult]:
    """Check each bundle against what is published and against the ones before it in this call."""
    sources, published = list(sources), published or ValidationContext()
    if len(sources) == 1:
        report = validate_bundle(sources[0].files, published=published)
        return [ValidationResult(sources[0].path, with_unreadable(report, sources[0]))]
    owners, ids = dict(published.tool_owners), IdIndex(published.capability_ids)
    context = ValidationContext(owners, ids)
    seen: dict[str, str] = {}
    checked = []
    for source in sources:
        report = with_unreadable(validate_bundle(source.files, published=context), source)
        report = with_duplicate_id(report, source.path, seen)
        _add_as_published(owners, ids, report)
        checked.append(ValidationResult(source.path, report))
    return checked


def with_unreadable(report: Report, source: SourceBundle) -> Report:
    """A file that is there and cannot be taken: this bundle is refused, and no other."""
    if not source.odd:
        return report
    said = ((name, f"{name} cannot be taken: {reason}") for name, reason in source.odd.items())
    found = [
        Finding(UNREADABLE, "error", name, "", None, None, words, "Put the file itself there.") for name, words in said
    ]
    return replace(report, findings=sort_findings([*report.findings, *found]))


def with_duplicate_id(report: Report, path: str, seen: dict[str, str]) -> Report:
    """The second of two bundles with one id is the one refused; `seen` maps the ids so far to their paths."""
    if not report.capability_id or report.capability_id not in seen:
        seen[report.capability_id] = path
        return report
    other_path = seen[report.capability_id]
    message = f"capability_id '{report.capability_id}' is in {other_path} too"
    return refuse_id(report, "CAPABILITY_ID_DUPLICATE", message, "Give one of the two another id.")


def refuse_id(report: Report, code: str, message: str, hint: str) -> Report:
    """The report with one more error, at the capability_id in its texts."""
    text = report.files["capability.json"]
    line, column = locate_path(text, ("capability_id",))
    finding = Finding(code, "error", "capability.json", "/capability_id", line, column, message, hint)
    return replace(report, findings=sort_findings([*report.findings, finding]))


def _add_as_published(owners: dict[str, str], ids: IdIndex, report: Report) -> None:
    """What the bundles after it are checked against."""
    if report.bundle is None or not report.capability_id:
        return
    if report.capability_id in ids:
        for name in [name for name, owner in owners.items() if owner == report.capability_id]:
            del owners[name]
    for name in report.bundle.tool_names:
        owners.setdefault(name, report.capability_id)
    ids.add(report.capability_id)
