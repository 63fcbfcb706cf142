"""Files on their way from a client, and which folders were published."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone


class SkillUpload(models.Model):
    """One file that a key has announced, and its bytes once they have come. It is gone with its publication."""

    upload_id = models.UUIDField(unique=True, default=uuid4)
    key_name = models.CharField(max_length=80)
    path = models.CharField(max_length=500)
    size = models.PositiveIntegerField(help_text="Announced size in bytes.")
    sha256 = models.CharField(max_length=64, help_text="Announced SHA-256 in hexadecimal.")
    content = models.BinaryField(null=True, help_text="Null until the content has arrived.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "registry_skillupload"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["key_name", "created_at"], name="skill_upload_of_key"),
            models.Index(fields=["created_at"], name="skill_upload_of_hour"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(key_name=""), name="skill_upload_key_not_empty"),
            models.CheckConstraint(condition=~Q(path=""), name="skill_upload_path_not_empty"),
        ]


class UploadedSkill(models.Model):
    """That a revision was published from a folder with this fingerprint (features/clawhub/skill_fingerprints.py)."""

    revision = models.ForeignKey("registry.Revision", on_delete=models.PROTECT, related_name="+")
    fingerprint = models.CharField(max_length=64)

    class Meta:
        db_table = "registry_uploadedskill"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["revision", "fingerprint"], name="uploaded_skill_once"),
        ]
