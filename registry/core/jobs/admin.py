"""Jobs for a person to look at: what is parked, and what becomes of it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.core import audit
from registry.core.jobs import celery_dispatch
from registry.core.jobs.queue import notify_observers
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Job

STATES: Final = tuple(Job.State.values)


def list_jobs(*, state: str = "", limit: int = 100) -> list[Job]:
    """The newest first, of one state or of all."""
    found = Job.objects.filter(state=state) if state else Job.objects.all()
    return list(found.order_by("-id")[:limit])


def get_job(job_id: int) -> Job:
    """The job with this number. Raises `NotFound`."""
    missing = NotFound(f"There is no job {job_id}; those that ended are forgotten after 30 days")
    return get_row(Job.objects.filter(pk=job_id), missing)


def retry_job(*, job_id: int, by: Actor) -> Job:
    """Put a parked job back into the queue, with all its tries. Raises `NotFound`, or `StatusConflict` for another one.

    Where an open job with the same `dedupe_key` has taken its place, that one is enough: `StatusConflict` too.
    """
    with write_transaction():
        job = get_job(job_id)
        if job.state != "parked":
            raise StatusConflict(f"Job {job_id} is {job.state}: only a parked job is put back")
        if job.dedupe_key and Job.objects.filter(dedupe_key=job.dedupe_key, state__in=["queued", "running"]).exists():
            raise StatusConflict(f"Job {job_id} is not needed: another one for the same work is open. Cancel it")
        requeue_jobs(job)
        audit.record(by=by, verb="job.retry", subject=f"job {job_id}", detail={"kind": job.kind})
    return job


def requeue_jobs(job: Job) -> None:
    """Under the lock of the registry: due at once, as if it had never been tried. Its last error stays to be read."""
    update_row(job, state=Job.State.QUEUED, finished_at=None, attempts=0, run_after=timezone.now())
    notify_observers(job.pk, job.kind, job.payload, "queued")
    transaction.on_commit(lambda: celery_dispatch.dispatch_job(job.pk, job.kind), robust=True)


def cancel_job(*, job_id: int, by: Actor) -> Job:
    """Give a queued or parked job up. Raises `NotFound`, or `StatusConflict` for one that runs or has ended."""
    with write_transaction():
        job = Job.objects.select_for_update().filter(pk=job_id).first() or get_job(job_id)
        if job.state not in ("queued", "parked"):
            raise StatusConflict(f"Job {job_id} is {job.state}: only what is queued or parked is cancelled")
        update_row(job, state=Job.State.CANCELLED, finished_at=timezone.now())
        notify_observers(job.pk, job.kind, job.payload, "cancelled")
        audit.record(by=by, verb="job.cancel", subject=f"job {job_id}", detail={"kind": job.kind})
    return job


def oldest_due_job(now: datetime) -> datetime | None:
    """When the longest overdue job became due, or an abandoned lease ended; None where none is due."""
    queued = Job.objects.filter(state="queued", run_after__lte=now).aggregate(first=Min("run_after"))["first"]
    left = Job.objects.filter(state="running", lease_expires_at__lte=now).aggregate(first=Min("lease_expires_at"))[
        "first"
    ]
    return min((at for at in (queued, left) if at is not None), default=None)
