"""The registry revision since which a key sees its groups; for existing keys, that of their creation."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import Max


def fill(apps: Any, schema_editor: Any) -> None:  # noqa: ARG001
    """May run twice."""
    releases = apps.get_model("registry", "Release").objects
    for key in apps.get_model("registry", "AgentKey").objects.filter(sight_since=0):
        key.sight_since = releases.filter(at__lte=key.created_at).aggregate(last=Max("registry_revision"))["last"] or 0
        key.save(update_fields=["sight_since"])


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0025_source_doubt"),
    ]

    operations = [
        migrations.AddField(
            model_name="agentkey",
            name="sight_since",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                help_text="The registry revision at which it was created or its groups were changed.",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
