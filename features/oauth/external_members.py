"""Whom a token of another authorization server acts for (docs/contract.md 3.5).

Its first token finds the member by a verified address; from then on issuer and subject do. Each person by each client
is a `Connection` without a code and without tokens of ours.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from capability_kit.json_text import as_string, as_strings
from features.oauth.connections import (
    REFRESH_DAYS,
    SCOPES,
    get_actor,
    record_creation,
    require_room,
)
from features.oauth.models import Connection, OAuthClient
from features.oauth.server_address import get_external_issuer, get_resource
from registry.access.agent_keys import hash_key
from registry.common.errors import Forbidden, Unauthenticated
from registry.core.rows import update_row
from registry.core.transactions import write_transaction
from registry.models import Operator
from studio.pages.id_tokens import CLOCK_SECONDS

_CLIENT_CLAIMS: Final = ("client_id", "azp", "appid", "cid")
_PERSON_LENGTH_MAX: Final = 500
_EMAIL: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@([A-Za-z0-9.-]{1,189})")


@dataclass(frozen=True, slots=True)
class ExternalToken:
    """What the verified claims of a token say."""

    person: str
    client: str
    issued_at: int
    scopes: frozenset[str]
    email: str

    @property
    def client_id(self) -> str:
        """No client of ours has a blank in its id."""
        return f"{get_external_issuer()} {self.client}"[:512]

    @property
    def via(self) -> str:
        """The client as pages and the audit log name it, which no client of ours can be called."""
        return f"{urlsplit(get_external_issuer()).netloc[:60]}/{self.client}"[:100]


def read_token(claims: Mapping[str, Any]) -> ExternalToken:
    """Raises `Unauthenticated` for a token that names nobody, `Forbidden` for one without the scope `read`."""
    person = f"{get_external_issuer()} {claims['sub']}"
    if not claims["sub"].strip() or not person.isprintable() or len(person) > _PERSON_LENGTH_MAX:
        raise Unauthenticated("The token names nobody: its sub is empty, too long or not a text")
    words = [claims.get("scope"), claims.get("scp")]
    given = {one for each in words for one in (each.split() if isinstance(each, str) else as_strings(each))}
    scopes = frozenset(scope for scope in SCOPES if scope in given)
    if "read" not in scopes:
        raise Forbidden("The token needs the scope 'read'")
    named = (claims.get(name) for name in _CLIENT_CLAIMS)
    client = next((one for one in map(as_string, named) if one and one.isprintable()), "unknown")
    # Entra ID says so of the domain's owner.
    is_verified = claims.get("email_verified") is True or claims.get("xms_edov") in (True, "1", "true")
    email = as_string(claims.get("email")) if is_verified else ""
    return ExternalToken(person, client, int(claims["iat"]), scopes, email)


def admit(token: ExternalToken) -> Connection:
    """The connection of the person by the client, which is made or opened again where it has to be.

    Raises `Unauthenticated` for a token of before an end and for a deactivated member, `Forbidden` for who is not to
    come in.
    """
    row = find_connection(token)
    is_known = row is not None and token.scopes <= set(row.scopes)
    if row is None or not is_known or row.code_until < timezone.now() + timedelta(days=REFRESH_DAYS - 1):
        with write_transaction():
            row = _store(token)
    return row


def find_connection(token: ExternalToken) -> Connection | None:
    """The connection in force that a token is good for; None where there is none. Raises as `admit`."""
    rows = list(Connection.objects.select_related("operator", "client").filter(person=token.person))
    row = next((one for one in rows if one.ended_at is None and one.client.client_id == token.client_id), None)
    # Of one that is opened again, all that has ended counts: its client may have had tokens that were never used.
    ends = [one.ended_at for one in rows if one.ended_at and (row is None or one.client_id == row.client_id)]
    if ends and not token.issued_at > max(ends).timestamp() + CLOCK_SECONDS:
        raise Unauthenticated("The connection has ended since the token was issued: sign in again")
    if rows:
        _require_member(rows[0].operator)
    return row


def _require_member(operator: Operator) -> None:
    if not operator.is_active:
        raise Unauthenticated("This account was deactivated")
    if operator.can_administer:
        raise Forbidden("Admins do not come in by another authorization server")


def _store(token: ExternalToken) -> Connection:
    """Under the lock."""
    row, until = find_connection(token), timezone.now() + timedelta(days=REFRESH_DAYS)
    if row is None:
        operator = _find_member(token)
        require_room(operator)
        row = Connection.objects.create(
            operator=operator,
            client=OAuthClient.objects.get_or_create(client_id=token.client_id)[0],
            person=token.person,
            via=token.via,
            resource=get_resource(),
            # Of a code that nobody was given.
            code_hash=hash_key(secrets.token_urlsafe(32)),
            code_until=until,
        )
    is_said = set(row.scopes) >= token.scopes
    scopes = [scope for scope in SCOPES if scope in token.scopes.union(row.scopes)]
    update_row(row, scopes=scopes, code_until=until, last_used_at=timezone.now())
    if not is_said:
        record_creation(row, by=get_actor(row))
    return row


def _find_member(token: ExternalToken) -> Operator:
    """Raises `Forbidden`."""
    bound = Connection.objects.filter(person=token.person).select_related("operator").first()
    if bound is not None:
        return bound.operator
    address = _EMAIL.fullmatch(token.email)
    if address is None or address[1].lower() not in settings.OAUTH_DOMAINS:
        raise Forbidden("The token has no verified address of a domain that OAUTH_DOMAINS names")
    # A database folds more letters than those of ASCII.
    found = [one for one in Operator.objects.filter(email__iexact=token.email) if one.email.isascii()]
    if len(found) != 1:
        raise Forbidden("The address of the token is not that of exactly one member here")
    _require_member(found[0])
    if found[0].connections.filter(person__startswith=f"{get_external_issuer()} ").exists():
        raise Forbidden("The member of this address is bound to another person of the authorization server")
    return found[0]
