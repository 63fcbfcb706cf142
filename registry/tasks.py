"""Celery entry points, one call each. Imported by Celery's worker alone."""

from __future__ import annotations

from celery import shared_task

from registry.core.jobs import queue
from registry.core.jobs.celery_dispatch import TASK


@shared_task(name=TASK)  # type: ignore[untyped-decorator] # Celery carries no types
def run_job(job_id: int) -> None:
    """Do a job; does nothing where another worker has it or has done it."""
    queue.run_dispatched_job(job_id)
