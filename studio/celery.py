"""Celery's application, for `celery -A studio worker`. No other process imports this module."""

from __future__ import annotations

import os
import sys

from celery import Celery
from celery.signals import worker_process_init
from kombu.entity import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

from django.conf import settings

from registry.core.jobs.celery_dispatch import list_queues
from studio.config.environment import ConfigurationError

try:
    if not settings.REDIS_URL:
        sys.exit("REDIS_URL is not set: expected Celery's broker, for example redis://127.0.0.1:6379/0")
except ConfigurationError as error:
    print(error, file=sys.stderr)
    sys.exit(2)

app = Celery("studio")
app.config_from_object("django.conf:settings", namespace="CELERY")
# A worker without -Q takes from all of them.
app.conf.task_queues = [Queue(queue.name) for queue in list_queues()]  # type: ignore[no-untyped-call]
app.autodiscover_tasks(["registry"])


@worker_process_init.connect  # type: ignore[untyped-decorator] # Celery carries no types
def _watch(**_: object) -> None:
    """In each process that does jobs, since the threads that send traces and metrics do not survive a fork."""
    if settings.IS_TRACED:
        from registry.common import tracing_sdk

        tracing_sdk.start("celery")
    if settings.IS_METERED:
        from registry.common import metrics_sdk
        from registry.operations.worker_metrics import WORKER_REGISTRY

        metrics_sdk.start("celery", WORKER_REGISTRY)
