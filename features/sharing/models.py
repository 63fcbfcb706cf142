"""Which key has redeemed which install code, and share links."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_paired
from registry.models.fields import optional_text


class InstallCodeRedemption(models.Model):
    """From then on the key sees the capability, listed or not, whatever becomes of the code."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.PROTECT, related_name="redemptions")
    key = models.ForeignKey("registry.AgentKey", on_delete=models.PROTECT, related_name="redemptions")
    at = models.DateTimeField(default=timezone.now)
    registry_revision = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="The registry revision that it made; 0 where the key saw the capability before.",
    )

    class Meta:
        db_table = "registry_installcoderedemption"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "key"], name="install_code_redemption_once")
        ]


class ShareLink(models.Model):
    """Who has the link reads what it shows. Only the SHA-256 of its token is kept: it is 256 random bits."""

    name = models.CharField(max_length=70, unique=True)
    token_hash = models.CharField(max_length=64, unique=True)
    token_prefix = models.CharField(max_length=16, help_text="The first characters of the token, to tell links apart.")
    skill_group = optional_text(64, help_text="The only skill group that it shows; empty: all.")
    set_id = optional_text(64, db_default="", help_text="The only set that it shows; empty: all.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = optional_text(200)

    class Meta:
        db_table = "registry_sharelink"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            check_paired("revoked_at", "revoked_by", name="share_link_revocation_paired"),
            models.CheckConstraint(condition=Q(skill_group="") | Q(set_id=""), name="share_link_shows_one"),
        ]

    def __str__(self) -> str:
        return self.name
