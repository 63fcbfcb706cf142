"""Authentication: `Authorization: Bearer KEY`, looked up in the snapshot, so that a read needs no database."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from django.http import HttpRequest

from registry import snapshot
from registry.access import agent_keys
from registry.access.agent_keys import Scope, hash_key
from registry.common import log_context, rate_limits
from registry.common.actors import Actor
from registry.common.errors import Forbidden, Unauthenticated
from registry.core import chosen_settings
from registry.core.transactions import checked_writes
from registry.snapshot import Principal, Snapshot
from registry.snapshot.visibility import find_entry
from registry.usage import usage_counters


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. What it may see is in registry/snapshot/visibility.py, by its `principal`."""

    principal: Principal
    # Of a public read: whom its limits count.
    address: str = ""
    key_hash: str = ""

    @property
    def limit_subject(self) -> str:
        """Whom limits count: the key, or the network of a public read."""
        return self.key_name or rate_limits.network_of(self.address)

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

    def writing(self, *scopes: Scope) -> AbstractContextManager[None]:
        """While inside, a write is done only if the key is still in force, with one of these scopes, when it begins."""
        return checked_writes(
            lambda: agent_keys.require_in_force(name=self.key_name, key_hash=self.key_hash, scopes=scopes)
        )

    def is_visible(self, capability_id: str) -> bool:
        """Whether the key may see a capability; one with the scope `publish` sees all."""
        return (
            "publish" in self.scopes
            or find_entry(snapshot.current_snapshot(), self.principal, capability_id) is not None
        )


def _principal(held: Snapshot, key_hash: str) -> Principal | None:
    return held.principal(key_hash) or snapshot.refresh_if_stale().principal(key_hash)


def require_scope(request: HttpRequest, held: Snapshot, *scopes: Scope) -> Caller:
    """Who asks, if they may: with one of these scopes.

    Raises `Unauthenticated` (no key, a bad one), `Forbidden` (lacking the scope) or `RateLimited`: bad keys are counted
    by address, writes by key; reading with a good key is not limited.
    """
    header = request.headers.get("Authorization")
    if header is None:
        if "read" in scopes and chosen_settings.is_public_read():
            return Caller(snapshot.PUBLIC, str(request.META.get("REMOTE_ADDR")))
        raise Unauthenticated(
            "Send a key: Authorization: Bearer KEY. An operator makes one in the Studio under Settings > API keys."
        )
    scheme, _, key = header.partition(" ")
    key_hash = hash_key(key.strip())
    principal = _principal(held, key_hash) if scheme.lower() == "bearer" else None
    if principal is None:
        rate_limits.consume("guess", rate_limits.guess_subject("agent key", request.META.get("REMOTE_ADDR")))
        raise Unauthenticated(
            "The key is unknown, revoked or at its end; ask the operator of this registry for a new one"
        )
    log_context.add_context(key=principal.name)
    if principal.scopes.isdisjoint(scopes):
        have, needed = ", ".join(sorted(principal.scopes)), "' or '".join(scopes)
        raise Forbidden(f"This call needs a key with the scope '{needed}'; '{principal.name}' has: {have}")
    if "read" not in scopes:
        rate_limits.consume("write", principal.name)
    usage_counters.record_key_use(principal.name)
    return Caller(principal, key_hash=key_hash)
