"""The bytes of supporting files that are kept by their digests. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.fields import optional_text


class FileContent(models.Model):
    """One file's bytes, stored once however many have it; never changed."""

    digest = models.CharField(max_length=71, unique=True, help_text="sha256: and hexadecimal digits.")
    size = models.PositiveIntegerField(help_text="In bytes.")
    pointer = models.TextField(help_text="What stands for the file among the texts of a bundle, as last described.")
    created_at = models.DateTimeField(default=timezone.now)


class FileChunk(models.Model):
    """A part of a file's bytes, so that no reader holds all of them."""

    content = models.ForeignKey(FileContent, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField(help_text="From 0; all but the last have the same size.")
    data = models.BinaryField()

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["content", "number"], name="file_chunk_once")]


class FileHold(models.Model):
    """Who may name a file's digest: a capability that has or had the file, or who brought the bytes a day ago."""

    content = models.ForeignKey(FileContent, on_delete=models.CASCADE, related_name="holds")
    capability = models.ForeignKey("registry.Capability", null=True, on_delete=models.CASCADE, related_name="+")
    brought_by = optional_text(200, db_default="", help_text="The actor, where no capability has it yet.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["content", "capability"], name="file_hold_once_a_capability"),
            models.UniqueConstraint(
                fields=["content", "brought_by"], condition=Q(capability__isnull=True), name="file_hold_once_an_actor"
            ),
            models.CheckConstraint(
                condition=Q(capability__isnull=True, brought_by__gt="") | Q(capability__isnull=False, brought_by=""),
                name="file_hold_of_one",
            ),
        ]
