"""The table. Its name is from before it was a feature's."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_paired
from registry.models.fields import optional_text


class Waiver(models.Model):
    """One finding of a capability that does not count until a day. Never changed but for its end."""

    class Severity(models.TextChoices):
        ERROR = "error"
        WARNING = "warning"

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="waivers")
    code = models.CharField(max_length=64, help_text="Of the finding.")
    severity = models.CharField(max_length=16, choices=Severity.choices)
    file = models.CharField(max_length=300)
    line = models.PositiveIntegerField(null=True, help_text="Where it was when it was waived; the text may move.")
    fingerprint = models.CharField(
        max_length=71, help_text="What the waiver is for: capability_rules/bundles/finding_fingerprints.py."
    )
    message = models.TextField(help_text="Of the finding, when it was waived.")
    reason = models.TextField()
    until = models.DateField(help_text="From this day on (UTC) it does not count.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    ended_at = models.DateTimeField(null=True, help_text="Ended by a person before its day.")
    ended_by = optional_text(200)

    class Meta:
        db_table = "registry_waiver"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["capability", "fingerprint"], name="waiver_of_finding")]
        constraints: ClassVar = [
            check_choice("severity", ["error", "warning"], name="waiver_severity_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="waiver_reason_not_empty"),
            models.CheckConstraint(condition=Q(fingerprint__startswith="sha256:"), name="waiver_fingerprint_form"),
            check_paired("ended_at", "ended_by", name="waiver_end_paired"),
        ]

    def __str__(self) -> str:
        return f"waiver {self.pk} of {self.code}"

    @property
    def state(self) -> str:
        """`in_force`, `expired` or `ended`."""
        if self.ended_at is not None:
            return "ended"
        return "in_force" if timezone.now().date() < self.until else "expired"
