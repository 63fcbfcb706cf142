"""What agents loaded, reported and asked for in vain. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_paired
from registry.models.fields import optional_text


class LoadCount(models.Model):
    """How often a capability was loaded on a day (UTC), by revision and key.

    Counted in memory, added every few seconds. What is older than 90 days is kept by month: one row, on the first of
    it (registry/usage/rollup.py).
    """

    day = models.DateField()
    capability_id = models.CharField(max_length=64)
    revision = models.PositiveIntegerField()
    key_name = optional_text(80)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["day", "capability_id", "revision", "key_name"], name="load_count_unique")
        ]


class MatchCount(models.Model):
    """How many messages of agents were decided how on a day (UTC): three rows a day at most, kept for good.

    Counted in memory, added every few seconds. The messages themselves are not kept here.
    """

    day = models.DateField()
    decision = models.CharField(max_length=16, help_text="match, ambiguous or none.")
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["day", "decision"], name="match_count_unique")]


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
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["capability", "id"], name="feedback_event_of_capability"),
            # What one key has reported today.
            models.Index(fields=["capability", "key_name", "at"], name="feedback_event_of_key"),
            # How each revision fares is counted from the index alone.
            models.Index(fields=["capability", "revision", "outcome"], name="feedback_event_of_revision"),
        ]
        constraints: ClassVar = [
            check_choice(
                "outcome",
                ["confirmed_success", "likely_success", "likely_failure", "confirmed_failure", "used"],
                name="feedback_event_outcome_known",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="feedback_event_revision_positive"),
        ]


class OutcomeReport(models.Model):
    """Why a use ended as it did, in the words of a host; deleted after 30 days, and in no backup."""

    event = models.OneToOneField(FeedbackEvent, primary_key=True, on_delete=models.CASCADE, related_name="report")
    reason = optional_text(500, help_text="A sentence, scrubbed.")
    tool = optional_text(64, help_text="Of the call that failed.")
    code = optional_text(64, help_text="The code of its error.")
    missing = optional_text(64, help_text="The argument that was left out.")
    member = models.CharField(
        max_length=150,
        blank=True,
        default="",
        db_default="",
        help_text="Whose assistant said it, with whom it is erased; empty: a key.",
    )
    conversation = models.JSONField(null=True, help_text="Messages as docs/contract.md 4 has them, scrubbed.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["at"], name="outcome_report_at")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~Q(reason="") | ~Q(code="") | Q(conversation__isnull=False), name="outcome_report_not_empty"
            ),
        ]


class Confidence(models.Model):
    """The confidence after the outcomes so far: of a capability (revision 0), and of each of its revisions alone."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="confidences")
    revision = models.PositiveIntegerField(default=0, help_text="The number of a revision; 0 for all of them.")
    percent = models.PositiveSmallIntegerField(default=50, help_text="The confidence score in percent, 0 to 100.")
    uses = models.PositiveBigIntegerField(default=0)
    confirmed = models.PositiveBigIntegerField(default=0)
    # A page and each report would have to count all outcomes otherwise.
    good = models.PositiveBigIntegerField(default=0, db_default=0, help_text="Successes, confirmed or likely.")
    bad = models.PositiveBigIntegerField(default=0, db_default=0, help_text="Failures, confirmed or likely.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "revision"], name="confidence_once"),
            models.CheckConstraint(condition=Q(percent__lte=100), name="confidence_within_bounds"),
            models.CheckConstraint(condition=Q(confirmed__lte=F("uses")), name="confidence_confirmed_are_uses"),
            models.CheckConstraint(condition=Q(uses__gte=F("good") + F("bad")), name="confidence_ends_are_uses"),
        ]


class RequestCounts(models.Model):
    """How often, when and by whom; `dismissed_count` is the count when an operator dismissed it."""

    count = models.PositiveBigIntegerField(default=0)
    requested_by = models.JSONField(null=True, help_text="{key name: number of requests}, at most 20 keys.")
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = optional_text(200, db_default="")
    dismissed_count = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True


class UnknownCapabilityRequest(RequestCounts):
    """An id that agents asked for and that is not published."""

    capability_id = models.CharField(max_length=64, primary_key=True)

    class Meta:
        constraints: ClassVar = [check_paired("dismissed_at", "dismissed_by", name="unknown_request_dismissal_paired")]


class UnmatchedMessage(RequestCounts):
    """A message that led to no one capability, cut and scrubbed; one row for all of the same specific words."""

    class Decision(models.TextChoices):
        NONE = "none"
        AMBIGUOUS = "ambiguous"

    form = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the stems of its content words.")
    text = models.CharField(max_length=200)
    decision = models.CharField(max_length=16, choices=Decision.choices)
    nearest = optional_text(64, help_text="The best near miss, or empty.")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["last_seen_at"], name="unmatched_last_seen")]
        constraints: ClassVar = [
            check_paired("dismissed_at", "dismissed_by", name="unmatched_dismissal_paired"),
            check_choice("decision", ["none", "ambiguous"], name="unmatched_decision_known"),
            models.CheckConstraint(condition=~Q(text=""), name="unmatched_text_not_empty"),
        ]
