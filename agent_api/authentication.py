"""Who asks: `Authorization: Bearer KEY`, looked up in the snapshot, so that a read asks no database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.http import HttpRequest

from registry import limits, log_context, snapshot
from registry.access.keys import Scope, hash_key
from registry.actors import Actor
from registry.errors import Forbidden, Unauthenticated
from registry.snapshot import Principal, Snapshot
from registry.snapshot.visibility import entry_for
from registry.usage import tallies


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. What it may see is in registry/snapshot/visibility.py, by its `principal`."""

    principal: Principal

    @property
    def key_name(self) -> str:
        """Empty for a public read."""
        return self.principal.name

    @property
    def scopes(self) -> frozenset[str]:
        return self.principal.scopes

    @property
    def is_public(self) -> bool:
        return not self.principal.name

    @property
    def actor(self) -> Actor:
        return Actor("agent_key", self.key_name)

    def may_know(self, capability_id: str) -> bool:
        """Whether it may hear of a capability; whoever publishes hears of all."""
        return "publish" in self.scopes or entry_for(snapshot.current(), self.principal, capability_id) is not None


PUBLIC: Final = Caller(snapshot.PUBLIC)


def _principal(held: Snapshot, key_hash: str) -> Principal | None:
    return held.principal(key_hash) or snapshot.look_again().principal(key_hash)


def require_scope(request: HttpRequest, held: Snapshot, *scopes: Scope) -> Caller:
    """Who asks, if they may: with one of these scopes.

    Raises `Unauthenticated` (no key, a bad one), `Forbidden` (lacking the scope) or `RateLimited`: bad keys are counted
    by address, writes by key; reading with a good key is not limited.
    """
    header = request.headers.get("Authorization")
    if header is None:
        if "read" in scopes and settings.AGENT_API_PUBLIC_READ:
            return PUBLIC
        raise Unauthenticated("Send a key: Authorization: Bearer KEY. An operator makes one in the Studio under Keys.")
    scheme, _, key = header.partition(" ")
    principal = _principal(held, hash_key(key.strip())) if scheme.lower() == "bearer" else None
    if principal is None:
        limits.spend("guess", limits.guess_subject("agent key", request.META.get("REMOTE_ADDR")))
        raise Unauthenticated(
            "The key is unknown, revoked or at its end; ask the operator of this registry for a new one"
        )
    log_context.note(key=principal.name)
    if principal.scopes.isdisjoint(scopes):
        have, needed = ", ".join(sorted(principal.scopes)), "' or '".join(scopes)
        raise Forbidden(f"This call needs a key with the scope '{needed}'; '{principal.name}' has: {have}")
    if "read" not in scopes:
        limits.spend("write", principal.name)
    tallies.note_key_use(principal.name)
    return Caller(principal)
