"""What is known of texts beside their own checks: what outside scanners found in them, and what is waived.

One function for everything that shows or judges findings (editor, preview, command line, API, gate): they agree.
"""

from __future__ import annotations

from dataclasses import replace

from registry.bundles.finding import sort_findings
from registry.catalog.scan_findings import list_scan_findings
from registry.catalog.waived_findings import mark_waived
from registry.validation import Report


def assess_report(report: Report) -> Report:
    """The report with the results of scanners for exactly these texts, each finding with its waiver in force.

    Assessing a report again gives what is true then: results and waivers of the first time do not stay.
    """
    own = [finding for finding in report.findings if finding.code != "SCAN_RESULT"]
    found = list_scan_findings(report.capability_id, report.files)
    findings = sort_findings([*own, *found]) if found or len(own) < len(report.findings) else report.findings
    marked = mark_waived(report.capability_id, findings, report.files)
    return replace(report, findings=marked) if marked or report.findings else report
