"""What every write needs: jobs, kept responses and signed checkpoints. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_set_where
from registry.models.fields import optional_text


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
    dedupe_key = optional_text(200, help_text="At most one open job per key; empty: no limit.")
    concurrency_key = optional_text(
        64, db_default="", help_text="Jobs with the same key run one after another; empty: no limit."
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
            check_choice("state", ["queued", "running", "done", "parked", "cancelled"], name="job_state_known"),
            check_set_where("lease_expires_at", name="job_lease_fits_state", state="running"),
            check_set_where("finished_at", name="job_end_fits_state", state__in=["done", "parked", "cancelled"]),
            models.CheckConstraint(condition=~Q(kind=""), name="job_kind_not_empty"),
            models.UniqueConstraint(
                fields=["dedupe_key"],
                condition=Q(state__in=["queued", "running"]) & ~Q(dedupe_key=""),
                name="job_open_once",
            ),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} ({self.kind})"


class IdempotencyRecord(models.Model):
    """The response to a write, by the caller's idempotency key: a repeated call gets it, and is not done again."""

    caller = models.CharField(max_length=200, help_text="The actor, such as agent_key:name.")
    idempotency_key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 over the request.")
    response = models.TextField(help_text="The response as the endpoint wrote it.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["at"], name="idempotency_record_of_day")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["caller", "idempotency_key"], name="idempotency_record_once"),
            models.CheckConstraint(condition=~Q(idempotency_key=""), name="idempotency_record_key_not_empty"),
        ]


class Checkpoint(models.Model):
    """A signed statement on audit log and releases, append-only; each names the hash of the one before."""

    number = models.BigIntegerField(primary_key=True, help_text="1, 2, 3 ... without a gap.")
    registry_revision = models.BigIntegerField()
    hash = models.CharField(max_length=64, unique=True, help_text="Hex SHA-256 of the signed payload.")
    envelope = models.TextField(help_text="DSSE envelope as JSON.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(number__gte=1), name="checkpoint_number_positive"),
        ]
