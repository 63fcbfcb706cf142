"""The tables: sets, and what each was at each of its revisions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice


class CapabilitySet(models.Model):
    """A named list of capabilities as it is now; `document` is as docs/contract.md 6.1 has it, without `set_id`."""

    set_id = models.CharField(max_length=64, unique=True)
    revision = models.PositiveIntegerField()
    document = models.JSONField()
    visibility = models.CharField(max_length=16, default="listed")
    team = models.ForeignKey(
        "registry.Team", null=True, on_delete=models.SET_NULL, related_name="+", help_text="Null: of all publishers."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["set_id"]
        constraints: ClassVar = [
            check_choice("visibility", ["listed", "unlisted"], name="set_visibility_known"),
            models.CheckConstraint(condition=~Q(set_id=""), name="set_id_not_empty"),
        ]

    def __str__(self) -> str:
        return self.set_id


class SetRevision(models.Model):
    """What a set was from one of its revisions on. Never changed."""

    of_set = models.ForeignKey(CapabilitySet, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    document = models.JSONField()
    changes = models.JSONField(help_text="What is other than before, as the audit row has it.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["of_set", "number"], name="set_revision_once")]
