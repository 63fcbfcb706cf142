"""Clients that have registered here or are known by their document, and what members have allowed them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_paired
from registry.models.fields import optional_text


class OAuthClient(models.Model):
    """A program of somebody else. Everything here is what it says of itself, but for the address that it came from."""

    client_id = models.CharField(max_length=512, unique=True)
    name = optional_text(80, help_text="What it calls itself.")
    redirect_uris = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    network = optional_text(64, help_text="Where it registered from; empty for one that is known by its document.")

    class Meta:
        db_table = "oauth_client"
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.client_id


class Connection(models.Model):
    """A member has allowed a client to act for them at one resource: a code, and what is made of it. Of codes and
    tokens only the SHA-256 is kept: each is 256 random bits."""

    operator = models.ForeignKey("registry.Operator", on_delete=models.CASCADE, related_name="connections")
    client = models.ForeignKey(OAuthClient, on_delete=models.PROTECT, related_name="connections")
    via = models.CharField(max_length=100, help_text="The host of the client, as pages and the audit log name it.")
    scopes = models.JSONField(default=list)
    resource = models.CharField(max_length=500)
    redirect_uri = models.CharField(max_length=1000)
    created_at = models.DateTimeField(default=timezone.now)
    code_hash = models.CharField(max_length=64, unique=True)
    code_challenge = models.CharField(max_length=43)
    code_until = models.DateTimeField()
    # Null until the code is used.
    family_hash = models.CharField(
        max_length=64, unique=True, null=True, help_text="Of the half that all its refresh tokens share."
    )
    refresh_hash = optional_text(64, help_text="Of the other half of the refresh token that is good.")
    refresh_until = models.DateTimeField(null=True)
    access_hash = models.CharField(max_length=64, unique=True, null=True)
    access_until = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True, help_text="When it got its last access token.")
    ended_at = models.DateTimeField(null=True)
    ended_by = optional_text(200)
    # Of a connection by another authorization server, which has no code: `code_until` is when it ends without use.
    person = optional_text(500, db_index=True, help_text="Whom that server names: its issuer, a blank, its subject.")

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            check_paired("ended_at", "ended_by", name="connection_end_paired"),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(access_hash__isnull=True), name="connection_ended_has_no_token"
            ),
            models.CheckConstraint(
                condition=Q(family_hash__isnull=True, refresh_until__isnull=True, refresh_hash="")
                | Q(family_hash__isnull=False, refresh_until__isnull=False) & ~Q(refresh_hash=""),
                name="connection_refresh_token_whole",
            ),
            models.CheckConstraint(
                condition=Q(access_hash__isnull=True) | Q(access_until__isnull=False), name="connection_token_ends"
            ),
            models.UniqueConstraint(
                fields=["person", "client"],
                condition=Q(ended_at__isnull=True) & ~Q(person=""),
                name="connection_person_by_client",
            ),
            models.CheckConstraint(
                condition=Q(person="") | Q(family_hash__isnull=True, access_hash__isnull=True),
                name="connection_person_has_no_token",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operator} · {self.via}"
