"""Which findings are waived: they block nothing, and stay in sight (docs/contract.md 3).

`waiver_store.py` creates and ends waivers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from django.db.models import Q

from capability_rules.bundles.finding import Finding, FindingAcceptance
from capability_rules.bundles.finding_fingerprints import fingerprint_findings
from capability_rules.bundles.problem import PER_CODE_MAX, UNFINISHED_CODE
from features.acceptances.models import Acceptance
from registry.feature import installed_features
from registry.models import Revision

_ERROR_PREFIXES: Final = ("SEC_", "SCAN_")
# Of a text that was not read to its end nobody knows what is waived; of findings that were cut nobody sees them.
_NEVER: Final = frozenset({"SEC_CHECK_INCOMPLETE", "CHECK_FAILED", UNFINISHED_CODE, "FINDINGS_CUT"})
# A person answers these otherwise: by a confirmation, an approval, a note.
_ANSWERED: Final = frozenset(
    {"POLICY_LOOSENED", "LOOSENING_NOT_ALLOWED", "APPROVAL_REQUIRED", "NOTE_REQUIRED", "COMMENTS_OPEN", "SEC_HELD"}
)


def is_waivable_error(code: str) -> bool:
    """Whether errors of the code can be waived: those of security, scanners and features. Everything else is the format
    that clients rely on."""
    return code.startswith(_ERROR_PREFIXES) or any(code in feature.finding_codes for feature in installed_features())


def explain_unwaivable(finding: Finding, findings: Iterable[Finding]) -> str:
    """Why a finding among `findings` cannot be waived, as a sentence; empty where it can."""
    if finding.code in _NEVER:
        return f"{finding.code} cannot be waived: it says that something was not checked or is not shown"
    if finding.code in _ANSWERED:
        return f"{finding.code} cannot be waived: a person answers it at the gate"
    if finding.is_doubt:
        return f"{finding.code} cannot be waived: a person decides about the passage"
    if finding.severity == "error" and not is_waivable_error(finding.code):
        return f"{finding.code} is an error in the form of the bundle, which clients rely on: fix it"
    same = Counter((one.code, one.file) for one in findings)
    if any(one.code == "FINDINGS_CUT" for one in findings) or same[finding.code, finding.file] >= PER_CODE_MAX:
        return "There are more findings than are shown: fix some of them first"
    return ""


def mark_waived(capability_id: str, findings: Sequence[Finding], files: Mapping[str, str]) -> tuple[Finding, ...]:
    """The same findings, each with its fingerprint, and with the waiver that is in force for it now."""
    known = Acceptance.waivers.in_force().filter(capability_id=capability_id).order_by("id")
    waivers = {row.fingerprint: row for row in known} if capability_id and findings else {}
    return _mark(findings, files, waivers)


def _mark(
    findings: Sequence[Finding], files: Mapping[str, str], waivers: Mapping[str, Acceptance]
) -> tuple[Finding, ...]:
    found = fingerprint_findings(findings, files)
    marked = [replace(one, waiver=None, fingerprint=key) for one, key in zip(findings, found, strict=True)]
    if not waivers:
        return tuple(marked)
    return tuple(_with_waiver(finding, waivers.get(finding.fingerprint), marked) for finding in marked)


def _with_waiver(finding: Finding, row: Acceptance | None, findings: Sequence[Finding]) -> Finding:
    if row is None or explain_unwaivable(finding, findings):
        return finding
    return replace(finding, waiver=describe_acceptance(row))


def describe_acceptance(row: Acceptance) -> FindingAcceptance:
    """What a finding shows of it. Raises ValueError where it still waits."""
    if row.accepted_at is None:
        raise ValueError("nobody has decided about it")
    return FindingAcceptance(row.pk, row.accepted_by, row.reason, row.accepted_at, row.is_alone, row.until)


def mark_waived_since(revision: Revision, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a stored revision, marked with waivers that were in force when it was published or later: what is
    live stays live, whatever became of its waivers since."""
    published = revision.created_at
    known = Acceptance.waivers.filter(
        Q(ended_at__isnull=True) | Q(ended_at__gt=published),
        capability_id=revision.capability.capability_id,
        until__gt=published.date(),
    ).order_by("id")
    return _mark(findings, revision.files, {row.fingerprint: row for row in known})
