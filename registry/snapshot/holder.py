"""Who holds the snapshot of this process, and how it is kept fresh."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

from django.db import DatabaseError, InterfaceError

from registry.errors import RegistryUnavailable
from registry.snapshot.content import EMPTY, Snapshot, counters, read_snapshot

logger = logging.getLogger(__name__)


@dataclass
class Holder:
    """One a process. Readers take `snapshot` without a lock: it is replaced whole by one assignment."""

    snapshot: Snapshot = EMPTY
    has_read: bool = False
    is_watched: bool = False
    failed_at: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self) -> Snapshot:
        """Read what has moved. Raises `RegistryUnavailable` where the database is away and nothing is held."""
        with self._lock:
            try:
                self._read()
            except (DatabaseError, InterfaceError) as error:
                self._failed(error)
        return self.snapshot

    def _read(self) -> None:
        held = self.snapshot
        if not self.has_read or counters() != (held.registry_revision, held.access_revision):
            self.snapshot = read_snapshot(held)
        self.has_read, self.failed_at = True, None

    def _failed(self, error: Exception) -> None:
        if self.failed_at is None:
            logger.warning("the database is away, the last snapshot goes on serving: %s", error)
            self.failed_at = time.monotonic()
        if not self.has_read:
            raise RegistryUnavailable(
                "The registry's database cannot be reached; try again in a few seconds"
            ) from error

    def forget(self) -> None:
        """Begin again, as in a new process."""
        with self._lock:
            self.snapshot, self.has_read, self.failed_at = EMPTY, False, None


HOLDER = Holder()


def current() -> Snapshot:
    """The snapshot to answer from. Raises `RegistryUnavailable`."""
    if HOLDER.is_watched and HOLDER.has_read:
        return HOLDER.snapshot
    return HOLDER.refresh()


def is_stale() -> bool:
    """Whether the database was away when it was last asked."""
    return HOLDER.failed_at is not None
