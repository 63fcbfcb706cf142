"""What comes before a release: rules, reviews, proposals, schedules and scans. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from registry.models.bundle_texts import BundleTexts
from registry.models.constraints import check_choice, check_null_where, check_paired, check_set_where
from registry.models.fields import optional_text


class Proposal(BundleTexts):
    """A bundle that the holder of a key submits; the texts as they came, whatever becomes of the draft."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        PUBLISHED = "published"
        REJECTED = "rejected"
        SUPERSEDED = "superseded"

    proposal_id = models.UUIDField(unique=True, default=uuid4)
    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="proposals")
    note = models.TextField(blank=True, default="")
    key_name = models.CharField(max_length=80)
    near_duplicates = models.JSONField(default=list, help_text="Similar capabilities when it was submitted.")
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.DRAFT)
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True)
    decided_by = optional_text(200)
    decision_note = models.TextField(blank=True, default="")
    published_revision = models.PositiveIntegerField(null=True, help_text="The number that it was published as.")

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["key_name", "status"], name="proposal_of_key")]
        constraints: ClassVar = [
            check_choice("status", ["draft", "published", "rejected", "superseded"], name="proposal_status_known"),
            models.CheckConstraint(
                condition=Q(status="draft", decided_at__isnull=True, decided_by="")
                | (~Q(status="draft") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="proposal_decision_fits_status",
            ),
            check_set_where("published_revision", name="proposal_revision_fits_status", status="published"),
            models.UniqueConstraint(
                fields=["capability", "key_name"], condition=Q(status="draft"), name="proposal_open_once"
            ),
        ]

    @property
    def is_open(self) -> bool:
        """Whether it has not been decided yet."""
        return self.status == self.Status.DRAFT


class ReleaseRule(models.Model):
    """What publishing requires, everywhere or for what is in one skill group (registry/publishing/release_rules.py)."""

    class Loosening(models.TextChoices):
        PUBLISHER = "publisher"
        ADMIN = "admin"
        SECOND_PERSON = "second_person"

    group_id = optional_text(64, unique=True, help_text="Empty: the registry.")
    four_eyes = models.BooleanField(default=False, help_text="A second person must approve what is published.")
    loosening = models.CharField(max_length=16, choices=Loosening.choices, default=Loosening.PUBLISHER)
    note_required = models.BooleanField(default=False)
    comments_resolved = models.BooleanField(
        default=False, db_default=False, help_text="No comment of the review may be open when it is published."
    )
    held_requires_review = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Texts with a passage that the security checks doubt need an approval.",
    )
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["group_id"]
        constraints: ClassVar = [
            check_choice("loosening", ["publisher", "admin", "second_person"], name="release_rule_loosening_known")
        ]

    def __str__(self) -> str:
        return self.group_id or "registry"


class Review(BundleTexts):
    """The texts of a draft submitted for approval; `round` counts how often they were submitted."""

    class State(models.TextChoices):
        OPEN = "open"
        APPROVED = "approved"
        CHANGES_REQUESTED = "sent_back"
        WITHDRAWN = "withdrawn"
        PUBLISHED = "published"

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="reviews")
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    round = models.PositiveIntegerField(default=1)
    draft_version = models.PositiveIntegerField()
    files_digest = models.CharField(
        max_length=71, help_text="SHA-256 over the files: the approval is for exactly these."
    )
    editors = models.JSONField(default=list, help_text="Everyone who edited the draft, as actors.")
    reviewers = models.JSONField(
        default=list, db_default=Value([], models.JSONField()), help_text="Usernames of those who are asked to review."
    )
    note = models.TextField(blank=True, default="", help_text="What the change is for, in the author's words.")
    requested_at = models.DateTimeField(default=timezone.now)
    requested_by = models.CharField(max_length=200)
    decided_at = models.DateTimeField(null=True)
    decided_by = optional_text(200)
    revision = models.PositiveIntegerField(null=True, help_text="The number that it was published as.")

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["state", "-requested_at"], name="review_by_state")]
        constraints: ClassVar = [
            check_choice(
                "state", ["open", "approved", "sent_back", "withdrawn", "published"], name="review_state_known"
            ),
            models.UniqueConstraint(
                fields=["capability"],
                condition=Q(state__in=["open", "approved", "sent_back"]),
                name="review_one_per_capability",
            ),
            check_paired("decided_at", "decided_by", name="review_decision_paired"),
            models.CheckConstraint(
                condition=~Q(state__in=["approved", "sent_back"]) | Q(decided_at__isnull=False),
                name="review_decision_fits_state",
            ),
            check_set_where("revision", name="review_revision_fits_state", state="published"),
        ]

    def __str__(self) -> str:
        return f"review {self.pk} of {self.capability.capability_id}"

    @property
    def is_active(self) -> bool:
        """Whether anything is still to be done about it."""
        return self.state in (self.State.OPEN, self.State.APPROVED, self.State.CHANGES_REQUESTED)


class ReviewEntry(models.Model):
    """Comments and actions of a review, in order; `file` and `line`, or `code`, say what a comment is about.

    A comment begins a thread: replies point at it, one level deep, and it is open until it is resolved.
    """

    class Kind(models.TextChoices):
        ASKED = "asked"
        ASKED_AGAIN = "asked_again"
        COMMENT = "comment"
        APPROVED = "approved"
        CHANGES_REQUESTED = "sent_back"
        WITHDRAWN = "withdrawn"
        PUBLISHED = "published"

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="entries")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    round = models.PositiveIntegerField()
    by = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now)
    words = models.TextField(blank=True, default="")
    file = optional_text(32)
    line = models.PositiveIntegerField(null=True, help_text="In the text that was submitted, from 1.")
    quote = models.TextField(blank=True, default="", db_default="", help_text="That line, to find it in later texts.")
    suggestion = models.TextField(blank=True, default="", db_default="", help_text="What the line should be.")
    code = optional_text(64, help_text="Of a finding.")
    reply_to = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="replies")
    resolved_at = models.DateTimeField(null=True)
    resolved_by = optional_text(200, db_default="")

    class Meta:
        verbose_name_plural = "review entries"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            check_choice(
                "kind",
                ["asked", "asked_again", "comment", "approved", "sent_back", "withdrawn", "published"],
                name="review_entry_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(line__isnull=True) | (Q(line__gte=1) & ~Q(file="")), name="review_entry_line_has_file"
            ),
            models.CheckConstraint(
                condition=Q(suggestion="") | Q(line__isnull=False), name="review_entry_suggestion_has_line"
            ),
            models.CheckConstraint(
                condition=Q(reply_to__isnull=True)
                | Q(kind="comment", file="", line__isnull=True, code="", resolved_at__isnull=True),
                name="review_entry_reply_is_a_comment_of_no_place",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at__isnull=True, resolved_by="")
                | (Q(kind="comment", resolved_at__isnull=False) & ~Q(resolved_by="")),
                name="review_entry_resolved_paired",
            ),
        ]


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
        ordering: ClassVar = ["due_at", "id"]
        constraints: ClassVar = [
            check_choice("state", ["waiting", "done", "failed", "cancelled"], name="scheduled_release_state_known"),
            check_null_where("ended_at", name="scheduled_release_end_fits_state", state="waiting"),
            models.UniqueConstraint(
                fields=["capability"], condition=Q(state="waiting"), name="scheduled_release_one_waiting"
            ),
        ]

    def __str__(self) -> str:
        return f"release of {self.capability.capability_id} at {self.due_at:%Y-%m-%d %H:%M}"


class ScanResults(models.Model):
    """The results of one tool for exactly these texts (registry/publishing/scan_results.py); a newer upload of the tool
    replaces them."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="scan_results")
    files_digest = models.CharField(max_length=71, help_text="SHA-256 over the files that were scanned.")
    tool = models.CharField(max_length=80)
    tool_version = optional_text(80)
    results = models.JSONField(
        default=list, help_text="[{severity, rule_id, file, line, column, message}] of errors and warnings."
    )
    notes = models.PositiveIntegerField(default=0, help_text="How many results are only notes.")
    suppressed = models.PositiveIntegerField(default=0, help_text="How many results the tool has suppressed.")
    uploaded_at = models.DateTimeField(default=timezone.now)
    uploaded_by = models.CharField(max_length=200)

    class Meta:
        verbose_name_plural = "scan results"
        ordering: ClassVar = ["-uploaded_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "files_digest", "tool"], name="scan_results_one_per_tool"),
            models.CheckConstraint(condition=Q(files_digest__startswith="sha256:"), name="scan_results_digest_form"),
            models.CheckConstraint(condition=~Q(tool=""), name="scan_results_tool_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} of {self.files_digest[:19]}"
