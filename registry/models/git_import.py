"""Imports that a job does, so that the operator sees its progress (registry/sources/git_import_jobs.py)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class GitImport(models.Model):
    """One fetch of a git address. `results` are lines as `importing.Imported.as_dict` writes them."""

    class State(models.TextChoices):
        WAITING = "waiting"
        FETCHING = "fetching"
        CHECKING = "checking"
        STORED = "stored"
        REFUSED = "refused"

    source = models.CharField(max_length=500)
    replace_existing = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    found = models.PositiveIntegerField(default=0)
    results = models.JSONField(default=list)
    reason = models.TextField(blank=True, default="", help_text="Why nothing could be read; empty otherwise.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "fetching", "checking", "stored", "refused"]),
                name="git_import_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["stored", "refused"], finished_at__isnull=False)
                | (~Q(state__in=["stored", "refused"]) & Q(finished_at__isnull=True)),
                name="git_import_end_fits_state",
            ),
        ]
