"""Stored bundles that agents cannot be given: opened when one is met, once per cause; closed by a good release."""

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
    cause = hashlib.sha256("\n".join([str(revision.pk), details, *codes]).encode()).hexdigest()
    with writing():
        known = Incident.objects.filter(capability=revision.capability, cause=cause, closed_at__isnull=True)
        if known.update(count=F("count") + 1, last_seen_at=timezone.now()):
            return
        incident = Incident.objects.create(
            capability=revision.capability,
            revision=revision,
            cause=cause,
            message=message,
            details=details,
            findings=[finding.as_dict() for finding in findings[:50]],
        )
        detail = {"incident_id": incident.pk, "revision": revision.number, "message": message, "details": details[:500]}
        audit.record(by=SYSTEM, verb="incident.open", subject=revision.capability.capability_id, detail=detail)


def close_incidents(capability: Capability) -> int:
    """Close what a new release has mended; the caller holds the lock."""
    mended = Incident.objects.filter(capability=capability, closed_at__isnull=True)
    incident_ids = list(mended.order_by("pk").values_list("pk", flat=True))
    mended.update(closed_at=timezone.now())
    for incident_id in incident_ids:
        detail = {"incident_id": incident_id}
        audit.record(by=SYSTEM, verb="incident.close", subject=capability.capability_id, detail=detail)
    return len(incident_ids)
