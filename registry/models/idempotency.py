"""The response to a write that its caller may repeat. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class IdempotencyRecord(models.Model):
    """The response to a write, by the caller's idempotency key: a repeated call gets it, and is not done again."""

    caller = models.CharField(max_length=200, help_text="The actor, such as agent_key:name.")
    idempotency_key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 over the request.")
    response = models.TextField(help_text="The response as the endpoint wrote it.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "registry"
        indexes: ClassVar = [models.Index(fields=["at"], name="idempotency_record_of_day")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["caller", "idempotency_key"], name="idempotency_record_once"),
            models.CheckConstraint(condition=~Q(idempotency_key=""), name="idempotency_record_key_not_empty"),
        ]
