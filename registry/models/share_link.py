"""Links below which a client that can send no key reads the registry (docs/contract.md 6)."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class ShareLink(models.Model):
    """Who has the link reads what it shows. Only the SHA-256 of its token is kept: it is 256 random bits."""

    name = models.CharField(max_length=70, unique=True)
    token_hash = models.CharField(max_length=64, unique=True)
    token_prefix = models.CharField(max_length=16, help_text="The first characters of the token, to tell links apart.")
    skill_group = models.CharField(
        max_length=64, blank=True, default="", help_text="The only skill group that it shows; empty: all."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=True, revoked_by="") | (Q(revoked_at__isnull=False) & ~Q(revoked_by="")),
                name="share_link_revocation_paired",
            ),
        ]

    def __str__(self) -> str:
        return self.name
