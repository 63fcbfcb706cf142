"""Jobs that wait for other systems, such as a receiver of webhooks: run beside the others, each lane at its own pace.

One thread looks for them, and threads of a small pool do them. A lane has one job at work at a time, so that a receiver
that hangs takes one thread and delays no other.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from registry.core.jobs import queue
from registry.core.jobs.queue import Lease

logger = logging.getLogger(__name__)

CONCURRENT_LANES_MAX: Final = 8
POLL_SECONDS: Final = 1.0
IdleWait = Callable[[], timedelta]


@contextmanager
def serve_lanes(stop: threading.Event, patience: IdleWait) -> Iterator[None]:
    """Do the jobs of all lanes in the background until `stop`, which is set at the end; those at work may end."""
    ended = threading.Event()
    thread = threading.Thread(target=_serve, args=[stop, ended, patience], name="lanes")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        ended.set()
        thread.join()


def _serve(stop: threading.Event, ended: threading.Event, patience: IdleWait) -> None:
    """`ended` is set by the end of each job: the next one of its lane may begin."""
    free = threading.Semaphore(CONCURRENT_LANES_MAX)
    with ThreadPoolExecutor(CONCURRENT_LANES_MAX, thread_name_prefix="lane") as pool:
        while not stop.is_set():
            if not free.acquire(timeout=POLL_SECONDS):
                continue
            # Cleared before the look: what ends meanwhile is looked at again.
            ended.clear()
            lease = _claim(patience())
            if lease is None:
                free.release()
                ended.wait(POLL_SECONDS)
            else:
                pool.submit(_do, lease, free, ended)
    connection.close()


def _claim(overdue_by: timedelta) -> Lease | None:
    try:
        return queue.claim_job(timezone.now(), overdue_by=overdue_by, with_concurrency_key=True)
    except (DatabaseError, InterfaceError):
        # The worker's own loop says so.
        connection.close()
    except Exception:
        # Without this thread no lane would be served any more.
        logger.exception("the look for jobs in lanes failed, and is made again")
    return None


def _do(lease: Lease, free: threading.Semaphore, ended: threading.Event) -> None:
    try:
        queue.execute_job(lease)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("job %s %s is left until its lease ends: %s", lease.job_id, lease.kind, error)
    finally:
        # Threads come and go; a connection is not kept for each.
        connection.close()
        free.release()
        ended.set()
