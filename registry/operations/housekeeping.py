"""What has to be done every day, and the end of finished jobs."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from django.utils import timezone

from registry.access import second_factors, sessions
from registry.core import checkpoints, file_contents, idempotency
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.transactions import write_transaction
from registry.feature import installed_features
from registry.importing import git_import_jobs
from registry.models import Job
from registry.usage import demand, outcome_reports, rollup

KIND: Final = "jobs.prune"
SESSIONS_KIND: Final = "session.prune"
DAILY_JOBS: Final = (
    KIND, SESSIONS_KIND, idempotency.KIND, rollup.KIND, demand.KIND, git_import_jobs.PRUNE_KIND,
    file_contents.KIND, checkpoints.KIND, second_factors.KIND, outcome_reports.KIND,
    *(kind for feature in installed_features() for kind in feature.daily_jobs),
)  # fmt: skip
RETENTION_DAYS: Final = 30


def queue_daily(today: date) -> int:
    """A job of each daily kind, once a day however many workers call this; returns how many were stored."""
    keys = {kind: f"{kind}:{today.isoformat()}" for kind in DAILY_JOBS}
    with write_transaction():
        known = set(Job.objects.filter(dedupe_key__in=keys.values()).values_list("dedupe_key", flat=True))
        missing = {kind: key for kind, key in keys.items() if key not in known}
        for kind, key in missing.items():
            queue.enqueue(kind, {}, dedupe_key=key)
    return len(missing)


def prune_jobs(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets what ended more than `RETENTION_DAYS` days ago. What was parked waits for a person."""
    return Job.objects.filter(state__in=["done", "cancelled"], finished_at__lt=oldest_kept()).delete


def prune_sessions(lease: Lease) -> CommitAction:  # noqa: ARG001 (as above)
    """The handler: forgets sessions that are past their end."""
    return sessions.prune_sessions


def oldest_kept() -> datetime:
    """What ended before is forgotten."""
    return timezone.now() - timedelta(days=RETENTION_DAYS)
