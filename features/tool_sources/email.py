"""The e-mail about tools that differ from the API that they came from."""

from __future__ import annotations

from registry.models import AuditEvent
from registry.notifications.email import write_to_publishers


def write_to_members(row: AuditEvent) -> None:
    """Queue it for everybody who may publish, where the daily check has noticed something new; under the lock of the
    registry. Who checks by hand sees it."""
    changed = row.detail.get("changed")
    if row.actor_kind != "system" or not changed:
        return
    listed = "\n".join(f"- {name}" for name in changed)
    words = f"These tools differ from {row.subject}:\n\n{listed}\n\nThe page says what has changed, and takes it over."
    write_to_publishers(f"Tools have changed: {row.subject}", words, f"/tool-sources/{row.detail['source_id']}/")
