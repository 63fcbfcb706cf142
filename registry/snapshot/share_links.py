"""Share links in force, read once for each snapshot: a warm read asks no database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from registry import outages
from registry.access.keys import hash_key
from registry.errors import RegistryUnavailable
from registry.models import ShareLink
from registry.snapshot.content import Snapshot


@dataclass(frozen=True, slots=True)
class Share:
    """What a link shows, and until when; an empty group is everything."""

    name: str
    skill_group: str
    expires_at: datetime | None


def find_share(snapshot: Snapshot, token: str) -> Share | None:
    """The link with this token, if it is in force. Raises `RegistryUnavailable`."""
    links: dict[str, Share] | None = snapshot.of_access.get("share links")
    if links is None:
        links = snapshot.of_access["share links"] = _read()
    share = links.get(hash_key(token))
    if share is None or (share.expires_at is not None and share.expires_at <= timezone.now()):
        return None
    return share


def _read() -> dict[str, Share]:
    try:
        rows = ShareLink.objects.filter(revoked_at__isnull=True).values_list(
            "token_hash", "name", "skill_group", "expires_at"
        )
        return {token_hash: Share(name, group, expires_at) for token_hash, name, group, expires_at in rows}
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(outages.notice(error).words) from error
