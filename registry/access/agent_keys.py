"""Keys of agent runtimes: 256 random bits, shown once, kept as SHA-256."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.errors import InvalidRequest
from registry.access.teams import get_team
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NameConflict, NotFound, StatusConflict, Unauthenticated
from registry.core import audit
from registry.core.rows import get_row, update_row
from registry.core.transactions import bump_access_revision, write_transaction
from registry.models import AgentKey, AuditEvent

Scope = Literal["read", "feedback", "propose", "publish"]
SCOPES: Final[tuple[Scope, ...]] = ("read", "feedback", "propose", "publish")
DEFAULT_SCOPES: Final[tuple[Scope, ...]] = ("read", "feedback")
PREFIX: Final = "csk_"
ROTATION_OVERLAP_MAX: Final = timedelta(days=30)
CAPABILITY_IDS_MAX: Final = 500
GROUP_PATTERN: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def hash_key(key: str) -> str:
    """What is kept of a key, and what a presented key is looked up by."""
    return hashlib.sha256(key.encode("utf-8", errors="replace")).hexdigest()


def fingerprint_hash(key_hash: str) -> str:
    """What the audit log keeps of a key: it tells one from another, and opens nothing."""
    return hashlib.sha256(f"fingerprint of {key_hash}".encode()).hexdigest()[:32]


def create_key(
    *,
    name: str,
    by: Actor,
    scopes: Sequence[str] = DEFAULT_SCOPES,
    groups: Sequence[str] | None = None,
    read_only_tools: bool = False,
    preview: bool = False,
    expires_at: datetime | None = None,
    team: str = "",
    capability_ids: Sequence[str] | None = None,
) -> tuple[AgentKey, str]:
    """Create a key; the second of the pair is the key itself, which is returned only here.

    `groups` limit it to capabilities of these skill groups, `read_only_tools` withholds write tools from it, and with
    `preview` it sees drafts (registry/snapshot/visibility.py); from `expires_at` on it is refused. It changes what
    belongs to the `team` of this name, or `capability_ids`, and everything without either
    (registry/access/key_limits.py). Raises `InvalidRequest` for an invalid name, scope, group, end or limit, and for a
    key that is to publish and sees less, `NameConflict`, and `NotFound` for an unknown team.
    """
    name = name.strip()
    _require_name(name)
    given = _validated_rights(scopes, groups, read_only_tools, preview, expires_at)
    key = _new_key()
    with write_transaction() as state:
        given |= _validated_limit(team, capability_ids)
        if AgentKey.objects.filter(name=name).exists():
            raise NameConflict(f"There is a key named '{name}'")
        given_to = {"created_by": str(by), "visibility_revision": state.registry_revision}
        row = AgentKey.objects.create(name=name, key_hash=hash_key(key), key_prefix=key[:8], **given_to, **given)
        bump_access_revision(state)
        detail = _detail(row) | {"fingerprint": fingerprint_hash(row.key_hash)}
        audit.record(by=by, verb="agent_key.create", subject=name, detail=detail)
    return row, key


def update_key(
    *,
    name: str,
    by: Actor,
    scopes: Sequence[str],
    groups: Sequence[str] | None,
    read_only_tools: bool,
    preview: bool,
    expires_at: datetime | None,
    team: str,
    capability_ids: Sequence[str] | None,
) -> AgentKey:
    """Other rights for a key in force; every process goes by them within a second. The same again changes nothing.

    Raises `NotFound`, `StatusConflict` where it is revoked, `InvalidRequest` as `create_key` does.
    """
    with write_transaction() as state:
        row = _get_active_key(name)
        is_same_end = expires_at == row.expires_at
        given = _validated_rights(scopes, groups, read_only_tools, preview, None if is_same_end else expires_at)
        given |= {"expires_at": expires_at} | _validated_limit(team, capability_ids)
        if any(getattr(row, column) != value for column, value in given.items()):
            has_other_groups = row.groups != given["groups"]
            changed = given | ({"visibility_revision": state.registry_revision} if has_other_groups else {})
            was = _rights(row)
            update_row(row, **changed)
            bump_access_revision(state)
            detail = _detail(row) | audit.changed(was, _rights(row))
            audit.record(by=by, verb="agent_key.change", subject=name, detail=detail)
    return row


def rotate_key(*, name: str, by: Actor, overlap: timedelta = timedelta(0)) -> tuple[AgentKey, str]:
    """A new key in the place of the old one, which is taken for `overlap` longer, 30 days at most.

    The second of the pair is the new key, returned only here; of two keys before it only the later one is kept. Raises
    `NotFound`, `StatusConflict` where it is revoked, `InvalidRequest` for an invalid overlap.
    """
    if not timedelta(0) <= overlap <= ROTATION_OVERLAP_MAX:
        raise InvalidRequest(f"The old key may be taken for 0 to {ROTATION_OVERLAP_MAX.days} days longer")
    key = _new_key()
    with write_transaction() as state:
        row = _get_active_key(name)
        until = timezone.now() + overlap if overlap else None
        old = {"previous_key_hash": row.key_hash if overlap else "", "previous_until": until}
        update_row(row, **old, key_hash=hash_key(key), key_prefix=key[:8])
        bump_access_revision(state)
        detail = {"fingerprint": fingerprint_hash(row.key_hash)}
        detail |= {"old_key_until": row.previous_until.isoformat(timespec="seconds")} if row.previous_until else {}
        audit.record(by=by, verb="agent_key.rotate", subject=name, detail=detail)
    return row, key


def get_key(name: str) -> AgentKey:
    """The key with this name. Raises `NotFound`."""
    return get_row(AgentKey.objects.select_related("team").filter(name=name), NotFound(f"No key is named '{name}'"))


def get_key_by_id(number: int) -> AgentKey:
    """By its row id. Raises `NotFound`."""
    return get_row(AgentKey.objects.select_related("team").filter(pk=number), NotFound("There is no such key"))


def list_keys(*, state: str = "all", search: str = "", sort: str = "name") -> QuerySet[AgentKey]:
    """Those in force (`force`), revoked or at their end (`ended`), or all; with `search` in their name.
    `sort` is `name`, `expires` or `used`, downwards with `-`."""
    ended = Q(revoked_at__isnull=False) | Q(expires_at__lte=timezone.now())
    column = {"name": "name", "expires": "expires_at", "used": "last_used_at"}[sort.removeprefix("-")]
    order = F(column).desc(nulls_last=True) if sort.startswith("-") else F(column).asc(nulls_last=True)
    found = AgentKey.objects.select_related("team").order_by(order, "name")
    if search:
        found = found.filter(name__icontains=search)
    return found if state == "all" else found.filter(ended) if state == "ended" else found.exclude(ended)


def list_keys_known_to(by: Actor) -> QuerySet[AgentKey]:
    """The keys in force that the actor has seen: those that it created, and those that it rotated."""
    rotated = AuditEvent.objects.filter(verb="agent_key.rotate", actor_kind=by.kind, actor_name=by.name)
    return list_keys(state="force").filter(Q(created_by=str(by)) | Q(name__in=rotated.values("subject")))


def require_in_force(*, name: str, key_hash: str, scopes: Collection[str]) -> None:
    """Read in the transaction of a write: whether the key may still do it.

    Raises `Unauthenticated` where it is gone, revoked or at its end, `Forbidden` where it has none of the scopes.
    """
    now = timezone.now()
    by_hash = Q(key_hash=key_hash) | Q(previous_key_hash=key_hash, previous_until__gt=now)
    row = AgentKey.objects.filter(by_hash, name=name, revoked_at__isnull=True).first()
    if row is None or row.has_ended:
        raise Unauthenticated(
            "The key was revoked, or ended, a moment ago; ask the operator of this registry for a new one"
        )
    if set(row.scopes).isdisjoint(scopes):
        raise Forbidden(f"The key lost the scope '{next(iter(scopes))}' a moment ago")


def _get_active_key(name: str) -> AgentKey:
    row = get_key(name)
    if row.revoked_at is not None:
        raise StatusConflict(f"'{name}' is revoked: make a new key")
    return row


def _new_key() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def _validated_rights(
    scopes: Sequence[str],
    groups: Sequence[str] | None,
    read_only_tools: bool,  # noqa: FBT001 (columns, in their order)
    preview: bool,  # noqa: FBT001
    expires_at: datetime | None,
) -> dict[str, Any]:
    """The columns that say what a key may do."""
    _require_good(scopes, groups)
    if "publish" in scopes and (groups is not None or read_only_tools):
        raise InvalidRequest(
            "The publish scope shows the whole registry: leave it out, or create a key without groups and with write "
            "tools. A team, or ids of capabilities, limit what such a key may change"
        )
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidRequest("A key ends in the future; to end it now, revoke it")
    return {
        "scopes": [scope for scope in SCOPES if scope in scopes],
        "groups": sorted(set(groups)) if groups is not None else None,
        "read_only_tools": read_only_tools,
        "preview": preview,
        "expires_at": expires_at,
    }


def _validated_limit(team: str, capability_ids: Sequence[str] | None) -> dict[str, Any]:
    """The columns that say what it may change."""
    if team and capability_ids is not None:
        raise InvalidRequest("A team and ids of capabilities exclude each other: a key has one limit, or none")
    if capability_ids is not None and not (
        0 < len(capability_ids) <= CAPABILITY_IDS_MAX and all(map(is_capability_id, capability_ids))
    ):
        raise InvalidRequest(
            f"Ids of capabilities are lower-case words and digits joined by _, 1 to {CAPABILITY_IDS_MAX} of them"
        )
    return {
        "team": get_team(team) if team else None,
        "capability_ids": sorted(set(capability_ids)) if capability_ids is not None else None,
    }


def _rights(row: AgentKey) -> dict[str, Any]:
    """What a key may do, as the audit log keeps it."""
    end = row.expires_at.isoformat(timespec="seconds") if row.expires_at else None
    columns = ("scopes", "groups", "read_only_tools", "preview")
    limit = {"team": row.team.name if row.team else None, "capabilities": row.capability_ids}
    return {column: getattr(row, column) for column in columns} | limit | {"expires_at": end}


def _detail(row: AgentKey) -> dict[str, Any]:
    return {name: value for name, value in _rights(row).items() if value}


def _require_name(name: str) -> None:
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidRequest("A key's name has 1 to 80 printable characters")


def _require_good(scopes: Sequence[str], groups: Sequence[str] | None) -> None:
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InvalidRequest(f"Scopes are out of {', '.join(SCOPES)}; found {', '.join(unknown) or 'none'}")
    if groups is not None and not (groups and all(GROUP_PATTERN.fullmatch(group) for group in groups)):
        raise InvalidRequest("Groups are lower-case words and digits joined by _, at least one of them")


def revoke_key(*, name: str, by: Actor) -> AgentKey:
    """End a key; every process refuses it within a second. Raises `NotFound`; revoking twice changes nothing."""
    with write_transaction() as state:
        row = get_key(name)
        if row.revoked_at is None:
            update_row(row, revoked_at=timezone.now(), revoked_by=str(by))
            bump_access_revision(state)
            audit.record(by=by, verb="agent_key.revoke", subject=name)
    return row
