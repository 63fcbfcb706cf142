"""The texts of a bundle as columns. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from registry.bundles.supporting_files import find_supporting_files


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
