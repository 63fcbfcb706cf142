"""Notifies Celery of a job, where there is a Redis. A message that is lost costs delay: a sweep finds the row."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from django.conf import settings

from registry.feature import installed_features

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger(__name__)

TASK: Final = "registry.run_job"


@dataclass(frozen=True, slots=True)
class CeleryQueue:
    """A queue of Celery, and how long a job of it may take.

    After `soft_seconds` the job fails as by any error, and is tried again; after `hard_seconds` its process is killed,
    and another worker takes the job when its lease ends. The sweep of `manage.py worker` sets no limit.
    """

    name: str
    soft_seconds: int
    hard_seconds: int


# Everything else; its name is that of the only queue before there were others, so that no message is left behind.
DEFAULT_QUEUE: Final = CeleryQueue("studio", 300, 330)
MAIL: Final = CeleryQueue("studio.mail", 60, 90)
MATCHING: Final = CeleryQueue("studio.matching", 600, 660)
IMPORTS: Final = CeleryQueue("studio.imports", 900, 960)
_QUEUE_OF_KIND: Final = {
    "mail.send": MAIL,
    "matching.learn": MATCHING,
    "import.git": IMPORTS,
}
# An unreachable Redis is not tried again for every single job: a publish would wait for each.
PAUSE_SECONDS: Final = 10.0
_silent_until = 0.0


def queue_of_kind(kind: str) -> CeleryQueue:
    """The queue that jobs of a kind are sent to."""
    return _QUEUE_OF_KIND.get(kind) or _queues_of_features().get(kind, DEFAULT_QUEUE)


def list_queues() -> list[CeleryQueue]:
    """All of them, each once."""
    return list(dict.fromkeys((DEFAULT_QUEUE, *_QUEUE_OF_KIND.values(), *_queues_of_features().values())))


@cache
def _queues_of_features() -> dict[str, CeleryQueue]:
    return {kind: queue for one in installed_features() for kind, queue in one.job_queues.items()}


def dispatch_job(job_id: int, kind: str) -> None:
    """Send the id to the queue of its kind, after the commit. Does nothing without `REDIS_URL`; never raises for an
    unreachable broker."""
    global _silent_until
    if not settings.REDIS_URL or time.monotonic() < _silent_until:
        return
    queue = queue_of_kind(kind)
    limits = {"soft_time_limit": queue.soft_seconds, "time_limit": queue.hard_seconds}
    try:
        _sender().send_task(TASK, [job_id], queue=queue.name, ignore_result=True, retry=False, **limits)
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
