"""The daemon thread that keeps a process's snapshot fresh and flushes the counts in memory.

PostgreSQL notifies by LISTEN when something was published; on both databases the counters are polled once a second. On
SQLite `PRAGMA data_version`, which costs microseconds, is read ten times a second: it moves with every commit of
another connection. One change is read at once; of many in a row, what came within a fifth of a second together.
"""

from __future__ import annotations

import atexit
import gc
import logging
import threading
import time
from multiprocessing.util import Finalize
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, connection, connections

from capability_rules.errors import RegistryUnavailable
from registry.access import sign_ins
from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER
from registry.core import chosen_settings
from registry.core.transactions import CHANNEL, COMMITTED
from registry.snapshot.store import STORE
from registry.usage import usage_counters

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
SQLITE_POLL_SECONDS: Final = 0.1
# While a thousand bundles are published, reading each of them alone would take as long as publishing them.
APART_SECONDS: Final = 0.2
FLUSH_SECONDS: Final = 3.0
# Where a revision was loaded for the first time: the Studio shows it to the person who has just published it.
FIRST_LOAD_SECONDS: Final = 1.0
# A server that says nothing for so long hangs, or is gone.
POLL_ERROR_SECONDS: Final = 5.0
# Below this a collection takes too little to speak of.
_SETTLED_FROM: Final = 500
_started = threading.Lock()


def start_watcher() -> None:
    """Start the thread of this process; a second call does nothing. Call it after the server has forked."""
    if STORE.is_watched or not _started.acquire(blocking=False):
        return
    # Here and not for every process: a command that publishes reads no snapshot, and does not load what makes one.
    COMMITTED.register("registry.snapshot.store.refresh_if_watched")
    threading.Thread(target=_run, name="registry-watch", daemon=True).start()
    atexit.register(_flush_counts)
    # A process that multiprocessing has forked, as granian's are, ends without atexit.
    Finalize(None, _flush_counts, exitpriority=0)
    STORE.is_watched = True
    chosen_settings.expect_watcher()


def _flush_counts() -> None:
    """Write what is only in memory, before the process ends."""
    usage_counters.flush()
    sign_ins.flush(everything=True)


def _run() -> None:
    with CIRCUIT_BREAKER.within(POLL_ERROR_SECONDS, is_probe=True):
        _keep_fresh()


def _keep_fresh() -> None:
    last_tally = time.monotonic()
    while True:
        began = time.monotonic()
        try:
            _wait()
            _refresh()
            freeze_heap()
            wait = FIRST_LOAD_SECONDS if usage_counters.has_first_load() else FLUSH_SECONDS
            if time.monotonic() - last_tally > wait:
                last_tally = time.monotonic()
                usage_counters.flush()
                sign_ins.flush()
            # Counted from the beginning: a first change after a quiet time is read when it comes, the next one later.
            time.sleep(max(0.0, APART_SECONDS - (time.monotonic() - began)))
        except Exception:
            logger.debug("the watch could not reach the database", exc_info=True)
            _reconnect_later()


_settled_at: list[int] = []


def freeze_heap() -> bool:
    """Take what has been read out of the collector's way, at the start and when the registry has doubled since.

    A full collection visits every object while no request is served: 320 ms at 10,000 capabilities, every
    thousand or two misses. What is replaced is still freed, by the last who lets go of it.
    """
    held = len(STORE.snapshot.entries)
    if not STORE.has_read or (_settled_at and held <= 2 * _settled_at[-1] + _SETTLED_FROM):
        return False
    gc.collect()
    gc.freeze()
    _settled_at[:] = [held]
    return True


def _wait() -> None:
    """Return when something may have moved, after a second at the latest."""
    if connection.vendor == "postgresql":
        _listen()
    else:
        _watch_data_version()


_known_data_version: list[Any] = [None]


def _watch_data_version() -> None:
    deadline = time.monotonic() + POLL_SECONDS
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA data_version")
            version = cursor.fetchone()
        if version != _known_data_version[0]:
            _known_data_version[0] = version
            return
        time.sleep(SQLITE_POLL_SECONDS)


# The connection that listens: a new one after an outage must LISTEN again.
_listening: list[Any] = [None]


def _listen() -> None:
    connection.ensure_connection()
    if _listening[0] is not connection.connection:
        with connection.cursor() as cursor:
            cursor.execute(f'LISTEN "{CHANNEL}"')
        _listening[0] = connection.connection
    for _ in connection.connection.notifies(timeout=POLL_SECONDS, stop_after=1):
        return


def _refresh() -> None:
    """Poll the registry. Where not even a new connection works, no other thread has to try meanwhile."""
    began = time.monotonic()
    is_fresh = _look()
    if not is_fresh and time.monotonic() - began < POLL_SECONDS:
        # The connection was cut, as by a restart or a failover: that alone is not an outage. Finding out may take
        # seconds, in which no request waits that memory can serve; a process with an empty cache may as well try.
        CIRCUIT_BREAKER.is_away = STORE.has_read and _is_cut()
        connection.close()
        is_fresh = _can_connect() and _look()
    CIRCUIT_BREAKER.is_away = not is_fresh and _is_cut()


def _can_connect() -> bool:
    """Not while the snapshot is locked: others would wait with us."""
    try:
        connection.ensure_connection()
    except (DatabaseError, InterfaceError):
        return False
    return True


def _is_cut() -> bool:
    return connection.connection is None or bool(getattr(connection.connection, "closed", False))


def _look() -> bool:
    try:
        STORE.refresh(at_once=False)
    except RegistryUnavailable:
        return False
    return STORE.failed_at is None


def _reconnect_later() -> None:
    try:
        _refresh()
    except Exception:
        logger.debug("still away", exc_info=True)
    try:
        connections["default"].close()
    except (DatabaseError, InterfaceError):
        logger.debug("closing failed", exc_info=True)
    time.sleep(POLL_SECONDS)
