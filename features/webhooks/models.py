"""Who receives events, and the outcome of each delivery (docs/webhooks.md)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_null_where, check_paired
from registry.models.fields import optional_text


class Webhook(models.Model):
    """An address that receives events.

    Its secrets are encrypted (registry/access/stored_secrets.py); one is shown once, and a new one takes its place.
    """

    name = models.CharField(max_length=80, unique=True)
    url = models.CharField(max_length=2000)
    secret = models.TextField(help_text="whsec_ + base64, encrypted.")
    previous_secret = models.TextField(blank=True, default="")
    previous_secret_until = models.DateTimeField(null=True, help_text="The previous secret also signs until then.")
    events = models.JSONField(default=list, help_text="Event types; empty: all but the opt-in ones.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = optional_text(200)

    class Meta:
        db_table = "registry_webhook"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            check_paired("disabled_at", "disabled_reason", name="webhook_disabling_paired"),
            check_paired("previous_secret_until", "previous_secret", name="webhook_rotation_paired"),
            models.CheckConstraint(condition=~Q(secret=""), name="webhook_secret_not_empty"),
        ]

    @property
    def is_enabled(self) -> bool:
        """Whether it receives any events."""
        return self.disabled_at is None


class WebhookDelivery(models.Model):
    """One event for one webhook, stored with the write that it reports; its job tries until it arrives."""

    class State(models.TextChoices):
        QUEUED = "queued"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField(help_text="The same for each attempt and each webhook.")
    kind = models.CharField(max_length=40)
    body = models.TextField(help_text="The JSON that is sent, byte for byte: the signature is over it.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = optional_text(500)
    response_excerpt = models.TextField(blank=True, default="")
    duration_ms = models.PositiveIntegerField(null=True, help_text="Of the last attempt.")
    created_at = models.DateTimeField(default=timezone.now)
    last_attempt_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "registry_webhookdelivery"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["created_at"], name="webhook_delivery_of_day")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="webhook_delivery_once"),
            check_choice("state", ["queued", "delivered", "failed"], name="webhook_delivery_state_known"),
            check_null_where("finished_at", name="webhook_delivery_end_fits_state", state="queued"),
        ]
