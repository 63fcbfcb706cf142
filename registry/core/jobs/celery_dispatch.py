"""Notifies Celery of a job, where there is a Redis. A message that is lost costs delay: a sweep finds the row."""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from django.conf import settings

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger(__name__)

TASK: Final = "registry.run_job"
# An unreachable Redis is not tried again for every single job: a publish would wait for each.
PAUSE_SECONDS: Final = 10.0
_silent_until = 0.0


def dispatch_job(job_id: int) -> None:
    """Send the id after the commit. Does nothing without `REDIS_URL`; never raises for an unreachable broker."""
    global _silent_until
    if not settings.REDIS_URL or time.monotonic() < _silent_until:
        return
    try:
        _sender().send_task(TASK, [job_id], ignore_result=True, retry=False)
    except Exception as error:  # noqa: BLE001 (whatever a broker raises: the job is stored, and the sweep does it)
        _silent_until = time.monotonic() + PAUSE_SECONDS
        logger.warning("Redis was not told of job %s, which is done later for that: %s", job_id, error)


@lru_cache(maxsize=1)
def _sender() -> Celery:
    # Imported with the first job: a web process that only serves reads never needs it.
    from celery import Celery

    app = Celery("studio", set_as_current=False, changes=None)
    app.config_from_object("django.conf:settings", namespace="CELERY")
    # A user waits for the response meanwhile.
    app.conf.broker_transport_options = {
        **settings.CELERY_BROKER_TRANSPORT_OPTIONS,
        "socket_connect_timeout": 1,
        "socket_timeout": 1,
        "max_retries": 0,
    }
    return app
