"""One fetch of bundles from a repository, and what became of it. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from registry.models.constraints import check_choice, check_set_where
from registry.models.fields import optional_text


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
    as_id = optional_text(64, db_default="", help_text="The capability_id of its one Agent Skill, or empty.")
    credential = optional_text(70, db_default="", help_text="The name of what it signs in with, or empty.")
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
            check_choice(
                "state", ["waiting", "fetching", "checking", "stored", "refused"], name="git_import_state_known"
            ),
            check_set_where("finished_at", name="git_import_end_fits_state", state__in=["stored", "refused"]),
        ]
