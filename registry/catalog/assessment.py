"""What is known of texts beside their own checks: what scanners and features found, what is waived, held and accepted.

One function for everything that shows or judges findings (editor, preview, command line, API, gate): they agree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from django.utils.module_loading import import_string

from capability_rules.bundles.finding import Finding, sort_findings
from capability_rules.bundles.problem import Severity
from capability_rules.validation import Report
from capability_rules.validation.needs import NEED_CODES
from features.acceptances.accepted_findings import mark_accepted
from registry.catalog.needed_skills import find_need_findings
from registry.core.queries import files_digest
from registry.feature import installed_features
from registry.models import ScanResults

_SCAN_RESULT: Final = "SCAN_RESULT"
_HINT: Final = "Fix it and scan these texts again, or have it waived."


def assess_report(report: Report, *, previously_published: bool = False, beside: Collection[str] = ()) -> Report:
    """The report with the results of scanners for exactly these texts, with what features and other capabilities say of
    them, and each finding with its waiver in force. `beside` are the ids of bundles that come with it.

    Assessing a report again replaces the results and waivers of the first time. Findings of features about texts that
    were `previously_published` are warnings at most, so that a rollback stays possible.
    """
    added = {_SCAN_RESULT, *NEED_CODES, *(code for feature in installed_features() for code in feature.finding_codes)}
    own = [finding for finding in report.findings if finding.code not in added]
    found = _list_scan_findings(report.capability_id, report.files)
    found += find_need_findings(report, beside)
    known = _list_feature_findings(report.capability_id, report.files)
    found += [replace(one, severity="warning") for one in known] if previously_published else known
    findings = sort_findings([*own, *found]) if found or len(own) < len(report.findings) else report.findings
    marked = mark_accepted(report, findings)
    return replace(report, findings=marked) if marked or report.findings else report


def _list_scan_findings(capability_id: str, files: Mapping[str, str]) -> list[Finding]:
    """A finding for each error and warning that a scanner reported for these very texts."""
    if not capability_id:
        return []
    stored = ScanResults.objects.filter(capability__capability_id=capability_id)
    # Most capabilities were never scanned: their texts need no digest.
    if not (digests := set(stored.values_list("files_digest", flat=True))):
        return []
    digest = files_digest(dict(files))
    if digest not in digests:
        return []
    rows = stored.filter(files_digest=digest).order_by("tool")
    return [_finding(row.tool, result) for row in rows for result in row.results]


def _list_feature_findings(capability_id: str, files: Mapping[str, str]) -> list[Finding]:
    if not capability_id:
        return []
    paths = (feature.findings for feature in installed_features() if feature.findings)
    return [finding for path in paths for finding in import_string(path)(capability_id, files)]


def _finding(tool: str, result: Mapping[str, Any]) -> Finding:
    severity: Severity = "error" if result["severity"] == "error" else "warning"
    rule = str(result["rule_id"])
    message = f"{tool}{f', {rule}' if rule else ''}: {result['message']}"
    place = (str(result["file"]), "", result["line"], result["column"])
    return Finding(_SCAN_RESULT, severity, *place, message, _HINT, f"{tool}/{rule}")


def find_missing_scanners(capability_id: str, files: Mapping[str, str], required: Collection[str]) -> list[str]:
    """The required tools that have no stored results for exactly these texts, as `required` names them."""
    if not required:
        return []
    rows = ScanResults.objects.filter(capability__capability_id=capability_id, files_digest=files_digest(dict(files)))
    names = {name.casefold() for name in rows.values_list("tool", flat=True)}
    known = names | {name.split()[0] for name in names}
    return [tool for tool in required if tool.casefold() not in known]
