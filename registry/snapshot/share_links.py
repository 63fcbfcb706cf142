"""Share links in force, read once for each snapshot: a warm read queries no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from registry.access.agent_keys import hash_key
from registry.core.storage import require_database
from registry.models import ShareLink
from registry.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SharedSkills:
    """What a link shows, and until when; an empty group is everything."""

    name: str
    skill_group: str
    expires_at: datetime | None


def find_shared_skills(snapshot: Snapshot, token: str) -> SharedSkills | None:
    """The link with this token, if it is in force. Raises `RegistryUnavailable`."""
    links: dict[str, SharedSkills] | None = snapshot.of_access.get("share links")
    if links is None:
        links = snapshot.of_access["share links"] = _read()
    share = links.get(hash_key(token))
    if share is None or (share.expires_at is not None and share.expires_at <= timezone.now()):
        return None
    return share


@require_database()
def _read() -> dict[str, SharedSkills]:
    in_force = ShareLink.objects.filter(revoked_at__isnull=True)
    rows = in_force.values_list("token_hash", "name", "skill_group", "expires_at")
    return {token_hash: SharedSkills(name, group, expires_at) for token_hash, name, group, expires_at in rows}
