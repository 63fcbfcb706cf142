"""The one entry point for writes: they are serialized, and readers are notified when they are committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Final

from django.db import DatabaseError, InterfaceError, connection, transaction

from capability_kit import tracing
from registry.common import database_errors
from registry.core.hooks import Hook
from registry.core.rows import update_row
from registry.models import RegistryState

CHANNEL = "registry"
# Called after each commit that readers are to see.
COMMITTED: Final = Hook()
# What each write of this request begins with; see `checked_writes`.
_REQUIRE_WRITER: Final[ContextVar[Callable[[], object] | None]] = ContextVar("require_writer", default=None)


@contextmanager
def checked_writes(require_writer: Callable[[], object]) -> Iterator[None]:
    """While inside, each write calls `require_writer` first, in its transaction and under the lock. It raises where
    the one who asked may not write any more: keys are known from the snapshot, which is a moment old, and a restore may
    have put another registry in the place of the one that knew the key."""
    token = _REQUIRE_WRITER.set(require_writer)
    try:
        yield
    finally:
        _REQUIRE_WRITER.reset(token)


@contextmanager
def write_transaction() -> Iterator[RegistryState]:
    """A transaction that holds the lock of the registry's state until it ends.

    One lock for all writes: publishing is rare, and what is checked inside stays true until the commit. On SQLite the
    transaction itself is exclusive (BEGIN IMMEDIATE).
    """
    try:
        # Entered first and left last: the span of the commit begins inside of the transaction and ends after it.
        with ExitStack() as committing, transaction.atomic():
            transaction.on_commit(database_errors.record_write, robust=True)
            state, _ = RegistryState.objects.select_for_update().get_or_create(id=1)
            if (require_writer := _REQUIRE_WRITER.get()) is not None:
                require_writer()
            yield state
            committing.enter_context(tracing.span("commit"))
    except (DatabaseError, InterfaceError) as error:
        database_errors.record_outage(error)
        raise


@contextmanager
def try_write_transaction() -> Iterator[RegistryState]:
    """Like `write_transaction`, for what can be done later: on PostgreSQL it raises OperationalError where the lock is
    not free within half a second."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = 500")
        with write_transaction() as state:
            yield state


def bump_registry_revision(state: RegistryState) -> int:
    """Raise the registry revision; the number is that of the caller's change. Listeners are notified at the commit."""
    update_row(state, registry_revision=state.registry_revision + 1)
    _notify_listeners(f"registry {state.registry_revision}")
    return state.registry_revision


def bump_access_revision(state: RegistryState) -> None:
    """Raise the counter of keys and settings, which lists and their ETags do not depend on."""
    update_row(state, access_revision=state.access_revision + 1)
    _notify_listeners(f"access {state.access_revision}")


def bump_feedback_revision(state: RegistryState) -> None:
    """Raise the counter of feedback; no one is notified, since readers poll every few seconds."""
    update_row(state, feedback_revision=state.feedback_revision + 1)


def _notify_listeners(payload: str) -> None:
    """Notify other processes at the commit; this one refreshes itself, so that a writer reads its own write."""
    transaction.on_commit(COMMITTED, robust=True)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])


def get_registry_revision() -> int:
    """The newest registry revision; 0 where nothing was ever published."""
    return RegistryState.objects.filter(id=1).values_list("registry_revision", flat=True).first() or 0
