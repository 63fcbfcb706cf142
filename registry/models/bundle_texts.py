"""The texts of a bundle as columns, and the earlier texts of drafts. Part of `registry.models`."""

from __future__ import annotations

import json
import zlib
from typing import ClassVar

from django.db import models
from django.utils import timezone

from capability_rules.bundles.supporting_files import find_supporting_files


class BundleTexts(models.Model):
    """The author's texts, normalized. An absent file is null, which is not the same as an empty one."""

    capability_json = models.TextField(null=True)
    skill_md = models.TextField(null=True)
    tools_json = models.TextField(null=True)
    ui_schemas_json = models.TextField(null=True)
    supporting_files = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), help_text="{path: text} of the supporting files."
    )

    COLUMNS: ClassVar[dict[str, str]] = {
        "capability.json": "capability_json",
        "skill.md": "skill_md",
        "tools.json": "tools_json",
        "ui_schemas.json": "ui_schemas_json",
    }

    class Meta:
        abstract = True

    @property
    def files(self) -> dict[str, str]:
        """`{file name: text}` of the files that are there. Of a damaged row what is text: its digest does not agree."""
        texts = {name: getattr(self, column) for name, column in self.COLUMNS.items()}
        beside = self.supporting_files if isinstance(self.supporting_files, dict) else {}
        return {name: text for name, text in {**texts, **beside}.items() if isinstance(text, str)}

    @files.setter
    def files(self, files: dict[str, str]) -> None:
        for name, column in self.COLUMNS.items():
            setattr(self, column, files.get(name))
        self.supporting_files = find_supporting_files(files)


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
