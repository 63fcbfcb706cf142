"""Jobs that writes leave behind. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class Job(models.Model):
    """Work that a write left behind, stored in the writer's own transaction (registry/core/jobs/queue.py).

    The worker that runs it has a lease. `fencing_token` goes up with each lease, so that a worker that lost it cannot
    finish the job.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        PARKED = "parked"
        CANCELLED = "cancelled"

    kind = models.CharField(max_length=64)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    dedupe_key = models.CharField(
        max_length=200, blank=True, default="", help_text="At most one open job per key; empty: no limit."
    )
    concurrency_key = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Jobs with the same key run one after another; empty: no limit.",
    )
    run_after = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=5, db_default=5)
    lease_expires_at = models.DateTimeField(null=True)
    fencing_token = models.PositiveIntegerField(default=0, help_text="The number of the newest lease.")
    last_error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            # What a poll reads once a second, however many finished jobs there are.
            models.Index(fields=["state", "run_after"], name="job_due"),
            models.Index(fields=["dedupe_key"], name="job_of_dedupe_key"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "parked", "cancelled"]), name="job_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state="running", lease_expires_at__isnull=False)
                | (~Q(state="running") & Q(lease_expires_at__isnull=True)),
                name="job_lease_fits_state",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["done", "parked", "cancelled"], finished_at__isnull=False)
                | (~Q(state__in=["done", "parked", "cancelled"]) & Q(finished_at__isnull=True)),
                name="job_end_fits_state",
            ),
            models.CheckConstraint(condition=~Q(kind=""), name="job_kind_not_empty"),
            models.UniqueConstraint(
                fields=["dedupe_key"],
                condition=Q(state__in=["queued", "running"]) & ~Q(dedupe_key=""),
                name="job_open_once",
            ),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} ({self.kind})"
