"""What members have allowed: codes, tokens, how they are renewed and how they end (docs/contract.md 3.5).

Codes and tokens are random, and only their hashes are kept. One row is one connection: its code, the refresh token that
is good, and the access token that is good. A refresh token has two halves. The first stays for as long as the
connection does and finds it; the second changes with each use, so that a token of before is known as one, without a
list of them.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db.models import Q, QuerySet
from django.utils import timezone

from features.oauth.clients import forget_unused, get_host, store_client
from features.oauth.models import Connection, OAuthClient
from features.oauth.server_address import get_resource
from registry.access.agent_keys import Scope, fingerprint_hash, hash_key
from registry.common import rate_limits
from registry.common.actors import SYSTEM, Actor
from registry.common.errors import NotFound, StatusConflict, Unauthenticated
from registry.core import audit
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Operator

PRUNE_KIND: Final = "connection.prune"
SCOPES: Final[tuple[Scope, ...]] = ("read", "feedback", "propose")
DEFAULT_SCOPES: Final[tuple[Scope, ...]] = ("read", "feedback")
CODE_SECONDS: Final = 60
ACCESS_SECONDS: Final = 600
REFRESH_DAYS: Final = 30
CONNECTIONS_MAX: Final = 100
ACCESS_PREFIX: Final = "cso_"
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class GrantInvalid(Exception):
    """A code or a refresh token that is not good, by RFC 6749's `invalid_grant`. The message is for the client."""


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """What a client gets, which is shown here only."""

    access_token: str
    refresh_token: str
    scopes: tuple[str, ...]


def get_actor(row: Connection) -> Actor:
    """The member, by the client."""
    return Actor("operator", row.operator.get_username(), row.via)


def list_scopes_of_role(operator: Operator) -> tuple[Scope, ...]:
    """The most that a member may allow."""
    return SCOPES if operator.can_edit else DEFAULT_SCOPES


def list_scopes_in_force(row: Connection, asked: Collection[str] = SCOPES) -> tuple[Scope, ...]:
    """What was allowed, of what is asked for, as far as the role of the member goes today."""
    return tuple(scope for scope in list_scopes_of_role(row.operator) if scope in row.scopes and scope in asked)


def allow_client(
    *, operator: Operator, client: OAuthClient, redirect_uri: str, code_challenge: str, scopes: Collection[str]
) -> str:
    """The member lets the client in: a code for it, which is returned only here.

    Raises `StatusConflict` past `CONNECTIONS_MAX`, and `Unauthenticated` for a member who was deactivated.
    """
    code, via = secrets.token_urlsafe(32), get_host(client, redirect_uri)
    with write_transaction():
        operator.refresh_from_db()
        if not operator.is_active:
            raise Unauthenticated("This account was deactivated a moment ago")
        require_room(operator)
        given = [scope for scope in list_scopes_of_role(operator) if scope in scopes or scope == "read"]
        row = Connection.objects.create(
            operator=operator,
            client=store_client(client),
            via=via,
            scopes=given,
            resource=get_resource(),
            redirect_uri=redirect_uri,
            code_hash=hash_key(code),
            code_challenge=code_challenge,
            code_until=timezone.now() + timedelta(seconds=CODE_SECONDS),
        )
        record_creation(row, by=get_actor(row))
    return code


def require_room(operator: Operator) -> None:
    """Raises `StatusConflict` for a member who has `CONNECTIONS_MAX`."""
    if list_connections(operator).count() >= CONNECTIONS_MAX:
        raise StatusConflict(f"You have {CONNECTIONS_MAX} connections: end one of them first")


def record_creation(row: Connection, *, by: Actor) -> None:
    """Write down what a connection may do."""
    detail = {"scopes": row.scopes, "client": row.client.client_id, "name": row.client.name}
    detail |= {"fingerprint": fingerprint_hash(row.code_hash)}
    audit.record(by=by, verb="connection.create", subject=row.operator.get_username(), detail=detail)


def redeem_code(*, code: str, client_id: str, redirect_uri: str, verifier: str) -> IssuedTokens:
    """The first tokens of a connection. Raises `GrantInvalid`, `RateLimited`.

    A code that comes a second time, or with something else than it was made for, is known to somebody whom it was not
    given to: the connection ends.
    """
    _find(code_hash=hash_key(code))
    issued: IssuedTokens | None = None
    with write_transaction():
        row = _find(code_hash=hash_key(code))
        fault = _find_fault(row, client_id, redirect_uri, verifier)
        if not fault and row.code_until <= timezone.now():
            raise GrantInvalid("The code is too old: begin again")
        if fault:
            _end(row, SYSTEM, fault)
        else:
            family = secrets.token_urlsafe(32)
            issued = _issue(row, family, family_hash=hash_key(family))
    if issued is None:
        raise GrantInvalid(f"{fault}: the connection has ended")
    return issued


def _find_fault(row: Connection, client_id: str, redirect_uri: str, verifier: str) -> str:
    """What is wrong with the use of a code, empty where nothing is."""
    if row.family_hash is not None:
        return "The code was used before"
    if client_id != row.client.client_id:
        return "The code is another client's"
    if redirect_uri != row.redirect_uri:
        return "The redirect_uri is not the one that the code was sent to"
    digest = hashlib.sha256(verifier.encode("ascii", "replace")).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    is_right = bool(_VERIFIER.fullmatch(verifier)) and secrets.compare_digest(challenge, row.code_challenge)
    return "" if is_right else "The code_verifier is not the one that the code was made for"


def refresh_tokens(*, refresh_token: str, client_id: str) -> IssuedTokens:
    """The next tokens of a connection. Raises `GrantInvalid`, `RateLimited`.

    A refresh token that was used before is known to two: the connection ends, for both.
    """
    family, _, current = refresh_token.partition(".")
    row = _find(family_hash=hash_key(family))
    rate_limits.consume("write", get_actor(row).reporter)
    issued: IssuedTokens | None = None
    with write_transaction():
        row = _find(family_hash=hash_key(family))
        if client_id != row.client.client_id:
            raise GrantInvalid("The refresh token is another client's")
        if row.refresh_until is None or row.refresh_until <= timezone.now():
            raise GrantInvalid("The refresh token is too old: the member has to sign in again")
        if secrets.compare_digest(hash_key(current), row.refresh_hash):
            issued = _issue(row, family)
        else:
            _end(row, SYSTEM, "A refresh token was used twice")
    if issued is None:
        raise GrantInvalid(
            "The refresh token was used before: the connection has ended, the member has to sign in again"
        )
    return issued


def _find(**columns: str) -> Connection:
    found = Connection.objects.select_related("operator", "client").filter(**columns)
    row = found.filter(ended_at__isnull=True, operator__is_active=True, resource=get_resource()).first()
    if row is None:
        raise GrantInvalid("It is unknown here, or its connection has ended: the member has to sign in again")
    return row


def _issue(row: Connection, family: str, **columns: str) -> IssuedTokens:
    """New tokens in the place of those before. Under the lock."""
    now, access, current = timezone.now(), ACCESS_PREFIX + secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    update_row(
        row,
        **columns,
        refresh_hash=hash_key(current),
        refresh_until=now + timedelta(days=REFRESH_DAYS),
        access_hash=hash_key(access),
        access_until=now + timedelta(seconds=ACCESS_SECONDS),
        last_used_at=now,
    )
    return IssuedTokens(access, f"{family}.{current}", list_scopes_in_force(row))


def find_by_access_token(token: str) -> Connection | None:
    """The connection that a token is good for: one query, which sees at once what has ended."""
    found = Connection.objects.select_related("operator", "client").filter(access_hash=hash_key(token))
    in_force = found.filter(ended_at__isnull=True, access_until__gt=timezone.now(), operator__is_active=True)
    return in_force.filter(resource=get_resource()).first()


def list_connections(operator: Operator | None = None) -> QuerySet[Connection]:
    """Those in force, newest first, of all members or of one; a code that nobody has used in time is none."""
    is_used = Q(refresh_until__gt=timezone.now()) | Q(family_hash__isnull=True, code_until__gt=timezone.now())
    found = Connection.objects.select_related("operator", "client").filter(is_used, ended_at__isnull=True)
    return found if operator is None else found.filter(operator=operator)


def get_connection(key: int, by: Operator | None) -> Connection:
    """One in force, of the member, or of anyone for an admin and at a terminal. Raises `NotFound`."""
    found = list_connections(None if by is None or by.can_administer else by)
    return get_row(found.filter(pk=key), NotFound("There is no such connection, or it has ended"))


def has_ended(key: int, by: Operator) -> bool:
    """Whether one of the member's has ended, or of anyone's for an admin."""
    found = Connection.objects.filter(pk=key, ended_at__isnull=False)
    return (found if by.can_administer else found.filter(operator=by)).exists()


def end_connection(*, key: int, operator: Operator | None, by: Actor) -> Connection:
    """End one, at once. Raises `NotFound` for one that has ended, or is another member's and `operator` is not an
    admin; None at a terminal."""
    with write_transaction():
        row = get_connection(key, operator)
        _end(row, by)
    return row


def revoke_token(*, token: str, client_id: str) -> None:
    """RFC 7009: the client ends its connection by an access or a refresh token; for another token nothing is done."""
    family = token.partition(".")[0]
    held = Q(family_hash=hash_key(family)) | Q(access_hash=hash_key(token))
    found = Connection.objects.select_related("operator", "client").filter(held, ended_at__isnull=True)
    # Before the lock, so that a flood does not wait for it.
    if not found.exists():
        return
    with write_transaction():
        for row in found:
            if row.client.client_id == client_id:
                _end(row, get_actor(row), "The client has ended it")


def end_those_of_member(event: AuditEvent) -> None:
    """For `Feature.audit_observers`: the account is not what it was when its member allowed this. Under the lock."""
    for row in Connection.objects.filter(operator__username=event.subject, ended_at__isnull=True):
        _end(row, SYSTEM, event.verb)


def _end(row: Connection, by: Actor, why: str = "") -> None:
    update_row(row, ended_at=timezone.now(), ended_by=str(by), access_hash=None)
    detail = {"fingerprint": fingerprint_hash(row.code_hash), "client": row.client.client_id}
    detail |= {"why": why} if why else {}
    subject = row.operator.get_username()
    audit.record(by=by, verb="connection.end", subject=subject, detail=detail | {"via": row.via})


def prune(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The daily job: end what nobody has used in time, and forget clients that nobody has allowed."""
    return _prune


def _prune() -> None:
    stale = Connection.objects.filter(ended_at__isnull=True).exclude(pk__in=list_connections().values("pk"))
    for row in stale.select_related("operator", "client"):
        _end(row, SYSTEM, "Nobody has used it in time")
    forget_unused()
