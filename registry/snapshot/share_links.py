"""Share links in force, read once for each snapshot: a warm read queries no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.module_loading import import_string

from registry.access.agent_keys import hash_key
from registry.core.storage import require_database
from registry.feature import installed_features
from registry.models import ShareLink
from registry.snapshot.snapshot import FULL_ACCESS, AccessScope, Snapshot


@dataclass(frozen=True, slots=True)
class SharedSkills:
    """What a link shows, and until when: a skill group, a set, or everything where both are empty."""

    name: str
    skill_group: str
    expires_at: datetime | None
    set_id: str = ""

    def sight(self, snapshot: Snapshot) -> AccessScope:
        """What there is to see by this link. Raises `RegistryUnavailable`."""
        if self.set_id:
            return AccessScope(ids=_list_set_members(snapshot, self.set_id))
        return AccessScope(groups=frozenset({self.skill_group})) if self.skill_group else FULL_ACCESS


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
    rows = in_force.values_list("token_hash", "name", "skill_group", "expires_at", "set_id")
    return {
        token_hash: SharedSkills(name, group, expires_at, set_id)
        for token_hash, name, group, expires_at, set_id in rows
    }


def _list_set_members(snapshot: Snapshot, set_id: str) -> frozenset[str]:
    paths = [feature.set_members for feature in installed_features() if feature.set_members]
    found: list[frozenset[str]] = [import_string(path)(snapshot, set_id) for path in paths]
    return frozenset().union(*found)
