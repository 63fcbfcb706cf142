"""The table of credentials."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_paired
from registry.models.fields import optional_text


class Credential(models.Model):
    """A secret that is sent to others, encrypted under a key that is derived from SECRET_KEY; never shown again."""

    name = models.CharField(max_length=70, unique=True)
    hosts = models.JSONField(help_text="Names, with :PORT where it is not 443, that it may be sent to.")
    username = optional_text(100, help_text="Of Basic authentication; hosts that take a token ignore it.")
    secret = models.TextField(help_text="Encrypted; empty once it is ended.", blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    replaced_at = models.DateTimeField(null=True, help_text="When the secret was replaced last.")
    last_used_at = models.DateTimeField(null=True)
    last_used_for = optional_text(200, help_text="What used it last.")
    is_open = models.BooleanField(default=False, db_default=False, help_text="Whether members import with it.")
    ended_at = models.DateTimeField(null=True)
    ended_by = optional_text(200)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            check_paired("ended_at", "ended_by", name="credential_end_paired"),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) & ~Q(secret="") | Q(ended_at__isnull=False, secret=""),
                name="credential_secret_fits_end",
            ),
        ]

    def __str__(self) -> str:
        return self.name
