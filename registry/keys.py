"""Keys of agent runtimes: 256 random bits, shown once, kept as SHA-256."""

from __future__ import annotations

import hashlib
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


def hash_key(key: str) -> str:
    """What is kept of a key, and what a presented key is looked up by."""
    return hashlib.sha256(key.encode("utf-8", errors="replace")).hexdigest()


def create_key(*, name: str, by: Actor, scopes: Sequence[str] = DEFAULT_SCOPES) -> tuple[AgentKey, str]:
    """Make a key; the second of the pair is the key itself, which is told this once.

    Raises `InvalidRequest` for an odd name or scope, `NameTaken`.
    """
    name = name.strip()
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidRequest("A key's name has 1 to 80 printable characters")
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InvalidRequest(f"Scopes are out of {', '.join(SCOPES)}; found {', '.join(unknown) or 'none'}")
    key = PREFIX + secrets.token_urlsafe(32)
    with writing() as state:
        if AgentKey.objects.filter(name=name).exists():
            raise NameTaken(f"There is a key named '{name}'")
        ordered = [scope for scope in SCOPES if scope in scopes]
        row = AgentKey.objects.create(
            name=name, key_hash=hash_key(key), hint=key[:8], scopes=ordered, created_by=str(by)
        )
        move_access(state)
        audit.record(by=by, verb="agent_key.create", subject=name, detail={"scopes": ordered})
    return row, key


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
