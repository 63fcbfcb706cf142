"""Release rules, reviews and their comments. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from registry.models.bundle_texts import BundleTexts


class ReleaseRule(models.Model):
    """What publishing requires, everywhere or for what is in one skill group (registry/publishing/release_rules.py)."""

    class Loosening(models.TextChoices):
        PUBLISHER = "publisher"
        ADMIN = "admin"
        SECOND_PERSON = "second_person"

    group_id = models.CharField(max_length=64, unique=True, blank=True, default="", help_text="Empty: the registry.")
    four_eyes = models.BooleanField(default=False, help_text="A second person must approve what is published.")
    loosening = models.CharField(max_length=16, choices=Loosening.choices, default=Loosening.PUBLISHER)
    note_required = models.BooleanField(default=False)
    comments_resolved = models.BooleanField(
        default=False, db_default=False, help_text="No comment of the review may be open when it is published."
    )
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=200)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["group_id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(loosening__in=["publisher", "admin", "second_person"]), name="release_rule_loosening_known"
            )
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
    decided_by = models.CharField(max_length=200, blank=True, default="")
    revision = models.PositiveIntegerField(null=True, help_text="The number that it was published as.")

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["state", "-requested_at"], name="review_by_state")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=["open", "approved", "sent_back", "withdrawn", "published"]),
                name="review_state_known",
            ),
            models.UniqueConstraint(
                fields=["capability"],
                condition=Q(state__in=["open", "approved", "sent_back"]),
                name="review_one_per_capability",
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True, decided_by="") | (Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="review_decision_paired",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["approved", "sent_back"]) | Q(decided_at__isnull=False),
                name="review_decision_fits_state",
            ),
            models.CheckConstraint(
                condition=Q(state="published", revision__isnull=False)
                | (~Q(state="published") & Q(revision__isnull=True)),
                name="review_revision_fits_state",
            ),
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
    file = models.CharField(max_length=32, blank=True, default="")
    line = models.PositiveIntegerField(null=True, help_text="In the text that was submitted, from 1.")
    code = models.CharField(max_length=64, blank=True, default="", help_text="Of a finding.")
    reply_to = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="replies")
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        app_label = "registry"
        verbose_name_plural = "review entries"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(
                    kind__in=["asked", "asked_again", "comment", "approved", "sent_back", "withdrawn", "published"]
                ),
                name="review_entry_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(line__isnull=True) | (Q(line__gte=1) & ~Q(file="")), name="review_entry_line_has_file"
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
