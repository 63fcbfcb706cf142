"""What has to be done every day, and the end of finished jobs."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from django.utils import timezone

from registry import jobs, usage
from registry.jobs import Lease, Write
from registry.models import Job
from registry.writing import writing

KIND: Final = "jobs.prune"
DAILY: Final = (KIND, usage.KIND)
DAYS_KEPT: Final = 30


def queue_daily(today: date) -> int:
    """A job of each daily kind, once a day however many workers ask; how many were stored."""
    keys = {kind: f"{kind}:{today.isoformat()}" for kind in DAILY}
    with writing():
        known = set(Job.objects.filter(dedupe_key__in=keys.values()).values_list("dedupe_key", flat=True))
        missing = {kind: key for kind, key in keys.items() if key not in known}
        for kind, key in missing.items():
            jobs.enqueue(kind, {}, dedupe_key=key)
    return len(missing)


def prune_jobs(lease: Lease) -> Write:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets what was done more than `DAYS_KEPT` days ago. What was parked waits for a person."""
    before = timezone.now() - timedelta(days=DAYS_KEPT)
    return Job.objects.filter(state="done", finished_at__lt=before).delete
