"""Earlier versions of drafts. Part of `registry.models`."""

from __future__ import annotations

import json
import zlib
from typing import ClassVar

from django.db import models
from django.utils import timezone


class DraftVersion(models.Model):
    """The texts of a draft that a later save replaced; never changed once written."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="draft_versions")
    version = models.PositiveIntegerField(help_text="The version of the draft while it had these texts.")
    content = models.BinaryField(help_text="All files, {path: text} as JSON, compressed by zlib.")
    size_bytes = models.PositiveIntegerField(help_text="Of the compressed content.")
    saved_at = models.DateTimeField()
    saved_by = models.CharField(max_length=200)
    editors = models.JSONField(default=list, help_text="Everyone who had edited the draft by then, as actors.")
    replaced_at = models.DateTimeField(default=timezone.now)
    replaced_by = models.CharField(max_length=200)
    change = models.JSONField(default=dict, help_text="What the save that replaced it changed, as counts.")

    class Meta:
        app_label = "registry"
        indexes: ClassVar = [models.Index(fields=["replaced_at"], name="draft_version_replaced_at")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "version"], name="draft_version_kept_once"),
        ]

    @property
    def files(self) -> dict[str, str]:
        """`{file name: text}`, the four bundle files and the supporting ones."""
        files: dict[str, str] = json.loads(zlib.decompress(bytes(self.content)))
        return files

    @files.setter
    def files(self, files: dict[str, str]) -> None:
        self.content = zlib.compress(json.dumps(files, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        self.size_bytes = len(self.content)
