"""The sessions of an account: where it is signed in. The rows are django-allauth's (`allauth.usersessions`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.common.rate_limits import network_of
from registry.core import audit
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.models import Operator


@dataclass(frozen=True, slots=True)
class SignedInSession:
    """One place where an account is signed in; `device` is what the browser calls itself, `is_current` this one."""

    key: int
    device: str
    network: str
    began_at: datetime
    last_seen_at: datetime
    is_current: bool


def list_sessions(operator: Operator, *, current: str) -> list[SignedInSession]:
    """The sessions that are valid, the one with the session key `current` first, then the last seen first."""
    found = UserSession.objects.purge_and_list(operator)
    rows = [
        SignedInSession(
            row.pk, row.user_agent, network_of(row.ip), row.created_at, row.last_seen_at, row.session_key == current
        )
        for row in found
    ]
    return sorted(rows, key=lambda row: (not row.is_current, -row.last_seen_at.timestamp()))


def end_session(*, operator: Operator, key: int, by: Actor) -> None:
    """Sign the account out in one place. Raises `NotFound`."""
    with write_transaction():
        found = UserSession.objects.filter(user=operator, pk=key)
        _end([get_row(found, NotFound("This session has ended already"))], operator, by)


def end_other_sessions(*, operator: Operator, current: str, by: Actor) -> int:
    """Sign the account out everywhere but in the session with the key `current`. Returns how many ended."""
    with write_transaction():
        rows = [row for row in UserSession.objects.purge_and_list(operator) if row.session_key != current]
        _end(rows, operator, by)
    return len(rows)


def prune_sessions() -> None:
    """Forget sessions that are past their end, and the rows of those that are gone."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()


def _end(rows: Iterable[UserSession], operator: Operator, by: Actor) -> None:
    networks = []
    for row in rows:
        networks.append(network_of(row.ip))
        row.end()
    if networks:
        detail = {"sessions": len(networks), "networks": networks[:5]}
        audit.record(by=by, verb="operator.end_sessions", subject=operator.username, detail=detail)
