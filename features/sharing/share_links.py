"""Share links: unguessable addresses for clients that can send no key, with a group, an end, and a way to end them."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.errors import InvalidRequest
from features.sharing.models import ShareLink
from registry.access.agent_keys import fingerprint_hash, hash_key
from registry.common.actors import Actor
from registry.common.errors import NameConflict, NotFound
from registry.core import audit
from registry.core.rows import get_row, update_row
from registry.core.transactions import bump_access_revision, write_transaction

NAME_LENGTH_MAX: Final = 70
DAYS_MAX: Final = 3650


def create_link(
    *, name: str, by: Actor, skill_group: str = "", set_id: str = "", days: int | None = None
) -> tuple[ShareLink, str]:
    """Create a link; the second of the pair is its URL, which is returned only here.

    It shows one skill group, one set, or everything, for that many days, or until it is revoked. Raises
    `InvalidRequest` for an invalid name, group, set or number of days, `NameConflict`.
    """
    name = name.strip()
    if not 1 <= len(name) <= NAME_LENGTH_MAX or not name.isprintable():
        raise InvalidRequest(f"A share link's name has 1 to {NAME_LENGTH_MAX} printable characters")
    if skill_group and not is_capability_id(skill_group):
        raise InvalidRequest("A skill group is named by lower-case words joined by _, at most 64 characters")
    if set_id and (skill_group or not is_capability_id(set_id)):
        raise InvalidRequest("A share link shows a set, named by lower-case words joined by _, or a skill group")
    if days is not None and not 1 <= days <= DAYS_MAX:
        raise InvalidRequest(f"A share link ends after 1 to {DAYS_MAX} days")
    token = secrets.token_urlsafe(32)
    with write_transaction() as state:
        if ShareLink.objects.filter(name=name).exists():
            raise NameConflict(f"There is a share link named '{name}'")
        row = ShareLink.objects.create(
            name=name, token_hash=hash_key(token), token_prefix=token[:4], skill_group=skill_group,
            set_id=set_id, created_by=str(by),
            expires_at=timezone.now() + timedelta(days=days) if days is not None else None,
        )  # fmt: skip
        bump_access_revision(state)
        shows = {"group": skill_group} | ({"set": set_id} if set_id else {})
        detail = shows | {"days": days, "fingerprint": fingerprint_hash(row.token_hash)}
        audit.record(by=by, verb="share_link.create", subject=name, detail=detail)
    return row, share_url(token)


def share_url(token: str) -> str:
    """Where the link leads: below PUBLIC_URL, or on this machine."""
    return f"{settings.PUBLIC_URL or f'http://127.0.0.1:{settings.PORT}'}/share/{token}"


def revoke_link(*, name: str, by: Actor) -> ShareLink:
    """End a link; every process refuses it within a second. Raises `NotFound`; revoking twice changes nothing."""
    with write_transaction() as state:
        row = get_row(ShareLink.objects.filter(name=name), NotFound(f"There is no share link named '{name}'"))
        if row.revoked_at is None:
            update_row(row, revoked_at=timezone.now(), revoked_by=str(by))
            bump_access_revision(state)
            audit.record(by=by, verb="share_link.revoke", subject=name)
    return row
