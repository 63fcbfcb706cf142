"""Which passages the security checks doubt, and what people have decided about them (docs/contract.md 2 and 3).

`held_passages.py` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from capability_rules.bundles.finding import Finding, sort_findings
from capability_rules.bundles.finding_fingerprints import Passage, find_passages, hold, mark_doubts
from capability_rules.validation import Report
from features.acceptances.models import Acceptance
from features.acceptances.waived_findings import describe_acceptance, mark_waived
from registry.core.queries import LOADABLE_STATUSES
from registry.models import Capability


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
