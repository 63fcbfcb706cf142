"""Stored bundles that agents cannot be given, and scheduled releases that could not be made: opened once per cause,
closed by a good release. Published tools that can no longer be called as they say: closed by who noticed them.
What stands elsewhere, a source or a mirror: opened and closed by its feature."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.db.models import F, QuerySet
from django.utils import timezone

from capability_rules.validation import Finding
from registry.common.actors import SYSTEM, Actor
from registry.core import audit
from registry.core.transactions import write_transaction
from registry.models import Capability, Incident, Revision


def open_incident(*, revision: Revision, message: str, details: str, findings: Sequence[Finding]) -> None:
    """Note that agents met a malformed bundle; the same cause is counted, not listed again."""
    codes = [f"{finding.code}:{finding.file}:{finding.pointer}" for finding in findings]
    cause = cause_of(str(revision.pk), details, *codes)
    with write_transaction():
        if count_again(Incident.objects.filter(capability=revision.capability, cause=cause)):
            return
        incident = Incident(capability=revision.capability, revision=revision, cause=cause)
        _open(incident, revision.capability, message, details, findings)


def open_release_incident(
    *, capability: Capability, message: str, details: str, findings: Sequence[Finding], scheduled_id: int
) -> None:
    """Record that a scheduled release could not be made; the caller holds the lock."""
    incident = Incident(
        capability=capability,
        revision=capability.published_revision,
        kind=Incident.Kind.RELEASE,
        # Each failure is a separate one: an operator may put the same release back into the queue.
        cause=cause_of("release", str(scheduled_id), timezone.now().isoformat()),
    )
    _open(incident, capability, message, details, findings)


def open_held_incident(*, capability: Capability, message: str, findings: Sequence[Finding], by: Actor) -> None:
    """Record a release that waits for a decision about passages; the same passages are one incident. The caller holds
    the lock."""
    cause = cause_of("held", *sorted(f"{finding.file}:{finding.message}" for finding in findings))
    if count_again(Incident.objects.filter(capability=capability, cause=cause)):
        return
    details = "; ".join(finding.message for finding in findings[:3])
    incident = Incident(
        capability=capability, revision=capability.published_revision, kind=Incident.Kind.RELEASE, cause=cause
    )
    _open(incident, capability, message, details, findings, by=by)


def open_tool_incident(*, capability: Capability, cause: str, message: str, details: str, by: Actor) -> None:
    """Record a published tool that can no longer be called as it says; the same cause is counted, not listed again. The
    caller holds the lock."""
    found = Incident.objects.filter(capability=capability, cause=cause)
    if count_again(found, message=message, details=details):
        return
    incident = Incident(
        capability=capability, revision=capability.published_revision, kind=Incident.Kind.TOOL, cause=cause
    )
    _open(incident, capability, message, details, (), by=by)


def open_use_incident(*, revision: Revision, bad: int, known: int) -> None:
    """Record a revision that fails in use, once; no word of its users is in it. The caller holds the
    lock."""
    cause = cause_of("use", str(revision.pk))
    found = Incident.objects.filter(capability=revision.capability, cause=cause, closed_at__isnull=True)
    details = f"{bad} of {known} known uses failed"
    if found.update(count=bad, details=details, last_seen_at=timezone.now()):
        return
    incident = Incident(
        capability=revision.capability, revision=revision, kind=Incident.Kind.USE, cause=cause, count=bad
    )
    _open(incident, revision.capability, "It fails in use", details, ())


def open_at_address(kind: Incident.Kind, number: int, *, subject: str, message: str, details: str) -> Incident | None:
    """Record what is wrong with a source or a mirror of this number, which has one such open incident; None where that
    was counted again. The caller holds the lock, and records the event."""
    found = Incident.objects.filter(kind=kind, source_id=number)
    if count_again(found, subject=subject, message=message, details=details):
        return None
    texts = {"subject": subject, "message": message, "details": details}
    return Incident.objects.create(kind=kind, source_id=number, cause=cause_of(kind.value, str(number)), **texts)


def close_at_address(kind: Incident.Kind, number: int) -> list[int]:
    """Close what is open about a source or a mirror: the ids. The caller holds the lock, and records the event."""
    found = Incident.objects.filter(kind=kind, source_id=number, closed_at__isnull=True)
    closed = list(found.values_list("pk", flat=True))
    found.update(closed_at=timezone.now())
    return closed


def count_again(found: QuerySet[Incident], **values: str) -> bool:
    """Count the one of them that is open, with these values from now on; False where none is."""
    is_open = found.filter(closed_at__isnull=True)
    return is_open.update(count=F("count") + 1, last_seen_at=timezone.now(), **values) > 0


def cause_of(*parts: str) -> str:
    """What one fault has in common: SHA-256 over the parts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _open(
    incident: Incident,
    capability: Capability,
    message: str,
    details: str,
    findings: Sequence[Finding],
    *,
    by: Actor = SYSTEM,
) -> None:
    incident.message, incident.details = message, details
    incident.findings = [finding.as_dict() for finding in findings[:50]]
    incident.save(force_insert=True)
    detail: dict[str, object] = {"incident_id": incident.pk}
    detail |= {"revision": incident.revision.number} if incident.revision is not None else {}
    detail |= {"message": message, "details": details[:500]}
    audit.record(by=by, verb="incident.open", subject=capability.capability_id, detail=detail)


def close_repaired(revision: Revision) -> None:
    """Close what is open about a revision that has just been found sound: agents met it, and it was repaired."""
    found = Incident.objects.filter(revision=revision, kind=Incident.Kind.BUNDLE, closed_at__isnull=True)
    if found.exists():
        with write_transaction():
            _close(found, revision.capability)


def close_incidents(capability: Capability, *, kind: str = "", cause: str = "") -> int:
    """Close the incidents that a new release has fixed, or those of one kind and cause; the caller holds the lock.

    Whether a release fixes a tool, only who compares it with its source can say.
    """
    resolved = Incident.objects.filter(capability=capability, closed_at__isnull=True)
    resolved = resolved.filter(kind=kind) if kind else resolved.exclude(kind=Incident.Kind.TOOL)
    if cause:
        resolved = resolved.filter(cause=cause)
    return _close(resolved, capability)


def _close(resolved: QuerySet[Incident], capability: Capability) -> int:
    incident_ids = list(resolved.order_by("pk").values_list("pk", flat=True))
    if incident_ids:
        resolved.update(closed_at=timezone.now())
    for incident_id in incident_ids:
        detail = {"incident_id": incident_id}
        audit.record(by=SYSTEM, verb="incident.close", subject=capability.capability_id, detail=detail)
    return len(incident_ids)
