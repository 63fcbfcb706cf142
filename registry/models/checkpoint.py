"""How far the history has come, signed. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


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
