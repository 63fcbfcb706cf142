"""Stores the snapshot of this process, and refreshes it."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from django.utils import timezone

from capability_rules.errors import RegistryUnavailable
from registry.common import caches, database_errors
from registry.common.database_errors import DatabaseOutage
from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER
from registry.snapshot.snapshot import EMPTY, Snapshot, read_counters, read_snapshot, snapshot_at

logger = logging.getLogger(__name__)

# Past states that a client may still page through; they share their entries, so that one costs about 1 MB at 10,000.
PAST_MAX: Final = 8
# Feedback may come with every turn of every agent: a served response changes with it this often at most.
FEEDBACK_SECONDS: Final = 2.0
# A stranger who guesses keys has the database asked so often, and for so long, at most.
RECHECK_SECONDS: Final = 0.02
REFRESH_SECONDS: Final = 1.0


@dataclass
class SnapshotStore:
    """One a process. Readers take `snapshot` without a lock: it is replaced whole by one assignment."""

    snapshot: Snapshot = EMPTY
    has_read: bool = False
    is_watched: bool = False
    failed_at: float | None = None
    outage: DatabaseOutage = database_errors.AWAY
    confirmed_at: float | None = None
    read_at: float | None = None
    # Clear what other modules have cached by numbers and keys that a restore gives to others.
    on_epoch_change: list[Callable[[], None]] = field(default_factory=list)
    _past: OrderedDict[int, Snapshot] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, *, at_once: bool = True) -> Snapshot:
        """Read what has changed; unless `at_once`, a change of confidence alone waits for a moment.

        Raises `RegistryUnavailable` where the database cannot be read and nothing is cached.
        """
        with self._lock:
            try:
                self._read(at_once=at_once)
            except Exception as error:  # noqa: BLE001 (a row of which nothing can be made is an outage as well)
                self._failed(error)
        return self.snapshot

    def _read(self, *, at_once: bool) -> None:
        held = self.snapshot
        if not self.has_read or self._is_due(read_counters().list_moved(held.counters), at_once=at_once):
            self.snapshot, self.read_at = read_snapshot(held), time.monotonic()
            if self.snapshot.registry_revision < held.registry_revision or self.snapshot.epoch != held.epoch:
                # The database was restored from a backup: what numbers and keys of rows meant is gone.
                self._forget_past()
            elif self.snapshot.registry_revision > held.registry_revision:
                self._remember(replace(held, ended_at=timezone.now()))
        self.has_read, self.failed_at, self.confirmed_at = True, None, time.monotonic()

    def _is_due(self, moved: set[str], *, at_once: bool) -> bool:
        """Whether to read what has moved; confidence alone waits for a moment, unless `at_once`."""
        waits = not at_once and self.read_at is not None and time.monotonic() - self.read_at < FEEDBACK_SECONDS
        return bool(moved - {"feedback_revision"} if waits else moved)

    def _forget_past(self) -> None:
        self._past.clear()
        for clear in self.on_epoch_change:
            clear()

    def _failed(self, error: Exception) -> None:
        outage = self.outage = database_errors.record_outage(error)
        if self.failed_at is None:
            is_known = database_errors.is_database_error(error)
            words = "the last snapshot goes on serving. %s"
            logger.warning(words, outage.sentences(error), exc_info=None if is_known else error)
            self.failed_at = time.monotonic()
        if not self.has_read:
            raise RegistryUnavailable(outage.words) from error

    def _remember(self, past: Snapshot) -> None:
        # Without its responses and keys, which belong to the present.
        self._past[past.registry_revision] = Snapshot(
            *(past.registry_revision, 0, past.entries, past.retired),
            withdrawn=past.withdrawn,
            ended_at=past.ended_at,
        )
        while len(self._past) > PAST_MAX:
            self._past.popitem(last=False)

    def at(self, registry_revision: int) -> Snapshot | None:
        """The registry as it was at a past revision, without keys; None for one that has not come yet."""
        if registry_revision > self.snapshot.registry_revision:
            self.refresh()
        if registry_revision >= self.snapshot.registry_revision:
            return self.snapshot if registry_revision == self.snapshot.registry_revision else None
        found = self._past.get(registry_revision)
        if found is None:
            found = snapshot_at(registry_revision, newer=self.snapshot)
            with self._lock:
                self._remember(found)
        return found

    def age(self) -> float | None:
        """Seconds since the database confirmed that the snapshot is its newest state; None before the first time."""
        return None if self.confirmed_at is None else time.monotonic() - self.confirmed_at

    def forget(self) -> None:
        """Begin again, as in a new process."""
        with self._lock:
            self._past.clear()
            self.snapshot, self.has_read = EMPTY, False
            self.failed_at = self.confirmed_at = self.read_at = None


STORE = SnapshotStore()


@caches.register
def _reset_store() -> None:
    STORE.forget()
    STORE.is_watched = False


def current_snapshot() -> Snapshot:
    """The snapshot to serve from. Raises `RegistryUnavailable`."""
    if STORE.is_watched and STORE.has_read:
        return STORE.snapshot
    return STORE.refresh()


def refresh_if_stale() -> Snapshot:
    """The newest state, for what the snapshot does not know yet; the cached one where the database has just been read.

    A key that was created a moment ago must work in every process.
    """
    age = STORE.age()
    if STORE.failed_at is not None or age is None or age < RECHECK_SECONDS:
        return STORE.snapshot
    with CIRCUIT_BREAKER.within(REFRESH_SECONDS):
        return STORE.refresh(at_once=False)


def refresh_if_watched() -> None:
    """Read what a transaction of this process has just committed, where a watcher keeps the snapshot fresh."""
    if STORE.is_watched:
        STORE.refresh()


def require_fresh() -> None:
    """Raise `RegistryUnavailable` where the database was unreachable at the last read: what the snapshot does not know
    may have been published since, or seconds before."""
    if STORE.failed_at is not None:
        raise RegistryUnavailable(STORE.outage.words)


def is_stale() -> bool:
    """Whether the database was unreachable at the last read."""
    return STORE.failed_at is not None
