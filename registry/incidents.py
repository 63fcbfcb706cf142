"""Stored bundles that agents cannot be given: opened when one is met, once per cause; closed by a good release."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.db.models import F
from django.utils import timezone

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
        Incident.objects.create(
            capability=revision.capability,
            revision=revision,
            cause=cause,
            message=message,
            details=details,
            findings=[finding.as_dict() for finding in findings[:50]],
        )


def close_incidents(capability: Capability) -> int:
    """Close what a new release has mended; the caller holds the lock."""
    return Incident.objects.filter(capability=capability, closed_at__isnull=True).update(closed_at=timezone.now())
