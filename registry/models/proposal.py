"""What agents propose for review. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.bundle_texts import BundleTexts


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
    decided_by = models.CharField(max_length=200, blank=True, default="")
    decision_note = models.TextField(blank=True, default="")
    published_revision = models.PositiveIntegerField(null=True, help_text="The number that it was published as.")

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["key_name", "status"], name="proposal_of_key")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(status__in=["draft", "published", "rejected", "superseded"]), name="proposal_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="draft", decided_at__isnull=True, decided_by="")
                | (~Q(status="draft") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="proposal_decision_fits_status",
            ),
            models.CheckConstraint(
                condition=Q(status="published", published_revision__isnull=False)
                | (~Q(status="published") & Q(published_revision__isnull=True)),
                name="proposal_revision_fits_status",
            ),
            models.UniqueConstraint(
                fields=["capability", "key_name"], condition=Q(status="draft"), name="proposal_open_once"
            ),
        ]

    @property
    def is_open(self) -> bool:
        """Whether it has not been decided yet."""
        return self.status == self.Status.DRAFT
