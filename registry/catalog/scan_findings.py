"""Results of outside scanners as findings: of exactly the texts that were scanned, and of no others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from registry.bundles.finding import Finding
from registry.bundles.problem import Severity
from registry.core.queries import files_digest
from registry.models import ScanResults

CODE: Final = "SCAN_RESULT"
_HINT: Final = "Fix it and scan these texts again, or have it waived."


def list_scan_findings(capability_id: str, files: Mapping[str, str]) -> list[Finding]:
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


def _finding(tool: str, result: Mapping[str, Any]) -> Finding:
    severity: Severity = "error" if result["severity"] == "error" else "warning"
    rule = str(result["rule_id"])
    message = f"{tool}{f', {rule}' if rule else ''}: {result['message']}"
    place = (str(result["file"]), "", result["line"], result["column"])
    return Finding(CODE, severity, *place, message, _HINT, f"{tool}/{rule}")


def find_missing_scanners(capability_id: str, files: Mapping[str, str], required: Collection[str]) -> list[str]:
    """Those of the required tools that no results are stored of for these very texts, as `required` names them."""
    if not required:
        return []
    rows = ScanResults.objects.filter(capability__capability_id=capability_id, files_digest=files_digest(dict(files)))
    names = {name.casefold() for name in rows.values_list("tool", flat=True)}
    known = names | {name.split()[0] for name in names}
    return [tool for tool in required if tool.casefold() not in known]
