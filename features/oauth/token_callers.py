"""Who calls `/mcp` by an access token, and what its 401 says."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from django.http import HttpRequest

from agent_api.http.authentication import Caller
from features.oauth import connections
from features.oauth.connections import ACCESS_PREFIX, SCOPES
from features.oauth.server_address import MCP, RESOURCE_METADATA, find_issuer
from registry.access.agent_keys import Scope
from registry.common import log_context
from registry.common.actors import Actor
from registry.common.errors import Unauthenticated
from registry.core.transactions import checked_writes
from registry.snapshot import Principal


@dataclass(frozen=True, slots=True)
class TokenCaller(Caller):
    """A member, by an assistant."""

    token: str = ""
    via: str = ""
    username: str = ""

    @property
    def actor(self) -> Actor:
        return Actor("operator", self.username, self.via)

    def writing(self, *scopes: Scope) -> AbstractContextManager[None]:
        """While inside, a write is done only if the token is still in force, with one of these scopes."""
        return checked_writes(lambda: connections.require_in_force(self.token, scopes))


def find_token_caller(request: HttpRequest) -> Caller | None:
    """Who asks, None for a request without an access token. Raises `Unauthenticated` for one that is not in force."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    token = token.strip()
    if not find_issuer() or scheme.lower() != "bearer" or not token.startswith(ACCESS_PREFIX):
        return None
    row = connections.find_by_access_token(token)
    if row is None:
        raise Unauthenticated("The token is unknown or at its end: renew it, or let the member sign in again")
    member = connections.get_actor(row)
    log_context.add_context(key=member.reporter)
    until = row.access_until.timestamp() if row.access_until else None
    principal = Principal(member.reporter, frozenset(connections.list_scopes_in_force(row)), until=until)
    return TokenCaller(principal, token=token, via=member.via, username=member.name)


def describe_challenge(request: HttpRequest) -> str:
    """What stands behind the realm in a 401 of `/mcp`: where a client learns how to sign in (RFC 9728 5.1)."""
    issuer = find_issuer()
    if not issuer:
        return ""
    found = f'resource_metadata="{issuer}{RESOURCE_METADATA}{MCP}", scope="{" ".join(SCOPES)}"'
    return f'error="invalid_token", {found}' if "Authorization" in request.headers else found
