"""What agents asked for in vain: ids, and messages where the registry keeps them (registry/usage/demand.py)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

_PAIRED = Q(dismissed_at__isnull=True, dismissed_by="") | (Q(dismissed_at__isnull=False) & ~Q(dismissed_by=""))


class RequestCounts(models.Model):
    """How often, when and by whom; `dismissed_count` is the count when an operator dismissed it."""

    count = models.PositiveBigIntegerField(default=0)
    requested_by = models.JSONField(null=True, help_text="{key name: number of requests}, at most 20 keys.")
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.CharField(max_length=200, blank=True, default="", db_default="")
    dismissed_count = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True


class UnknownCapabilityRequest(RequestCounts):
    """An id that agents asked for and that is not published."""

    capability_id = models.CharField(max_length=64, primary_key=True)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=_PAIRED, name="unknown_request_dismissal_paired")]


class UnmatchedMessage(RequestCounts):
    """A message that led to no one capability, cut and scrubbed; one row for all of the same specific words."""

    class Decision(models.TextChoices):
        NONE = "none"
        AMBIGUOUS = "ambiguous"

    form = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the stems of its content words.")
    text = models.CharField(max_length=200)
    decision = models.CharField(max_length=16, choices=Decision.choices)
    nearest = models.CharField(max_length=64, blank=True, default="", help_text="The best near miss, or empty.")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["last_seen_at"], name="unmatched_last_seen")]
        constraints: ClassVar = [
            models.CheckConstraint(condition=_PAIRED, name="unmatched_dismissal_paired"),
            models.CheckConstraint(condition=Q(decision__in=["none", "ambiguous"]), name="unmatched_decision_known"),
            models.CheckConstraint(condition=~Q(text=""), name="unmatched_text_not_empty"),
        ]
