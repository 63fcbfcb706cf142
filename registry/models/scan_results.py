"""What outside scanners found in a bundle. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class ScanResults(models.Model):
    """The results of one tool for exactly these texts (registry/publishing/scan_results.py); a newer upload of the tool
    replaces them."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="scan_results")
    files_digest = models.CharField(max_length=71, help_text="SHA-256 over the files that were scanned.")
    tool = models.CharField(max_length=80)
    tool_version = models.CharField(max_length=80, blank=True, default="")
    results = models.JSONField(
        default=list, help_text="[{severity, rule_id, file, line, column, message}] of errors and warnings."
    )
    notes = models.PositiveIntegerField(default=0, help_text="How many results are only notes.")
    suppressed = models.PositiveIntegerField(default=0, help_text="How many results the tool has suppressed.")
    uploaded_at = models.DateTimeField(default=timezone.now)
    uploaded_by = models.CharField(max_length=200)

    class Meta:
        app_label = "registry"
        verbose_name_plural = "scan results"
        ordering: ClassVar = ["-uploaded_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "files_digest", "tool"], name="scan_results_one_per_tool"),
            models.CheckConstraint(condition=Q(files_digest__startswith="sha256:"), name="scan_results_digest_form"),
            models.CheckConstraint(condition=~Q(tool=""), name="scan_results_tool_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} of {self.files_digest[:19]}"
