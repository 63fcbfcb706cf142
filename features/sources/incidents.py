"""Sources that cannot be read or trusted: one open incident each, closed by a good look at the source."""

from __future__ import annotations

from features.sources.audit_rows import record_event
from features.sources.models import GitSource
from registry.catalog.incidents import close_at_address, open_at_address
from registry.common.actors import Actor
from registry.models import Incident


def find_open_incident(source: GitSource) -> Incident | None:
    """The one that is open; None where none is."""
    return Incident.objects.filter(kind=Incident.Kind.SOURCE, source_id=source.pk, closed_at__isnull=True).first()


def open_source_incident(*, source: GitSource, message: str, details: str, by: Actor) -> None:
    """Record a source that is unreadable or not trusted; it has one such open incident. The caller holds the lock."""
    subject = source.spec
    incident = open_at_address(Incident.Kind.SOURCE, source.pk, subject=subject, message=message, details=details)
    if incident is None:
        return
    detail = {"incident_id": incident.pk, "message": message[:500], "details": details[:500]}
    record_event(source, "git_source.failing", by, detail)


def close_source_incident(source: GitSource, *, by: Actor, why: str = "It can be read again") -> None:
    """The source can be read again, or is no longer followed; the caller holds the lock."""
    for incident_id in close_at_address(Incident.Kind.SOURCE, source.pk):
        record_event(source, "git_source.recovered", by, {"incident_id": incident_id, "why": why})
