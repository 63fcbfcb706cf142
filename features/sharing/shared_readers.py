"""Share links in force, read once for each snapshot: a warm read queries no database."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.module_loading import import_string

from features.sharing.models import ShareLink
from registry.access.agent_keys import hash_key
from registry.core.storage import require_database
from registry.feature import installed_features
from registry.snapshot.snapshot import FULL_ACCESS, AccessScope, Principal, Snapshot

_READ: Final = frozenset({"read"})
# By the hash of the token: the name, the skill group or the set that it shows (everything without both), and the end.
_Links = dict[str, tuple[str, str, str, datetime | None]]


def find_shared_reader(snapshot: Snapshot, token: str) -> Principal | None:
    """Who reads by the link with this token, if it is in force. Raises `RegistryUnavailable`."""
    links: _Links | None = snapshot.of_access.get("share links")
    if links is None:
        links = snapshot.of_access["share links"] = _read()
    name, group, set_id, ends = links.get(hash_key(token), ("", "", "", None))
    if not name or (ends is not None and ends <= timezone.now()):
        return None
    sight = AccessScope(groups=frozenset({group})) if group else FULL_ACCESS
    if set_id:
        sight = AccessScope(ids=_list_set_members(snapshot, set_id), set_id=set_id)
    return Principal(f"share:{name}", _READ, sight)


def _list_set_members(snapshot: Snapshot, set_id: str) -> frozenset[str]:
    """Nothing where no feature has sets."""
    paths = [feature.set_members for feature in installed_features() if feature.set_members]
    found: list[frozenset[str]] = [import_string(path)(snapshot, set_id) for path in paths]
    return frozenset().union(*found)


@require_database()
def _read() -> _Links:
    in_force = ShareLink.objects.filter(revoked_at__isnull=True)
    return {
        row[0]: row[1:] for row in in_force.values_list("token_hash", "name", "skill_group", "set_id", "expires_at")
    }
