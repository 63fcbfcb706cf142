"""Keys of agent runtimes: 256 random bits, shown once, kept as SHA-256."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from typing import Final, Literal

from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.errors import InvalidRequest, NameTaken, NotFound
from registry.models import AgentKey
from registry.writing import move_access, writing

Scope = Literal["read", "feedback", "propose", "publish"]
SCOPES: Final[tuple[Scope, ...]] = ("read", "feedback", "propose", "publish")
DEFAULT_SCOPES: Final[tuple[Scope, ...]] = ("read", "feedback")
PREFIX: Final = "csk_"
GROUP: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def hash_key(key: str) -> str:
    """What is kept of a key, and what a presented key is looked up by."""
    return hashlib.sha256(key.encode("utf-8", errors="replace")).hexdigest()


def create_key(
    *,
    name: str,
    by: Actor,
    scopes: Sequence[str] = DEFAULT_SCOPES,
    groups: Sequence[str] | None = None,
    read_only_tools: bool = False,
    preview: bool = False,
) -> tuple[AgentKey, str]:
    """Make a key; the second of the pair is the key itself, which is told this once.

    `groups` limit it to capabilities of these skill groups, `read_only_tools` withholds write tools from it, and with
    `preview` it sees drafts (registry/snapshot/visibility.py). Raises `InvalidRequest` for an odd name, scope or group,
    `NameTaken`.
    """
    name = name.strip()
    _require_good(name, scopes, groups)
    key = PREFIX + secrets.token_urlsafe(32)
    with writing() as state:
        if AgentKey.objects.filter(name=name).exists():
            raise NameTaken(f"There is a key named '{name}'")
        ordered = [scope for scope in SCOPES if scope in scopes]
        limits = {
            "groups": sorted(set(groups)) if groups is not None else None,
            "read_only_tools": read_only_tools,
            "preview": preview,
        }
        row = AgentKey.objects.create(
            name=name, key_hash=hash_key(key), hint=key[:8], scopes=ordered, created_by=str(by), **limits
        )
        move_access(state)
        detail = {"scopes": ordered, **{limit: value for limit, value in limits.items() if value}}
        audit.record(by=by, verb="agent_key.create", subject=name, detail=detail)
    return row, key


def _require_good(name: str, scopes: Sequence[str], groups: Sequence[str] | None) -> None:
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidRequest("A key's name has 1 to 80 printable characters")
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InvalidRequest(f"Scopes are out of {', '.join(SCOPES)}; found {', '.join(unknown) or 'none'}")
    if groups is not None and not (groups and all(GROUP.fullmatch(group) for group in groups)):
        raise InvalidRequest("Groups are lower-case words and digits joined by _, at least one of them")


def revoke_key(*, name: str, by: Actor) -> AgentKey:
    """End a key; every process refuses it within a second. Raises `NotFound`; revoking twice changes nothing."""
    with writing() as state:
        row = AgentKey.objects.filter(name=name).first()
        if row is None:
            raise NotFound(f"There is no key named '{name}'")
        if row.revoked_at is None:
            row.revoked_at, row.revoked_by = timezone.now(), str(by)
            row.save(update_fields=["revoked_at", "revoked_by"])
            move_access(state)
            audit.record(by=by, verb="agent_key.revoke", subject=name)
    return row
