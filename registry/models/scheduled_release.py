"""Releases that wait for their time. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class ScheduledRelease(models.Model):
    """A draft that will be published at a time, as it was when it was scheduled
    (registry/publishing/scheduled_releases.py)."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="scheduled_releases")
    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    draft_version = models.PositiveIntegerField()
    files_digest = models.CharField(max_length=71, help_text="SHA-256 over the files: exactly these are published.")
    due_at = models.DateTimeField()
    note = models.TextField(blank=True, default="")
    acknowledged = models.JSONField(default=list, help_text="The codes of findings that were acknowledged.")
    scheduled_at = models.DateTimeField(default=timezone.now)
    scheduled_by = models.CharField(max_length=200, help_text="The actor in whose name it is published.")
    ended_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, default="", help_text="Why it was not published.")
    revision = models.PositiveIntegerField(null=True, help_text="The number that it was published as.")

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["due_at", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "done", "failed", "cancelled"]), name="scheduled_release_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", ended_at__isnull=True) | (~Q(state="waiting") & Q(ended_at__isnull=False)),
                name="scheduled_release_end_fits_state",
            ),
            models.UniqueConstraint(
                fields=["capability"], condition=Q(state="waiting"), name="scheduled_release_one_waiting"
            ),
        ]

    def __str__(self) -> str:
        return f"release of {self.capability.capability_id} at {self.due_at:%Y-%m-%d %H:%M}"
