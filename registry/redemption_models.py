"""Who has redeemed which install code. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Redemption(models.Model):
    """From then on the key sees the capability, listed or not, whatever becomes of the code."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="redemptions")
    key = models.ForeignKey("registry.AgentKey", on_delete=models.PROTECT, related_name="redemptions")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["capability", "key"], name="redemption_once")]
