"""Passages that the text around them makes examples are kept with the revision that has them."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("registry", "0001_squashed_0024_waivers_are_a_part")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="revision",
            name="excused_passages",
            field=models.JSONField(
                db_default=[],
                default=list,
                help_text="Fingerprints of doubted passages that the text around them excused.",
            ),
        ),
    ]
