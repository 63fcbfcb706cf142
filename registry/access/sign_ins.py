"""Sign-in attempts: how often they are allowed, and their rows in the audit log.

Wrong passwords slow down the account and the network that they came from. A browser in which the account has signed in
before has a counter of its own, so that an attacker elsewhere cannot lock the owner out. Accounts are counted by the
name as typed, whether or not it exists, so that responses do not reveal which names exist.

The first failure of an account is written to the audit log at once, the failures of the next minute in one row after
it. Unknown names share one row: a flood writes at most one row a minute for each account.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from registry.common import caches
from registry.common.actors import SYSTEM, Actor
from registry.common.rate_limits import FAILURE_THROTTLE, Backoff, RateLimited, network_of
from registry.core import audit
from registry.core.transactions import try_write_transaction, write_transaction
from registry.models import Operator

logger = logging.getLogger(__name__)

# Stored in place of a name that does not exist: users type passwords there. No operator can have this name.
UNKNOWN_USERNAME: Final = "(unknown)"
# Of one account, one known browser, or one session that is asked for the current password.
BACKOFF: Final = Backoff(burst=5, interval_seconds=2, interval_seconds_max=60)
_ROW_INTERVAL_SECONDS: Final = 60.0
_NETWORKS_IN_ROW_MAX: Final = 5
AttemptKind = Literal["sign_in", "password", "second_factor", "external"]
AttemptOutcome = Literal["failed", "refused"]


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """A password or code that was sent for `username` from an address.

    `device` identifies a browser in which that account has signed in before; empty where it is not known. `where` is
    `password` where a signed-in operator confirms the current password, `second_factor` where a code or a passkey is
    asked for after the password or in its place, and `external` where a sign-in begins whose account is not known yet:
    with a passkey or at an identity provider. Each is counted apart; `external` by network alone.
    """

    username: str
    address: str
    device: str = ""
    where: AttemptKind = "sign_in"

    @property
    def network(self) -> str:
        return network_of(self.address)


def begin_attempt(attempt: SignInAttempt) -> None:
    """Count an attempt before its password is checked.

    Raises `RateLimited` where it has to wait; the password must not be checked then, even if it is right.
    """
    try:
        FAILURE_THROTTLE.begin_attempt(_backoffs(attempt))
    except RateLimited:
        _note_outcome(attempt, "refused")
        raise


@contextmanager
def counted_attempt(attempt: SignInAttempt) -> Iterator[None]:
    """Count an attempt around the check of its password. One that a busy server did not look at is taken back.

    Raises `RateLimited` where it has to wait, or where the server is too busy to hash the password.
    """
    begin_attempt(attempt)
    try:
        yield
    except RateLimited:
        for subject in _backoffs(attempt):
            FAILURE_THROTTLE.refund(subject)
        raise


def record_failure(attempt: SignInAttempt) -> None:
    """Write to the audit log that an attempt failed: wrong password, unknown name, or an account that is disabled."""
    _note_outcome(attempt, "failed")


def record_success(attempt: SignInAttempt) -> None:
    """Reset the counter of the account or browser."""
    own = _own_subject(attempt)
    for subject in _backoffs(attempt):
        if subject == own:
            FAILURE_THROTTLE.reset(subject)
        else:
            # The network keeps its failures: signing in to one account must not buy guesses at others.
            FAILURE_THROTTLE.refund(subject)


def record_sign_in(attempt: SignInAttempt, how: Sequence[str]) -> None:
    """Write to the audit log that somebody has signed in, and how: `password`, `totp`, `recovery_code`, `passkey`,
    `invitation` or `oidc`, in the order in which they were asked for."""
    by = Actor("operator", attempt.username)
    detail = {"network": attempt.network, "known_device": bool(attempt.device), "how": list(how)}
    with write_transaction():
        audit.record(by=by, verb="operator.sign_in", subject=attempt.username, detail=detail)


def _backoffs(attempt: SignInAttempt) -> dict[str, Backoff]:
    """The counters of an attempt; none where the limit `guess` is off."""
    rate = settings.RATE_LIMITS.get("guess")
    if rate is None:
        return {}
    if attempt.device or attempt.where in ("password", "second_factor"):
        return {_own_subject(attempt): BACKOFF}
    interval = rate.seconds / rate.count
    of_network = Backoff(rate.count, interval, max(interval, BACKOFF.interval_seconds_max))
    if attempt.where == "external":
        return {f"external {attempt.network}": of_network}
    return {_own_subject(attempt): BACKOFF, f"network {attempt.network}": of_network}


def _own_subject(attempt: SignInAttempt) -> str:
    if attempt.where == "password":
        return f"password {attempt.username}"
    if attempt.where == "second_factor":
        return f"second factor {attempt.device} {attempt.username}"
    return f"device {attempt.device} {attempt.username}" if attempt.device else f"account {attempt.username}"


@dataclass
class _PendingRow:
    """Outcomes that are not in the audit log yet; written when the row is `due`."""

    due: float
    outcomes: Counter[AttemptOutcome] = field(default_factory=Counter)
    networks: dict[str, None] = field(default_factory=dict)

    def add(self, outcomes: Counter[AttemptOutcome], networks: Iterable[str]) -> None:
        self.outcomes.update(outcomes)
        self.networks |= dict.fromkeys(networks)
        while len(self.networks) > _NETWORKS_IN_ROW_MAX + 1:
            self.networks.popitem()


_pending: dict[tuple[str, AttemptKind], _PendingRow] = {}
_lock = threading.Lock()


def _note_outcome(attempt: SignInAttempt, outcome: AttemptOutcome) -> None:
    exists = Operator.objects.filter(username=attempt.username).exists()
    _add_outcomes(
        (attempt.username if exists else UNKNOWN_USERNAME, attempt.where), Counter([outcome]), [attempt.network]
    )
    flush()


def _add_outcomes(key: tuple[str, AttemptKind], outcomes: Counter[AttemptOutcome], networks: Iterable[str]) -> None:
    with _lock:
        _pending.setdefault(key, _PendingRow(time.monotonic())).add(outcomes, networks)


def flush(*, everything: bool = False) -> None:
    """Write the rows that are due, or all of them with `everything`. A row that cannot be written now is kept."""
    now = time.monotonic()
    with _lock:
        due = {key: row for key, row in _pending.items() if everything or row.due <= now}
        for key, row in due.items():
            del _pending[key]
            if row.outcomes:
                # The next row of this account is at least a minute away.
                _pending[key] = _PendingRow(now + _ROW_INTERVAL_SECONDS)
    for key, row in due.items():
        if row.outcomes:
            _write_row(key, row)


def _write_row(key: tuple[str, AttemptKind], row: _PendingRow) -> None:
    try:
        # A long write elsewhere must delay neither the sign-in page nor the thread that flushes.
        with try_write_transaction():
            _record_row(*key, row)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("failed sign-ins will be written to the audit log later: %s", error)
        _add_outcomes(key, row.outcomes, row.networks)


def _record_row(account: str, where: AttemptKind, row: _PendingRow) -> None:
    networks = list(row.networks)
    counts: dict[str, Any] = dict(row.outcomes.items())
    detail = counts | {"networks": networks[:_NETWORKS_IN_ROW_MAX]}
    if len(networks) > _NETWORKS_IN_ROW_MAX:
        detail["more_networks"] = True
    if where != "sign_in":
        detail["where"] = where
    # Who sends a second factor has shown the password, but may be somebody else.
    by = Actor("operator", account) if where == "password" else SYSTEM
    audit.record(by=by, verb="operator.sign_in_failed", subject=account, detail=detail)


@caches.register
def forget() -> None:
    """Drop the rows that are not written yet, as in a new process."""
    with _lock:
        _pending.clear()
