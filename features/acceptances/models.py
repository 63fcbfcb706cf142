"""The table of what people accept."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_paired
from registry.models.fields import optional_text


class AcceptanceManager(models.Manager["Acceptance"]):
    """The rows of one kind: no kind is read or written in the place of another."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def get_queryset(self) -> models.QuerySet[Acceptance]:
        return super().get_queryset().filter(kind=self.kind)

    def create(self, **values: Any) -> Acceptance:
        """Store a row of this kind."""
        return super().create(kind=self.kind, **values)

    def in_force(self) -> models.QuerySet[Acceptance]:
        """What counts now; `Acceptance.state` says the same of one."""
        before_its_day = Q(until__isnull=True) | Q(until__gt=timezone.now().date())
        return self.filter(before_its_day, accepted_at__isnull=False, ended_at__isnull=True)


class Acceptance(models.Model):
    """What a person accepts in the texts of a capability, with a reason, or is asked to. Once accepted, it is never
    changed but for its end."""

    class Kind(models.TextChoices):
        # One finding, until a day.
        WAIVER = "waiver"
        # A passage that the security checks doubt; it may wait before its capability exists.
        HELD_PASSAGE = "held_passage"

    class Severity(models.TextChoices):
        ERROR = "error"
        WARNING = "warning"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    capability_id = models.CharField(max_length=64, help_text="The id that the texts have.")
    code = optional_text(64, help_text="Of the finding that is waived.")
    severity = models.CharField(max_length=16, choices=Severity.choices, default=Severity.WARNING)
    file = models.CharField(max_length=300)
    line = models.PositiveIntegerField(null=True, help_text="Where it was; the text may move.")
    fingerprint = models.CharField(
        max_length=71, help_text="What it is for: capability_rules/bundles/finding_fingerprints.py."
    )
    message = models.TextField(help_text="Of the finding, when it was found.")
    passage = models.TextField(blank=True, default="", help_text="Its beginning.")
    around = models.TextField(
        blank=True, default="", help_text="The lines around it, of texts that are kept nowhere else."
    )
    submitted_by = models.JSONField(default=list, help_text="Who sent or edited the held texts, as actors.")
    seen_at = models.DateTimeField(null=True, help_text="When held texts were refused or imported the last time.")
    reason = models.TextField(blank=True, default="")
    accepted_at = models.DateTimeField(null=True, help_text="Until then it waits.")
    accepted_by = optional_text(200)
    is_alone = models.BooleanField(default=False, help_text="Decided by somebody who had sent or edited it.")
    until = models.DateField(null=True, help_text="From this day on (UTC) a waiver does not count.")
    ended_at = models.DateTimeField(null=True, help_text="Of a waiver by a person, else by a quarantine.")
    ended_by = optional_text(200)

    objects = models.Manager["Acceptance"]()
    waivers = AcceptanceManager(Kind.WAIVER)
    passages = AcceptanceManager(Kind.HELD_PASSAGE)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["capability_id", "fingerprint"], name="acceptance_of_finding")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["capability_id", "fingerprint"],
                condition=Q(kind="held_passage", ended_at__isnull=True),
                name="acceptance_passage_once",
            ),
            check_choice("severity", ["error", "warning"], name="acceptance_severity_known"),
            models.CheckConstraint(condition=Q(fingerprint__startswith="sha256:"), name="acceptance_fingerprint_form"),
            check_paired("accepted_at", "accepted_by", name="acceptance_decision_paired"),
            check_paired("accepted_at", "reason", name="acceptance_reason_paired"),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, ended_by="")
                | Q(kind="waiver", ended_at__isnull=False) & ~Q(ended_by="")
                | Q(kind="held_passage", accepted_at__isnull=False, ended_by=""),
                name="acceptance_end_fits_kind",
            ),
            models.CheckConstraint(
                condition=Q(kind="waiver", accepted_at__isnull=False, until__isnull=False) & ~Q(code="")
                | Q(kind="held_passage", until__isnull=True, seen_at__isnull=False, severity="warning", code=""),
                name="acceptance_fits_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of {self.capability_id}"

    @property
    def key(self) -> str:
        """What names a held passage among those of every capability."""
        return f"{self.capability_id}:{self.fingerprint}"

    @property
    def place(self) -> str:
        """`FILE:LINE`, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def state(self) -> str:
        """`waiting`, `in_force`, `expired` or `ended`."""
        if self.accepted_at is None or self.ended_at is not None:
            return "waiting" if self.accepted_at is None else "ended"
        return "expired" if self.until is not None and self.until <= timezone.now().date() else "in_force"


def as_moment(at: datetime | None) -> str | None:
    """How answers write a time of a row."""
    return at.isoformat(timespec="seconds") if at is not None else None
