"""The e-mail about a source that cannot be read."""

from __future__ import annotations

from registry.models import AuditEvent
from registry.notifications.email import write_to_publishers


def write_to_members(row: AuditEvent) -> None:
    """Queue it for everybody who may publish; under the lock of the registry."""
    words = (
        f"{row.detail['message']}.\n\n{row.detail['details']}\n\n"
        "Bundles already imported from this source are unchanged."
    )
    write_to_publishers(f"Source: {row.subject}", words, f"/sources/{row.detail['source_id']}/")
