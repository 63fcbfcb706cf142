"""Which passages the security checks doubt, and what people have decided about them (docs/contract.md 2 and 3).

`registry/publishing/held_passages.py` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db.models import QuerySet

from capability_rules.bundles.finding import Acceptance, Finding
from capability_rules.bundles.finding_fingerprints import hold, list_passage_fingerprints, mark_doubts
from registry.core.queries import LOADABLE_STATUSES
from registry.models import Capability, HeldPassage


def list_decisions(capability_id: str) -> QuerySet[HeldPassage]:
    """What is decided about a capability's passages, and holds."""
    return HeldPassage.objects.filter(capability_id=capability_id, accepted_at__isnull=False, ended_at__isnull=True)


def mark_held(capability_id: str, findings: Sequence[Finding], files: Mapping[str, str]) -> tuple[Finding, ...]:
    """The same findings, each doubt marked as held or accepted; in a live passage it is a warning and no more."""
    unmarked = [replace(one, held=False, accepted=None) if one.held or one.accepted else one for one in findings]
    if not any(one.is_doubt for one in unmarked):
        return tuple(unmarked)
    live = _list_live(capability_id) if capability_id else set()
    accepted = {row.fingerprint: row for row in list_decisions(capability_id)} if capability_id else {}

    def mark(finding: Finding, passage: str) -> Finding:
        if passage in live:
            return finding
        row = accepted.get(passage)
        if row is None:
            return hold(finding, passage)
        return replace(finding, accepted=describe_decision(row), passage=passage)

    return mark_doubts(unmarked, files, mark)


def describe_decision(row: HeldPassage) -> Acceptance:
    """What a finding shows of a decision. The row is accepted."""
    if row.accepted_at is None:
        raise ValueError("nobody has decided about it")
    return Acceptance(row.accepted_by, row.reason, row.accepted_at, row.is_alone)


def _list_live(capability_id: str) -> set[str]:
    """The passages of what readers have now."""
    found = Capability.objects.filter(capability_id=capability_id, status__in=LOADABLE_STATUSES)
    capability = found.select_related("published_revision").first()
    revision = capability.published_revision if capability else None
    return list_passage_fingerprints(revision.files) if revision is not None else set()
