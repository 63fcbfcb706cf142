"""The embedded worker: runs due jobs, one after another, until it is stopped.

Beside Celery the same loop is the sweep: it leaves each job to the messages for a while and does what they lost.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from registry.catalog import revalidation
from registry.common import database_errors
from registry.common.database_errors import DatabaseOutage
from registry.core.jobs import queue as jobs
from registry.core.transactions import write_transaction
from registry.matching import training_job
from registry.operations import housekeeping
from registry.operations.job_lanes import serve_lanes

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
# Between two polls of which the first failed for an unexpected reason.
ERROR_PAUSE_SECONDS: Final = 10.0


@dataclass
class Worker:
    """Works in the caller's thread; `stop` may be set from anywhere, and takes effect between two jobs.

    `alive_file` is touched each time the worker has polled for work and reached the database; its age is for a probe.
    """

    stop: threading.Event = field(default_factory=threading.Event)
    alive_file: Path | None = None
    _scheduled: date | None = None
    _outage: DatabaseOutage | None = None

    def run(self) -> None:
        """Work until `stop`. Waits for an unreachable database."""
        with serve_lanes(self.stop, _patience):
            while not self.stop.is_set():
                if not self._try():
                    self.stop.wait(POLL_SECONDS)

    def run_due(self) -> int:
        """Work until nothing is due; returns the number of jobs. Raises django.db.Error where the database fails."""
        begun = 0
        while not self.stop.is_set() and self._step():
            begun += 1
        return begun

    def _try(self) -> bool:
        try:
            has_worked = self._step(with_concurrency_key=False)
        except (DatabaseError, InterfaceError) as error:
            outage = database_errors.record_outage(error)
            if self._outage != outage:
                logger.warning("the worker waits. %s", outage.sentences(error))
            self._outage = outage
            connection.close()
            return False
        except Exception:
            # Ended, it would meet the same at its next start.
            logger.exception("the look for work failed, and is made again in %g s", ERROR_PAUSE_SECONDS)
            self.stop.wait(ERROR_PAUSE_SECONDS)
            return False
        self._outage = None
        if self.alive_file is not None:
            self.alive_file.touch()
        return has_worked

    def _step(self, *, with_concurrency_key: bool | None = None) -> bool:
        """One job; whether there was one."""
        self._keep_schedule(datetime.now(UTC).date())
        return jobs.run_next_job(overdue_by=_patience(), with_concurrency_key=with_concurrency_key) is not None

    def _keep_schedule(self, today: date) -> None:
        """At the start and with each new day (UTC)."""
        if self._scheduled == today:
            return
        daily = (revalidation.queue_outdated, revalidation.queue_failing, lambda: housekeeping.queue_daily(today))
        for queue in (*daily, _queue_learning):
            try:
                queue()
            except (DatabaseError, InterfaceError):
                raise
            except Exception:
                logger.exception("some of the day's jobs could not be queued; the others are done")
        self._scheduled = today


def _queue_learning() -> None:
    """Another embedder, a restored registry: nothing that was learned may fit any more."""
    with write_transaction():
        training_job.queue_training()


def _patience() -> timedelta:
    return timedelta(seconds=settings.JOB_SWEEP_AFTER_SECONDS if settings.REDIS_URL else 0)
