"""Stored bundles that agents cannot be given, and scheduled releases that could not be made: opened once per cause,
closed by a good release."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.db.models import F
from django.utils import timezone

from registry import audit
from registry.actors import SYSTEM
from registry.models import Capability, Incident, Revision
from registry.validation import Finding
from registry.writing import writing


def open_incident(*, revision: Revision, message: str, details: str, findings: Sequence[Finding]) -> None:
    """Note that agents met a malformed bundle; the same cause is counted, not listed again."""
    codes = [f"{finding.code}:{finding.file}:{finding.pointer}" for finding in findings]
    cause = _cause(str(revision.pk), details, *codes)
    with writing():
        known = Incident.objects.filter(capability=revision.capability, cause=cause, closed_at__isnull=True)
        if known.update(count=F("count") + 1, last_seen_at=timezone.now()):
            return
        _open(Incident(capability=revision.capability, revision=revision, cause=cause), message, details, findings)


def open_release_incident(
    *, capability: Capability, message: str, details: str, findings: Sequence[Finding], scheduled_id: int
) -> None:
    """Note that a scheduled release could not be made; the caller holds the lock."""
    incident = Incident(
        capability=capability,
        revision=capability.published_revision,
        kind=Incident.Kind.RELEASE,
        # Each failure is one of its own: somebody may put the same release back into the queue.
        cause=_cause("release", str(scheduled_id), timezone.now().isoformat()),
    )
    _open(incident, message, details, findings)


def _cause(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _open(incident: Incident, message: str, details: str, findings: Sequence[Finding]) -> None:
    incident.message, incident.details = message, details
    incident.findings = [finding.as_dict() for finding in findings[:50]]
    incident.save(force_insert=True)
    detail: dict[str, object] = {"incident_id": incident.pk}
    detail |= {"revision": incident.revision.number} if incident.revision is not None else {}
    detail |= {"message": message, "details": details[:500]}
    audit.record(by=SYSTEM, verb="incident.open", subject=incident.capability.capability_id, detail=detail)


def close_incidents(capability: Capability, *, kind: str = "") -> int:
    """Close what a new release has mended, or those of one kind; the caller holds the lock."""
    mended = Incident.objects.filter(capability=capability, closed_at__isnull=True)
    if kind:
        mended = mended.filter(kind=kind)
    incident_ids = list(mended.order_by("pk").values_list("pk", flat=True))
    mended.update(closed_at=timezone.now())
    for incident_id in incident_ids:
        detail = {"incident_id": incident_id}
        audit.record(by=SYSTEM, verb="incident.close", subject=capability.capability_id, detail=detail)
    return len(incident_ids)
