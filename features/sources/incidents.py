"""Sources that cannot be read or trusted: one open incident each, closed by a good look at the source."""

from __future__ import annotations

from django.utils import timezone

from features.sources.audit_rows import record_event
from features.sources.models import GitSource
from registry.catalog.incidents import cause_of, count_again
from registry.common.actors import Actor
from registry.models import Incident


def find_open_incident(source: GitSource) -> Incident | None:
    """The one that is open; None where none is."""
    return Incident.objects.filter(kind=Incident.Kind.SOURCE, source_id=source.pk, closed_at__isnull=True).first()


def open_source_incident(*, source: GitSource, message: str, details: str, by: Actor) -> None:
    """Record a source that is unreadable or not trusted; it has one such open incident. The caller holds the lock."""
    found = Incident.objects.filter(kind=Incident.Kind.SOURCE, source_id=source.pk)
    if count_again(found, subject=source.spec, message=message, details=details):
        return
    kind, cause = Incident.Kind.SOURCE, cause_of("source", str(source.pk))
    incident = Incident.objects.create(
        source_id=source.pk, subject=source.spec, kind=kind, cause=cause, message=message, details=details
    )
    detail = {"incident_id": incident.pk, "message": message[:500], "details": details[:500]}
    record_event(source, "git_source.failing", by, detail)


def close_source_incident(source: GitSource, *, by: Actor, why: str = "It can be read again") -> None:
    """The source can be read again, or is no longer followed; the caller holds the lock."""
    for incident in Incident.objects.filter(kind=Incident.Kind.SOURCE, source_id=source.pk, closed_at__isnull=True):
        Incident.objects.filter(pk=incident.pk).update(closed_at=timezone.now())
        record_event(source, "git_source.recovered", by, {"incident_id": incident.pk, "why": why})
