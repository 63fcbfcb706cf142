"""Feedback of agents, and the confidence that results from it. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class FeedbackEvent(models.Model):
    """How one use of a capability ended, as an agent reports it. Append-only, so that confidence can be recomputed."""

    class Kind(models.TextChoices):
        CONFIRMED_SUCCESS = "confirmed_success"
        LIKELY_SUCCESS = "likely_success"
        LIKELY_FAILURE = "likely_failure"
        CONFIRMED_FAILURE = "confirmed_failure"
        USED = "used"

    event_id = models.UUIDField(unique=True, default=uuid4)
    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="outcomes")
    revision = models.PositiveIntegerField(help_text="The number of the revision that was used.")
    outcome = models.CharField(max_length=24, choices=Kind.choices)
    key_name = models.CharField(max_length=80)
    step = models.SmallIntegerField(
        null=True,
        blank=True,
        help_text="By how many hundredths it moves the confidence; empty: by the whole step of its outcome.",
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["capability", "id"], name="feedback_event_of_capability"),
            # What one key has reported today.
            models.Index(fields=["capability", "key_name", "at"], name="feedback_event_of_key"),
            # How each revision fares is counted from the index alone.
            models.Index(fields=["capability", "revision", "outcome"], name="feedback_event_of_revision"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(
                    outcome__in=["confirmed_success", "likely_success", "likely_failure", "confirmed_failure", "used"]
                ),
                name="feedback_event_outcome_known",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="feedback_event_revision_positive"),
        ]


class Confidence(models.Model):
    """The confidence after the outcomes so far: of a capability (revision 0), and of each of its revisions alone."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="confidences")
    revision = models.PositiveIntegerField(default=0, help_text="The number of a revision; 0 for all of them.")
    percent = models.PositiveSmallIntegerField(default=50, help_text="The confidence score in percent, 0 to 100.")
    uses = models.PositiveBigIntegerField(default=0)
    confirmed = models.PositiveBigIntegerField(default=0)

    class Meta:
        app_label = "registry"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "revision"], name="confidence_once"),
            models.CheckConstraint(condition=Q(percent__lte=100), name="confidence_within_bounds"),
            models.CheckConstraint(condition=Q(confirmed__lte=F("uses")), name="confidence_confirmed_are_uses"),
        ]
