"""Keys of agent runtimes, and what they have redeemed. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class AgentKey(models.Model):
    """A key of an agent runtime. Only the SHA-256 is kept: keys are 256 random bits, so a slow hash adds nothing."""

    name = models.CharField(max_length=80, unique=True)
    key_hash = models.CharField(max_length=64, unique=True)
    key_prefix = models.CharField(max_length=16, help_text="The first characters, to tell keys apart.")
    scopes = models.JSONField(default=list)
    groups = models.JSONField(null=True, default=None, help_text="The skill groups that it can see; null: all.")
    read_only_tools = models.BooleanField(
        default=False, db_default=False, help_text="Write tools are left out of its responses."
    )
    preview = models.BooleanField(default=False, db_default=False, help_text="Drafts are served to it as if published.")
    visibility_revision = models.BigIntegerField(
        default=0, db_default=0, help_text="The registry revision at which it was created or its groups were changed."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, help_text="Refused from then on; null: never.")
    previous_key_hash = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Hash of the previous key, or empty."
    )
    previous_until = models.DateTimeField(null=True, help_text="The previous key is accepted until then.")
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=True, revoked_by="") | (Q(revoked_at__isnull=False) & ~Q(revoked_by="")),
                name="agent_key_revocation_paired",
            ),
            models.CheckConstraint(
                condition=Q(previous_until__isnull=True, previous_key_hash="")
                | (Q(previous_until__isnull=False) & ~Q(previous_key_hash="")),
                name="agent_key_rotation_paired",
            ),
            models.UniqueConstraint(
                fields=["previous_key_hash"], condition=~Q(previous_key_hash=""), name="agent_key_previous_once"
            ),
        ]

    @property
    def has_ended(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def has_two(self) -> bool:
        """Whether the key before the newest one is still taken."""
        return self.previous_until is not None and self.previous_until > timezone.now()


class InstallCodeRedemption(models.Model):
    """From then on the key sees the capability, listed or not, whatever becomes of the code."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="redemptions")
    key = models.ForeignKey(AgentKey, on_delete=models.PROTECT, related_name="redemptions")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "key"], name="install_code_redemption_once")
        ]
