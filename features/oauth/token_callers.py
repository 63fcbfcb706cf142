"""Who calls `/mcp` by an access token, and what its 401 says."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Final

from django.http import HttpRequest

from agent_api.http.authentication import Caller
from features.oauth import connections
from features.oauth.connections import ACCESS_PREFIX, SCOPES
from features.oauth.models import Connection
from features.oauth.server_address import MCP, RESOURCE_METADATA, find_origin, get_external_issuer
from registry.access.agent_keys import Scope
from registry.common import log_context
from registry.common.actors import Actor
from registry.common.errors import Forbidden, Unauthenticated
from registry.core.transactions import checked_writes
from registry.snapshot import Principal

_JWT: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCaller(Caller):
    """A member, by an assistant."""

    row: Connection
    # Reads the row again, in the transaction of a write; None where it has ended.
    find_again: Callable[[], Connection | None]
    asked: Collection[str] = SCOPES

    @property
    def actor(self) -> Actor:
        return connections.get_actor(self.row)

    def writing(self, *scopes: Scope) -> AbstractContextManager[None]:
        """While inside, a write is done only if the token is still in force, with one of these scopes."""
        return checked_writes(lambda: self._require(scopes))

    def _require(self, scopes: Collection[Scope]) -> None:
        row = self.find_again()
        if row is None:
            raise Unauthenticated("The token ended a moment ago: renew it, or let the member sign in again")
        if set(connections.list_scopes_in_force(row, self.asked)).isdisjoint(scopes):
            raise Forbidden(f"The connection lost the scope '{next(iter(scopes))}' a moment ago")


def find_token_caller(request: HttpRequest) -> Caller | None:
    """Who asks, None for a request without an access token. Raises `Unauthenticated` for one that is not in force."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    token = token.strip()
    if not find_origin() or scheme.lower() != "bearer":
        return None
    if get_external_issuer():
        return _find_external_caller(token) if _JWT.fullmatch(token) else None
    if not token.startswith(ACCESS_PREFIX):
        return None
    row = connections.find_by_access_token(token)
    if row is None:
        raise Unauthenticated("The token is unknown or at its end: renew it, or let the member sign in again")
    until = row.access_until.timestamp() if row.access_until else None
    return _call_for(row, until, lambda: connections.find_by_access_token(token))


def _find_external_caller(token: str) -> Caller:
    # PyJWT is there only where another server is named.
    from features.oauth import external_members, external_server

    claims = external_server.verify_access_token(token)
    given = external_members.read_token(claims)
    row = external_members.admit(given)
    return _call_for(row, int(claims["exp"]), partial(external_members.find_connection, given), given.scopes)


def _call_for(
    row: Connection, until: float | None, find_again: Callable[[], Connection | None], asked: Collection[str] = SCOPES
) -> Caller:
    name, scopes = connections.get_actor(row).reporter, connections.list_scopes_in_force(row, asked)
    log_context.add_context(key=name)
    principal = Principal(name, frozenset(scopes), until=until)
    return TokenCaller(principal, row=row, find_again=find_again, asked=asked)


def describe_challenge(request: HttpRequest) -> str:
    """What stands behind the realm in a 401 of `/mcp`: where a client learns how to sign in (RFC 9728 5.1)."""
    origin = find_origin()
    if not origin:
        return ""
    found = f'resource_metadata="{origin}{RESOURCE_METADATA}{MCP}", scope="{" ".join(SCOPES)}"'
    return f'error="invalid_token", {found}' if "Authorization" in request.headers else found
