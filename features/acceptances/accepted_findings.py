"""What of findings is waived, held or accepted: what was accepted blocks nothing, and stays in sight.

`waiver_store.py` creates and ends waivers, `held_passages.py` decides about passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from django.db.models import Q

from capability_rules.bundles.finding import Finding, FindingAcceptance, sort_findings
from capability_rules.bundles.finding_fingerprints import (
    Passage,
    find_passages,
    fingerprint_findings,
    hold,
    mark_doubts,
)
from capability_rules.bundles.problem import PER_CODE_MAX, UNFINISHED_CODE
from capability_rules.validation import Report
from features.acceptances.models import Acceptance
from registry.core.queries import LOADABLE_STATUSES
from registry.feature import installed_features
from registry.models import Capability, Revision

_ERROR_PREFIXES: Final = ("SEC_", "SCAN_", "FILE_UNCHECKED")
# Of a text that was not read to its end nobody knows what is waived; of findings that were cut nobody sees them.
_NEVER: Final = frozenset({"SEC_CHECK_INCOMPLETE", "CHECK_FAILED", UNFINISHED_CODE, "FINDINGS_CUT"})
# A person answers these otherwise: by a confirmation, an approval, a note.
_ANSWERED: Final = frozenset(
    {"POLICY_LOOSENED", "LOOSENING_NOT_ALLOWED", "APPROVAL_REQUIRED", "NOTE_REQUIRED", "COMMENTS_OPEN", "SEC_HELD"}
)


def is_waivable_error(code: str) -> bool:
    """Whether errors of the code can be waived: those of security, of scanners and features, and of texts that a person
    has to read. Everything else is the format that clients rely on."""
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


def mark_held(report: Report, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same findings, each doubt marked as held or accepted; one whose passage is live, and was excused by the same
    context, is a warning and no more.

    What the classifier alone found is among them where somebody outside wrote the texts and it is certain enough, or
    where it waits, or was decided, since then.
    """
    # Those that an assessment before has added are looked for again.
    own = [one for one in findings if not one.certainty]
    unmarked = [replace(one, held=False, accepted=None) if one.held or one.accepted else one for one in own]
    alone = [note for note in report.notes if note.certainty and not note.is_excused]
    if not alone and not any(one.is_doubt for one in unmarked):
        return tuple(unmarked)
    name = report.capability_id
    known = Acceptance.passages.filter(capability_id=name, ended_at__isnull=True) if name else ()
    rows = {row.fingerprint: row for row in known}
    passages = find_passages(alone, report.files)
    added = [
        replace(note, severity="warning")
        for note, passage in zip(alone, passages, strict=True)
        if passage.fingerprint in rows or (report.is_foreign and report.is_foreign_doubt(note))
    ]
    excused = _list_excused(name) if name else set()

    def mark(finding: Finding, passage: Passage) -> Finding:
        if passage.fingerprint in excused:
            return finding
        # Decisions of earlier releases are kept without what stands around their passages.
        row = rows.get(passage.fingerprint) or rows.get(passage.core)
        if row is None or row.accepted_at is None:
            return hold(finding, passage)
        return replace(finding, accepted=describe_acceptance(row), passage=passage.fingerprint)

    return mark_doubts(sort_findings([*unmarked, *added]) if added else unmarked, report.files, mark)


def mark_accepted(report: Report, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same findings: doubts as `mark_held` says, then each with its waiver in force."""
    return mark_waived(report.capability_id, mark_held(report, findings), report.files)


def _list_excused(capability_id: str) -> set[str]:
    """The passages of what readers have now that the text around them excused when it was published."""
    found = Capability.objects.filter(capability_id=capability_id, status__in=LOADABLE_STATUSES)
    kept = found.values_list("published_revision__excused_passages", flat=True).first()
    return set(kept or ())
