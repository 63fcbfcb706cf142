"""The tables of followed sources belong to features/sources from here on; they stay as they are."""

from typing import Any

from django.db import migrations


def name_subjects(apps: Any, schema_editor: Any) -> None:
    """Where the source of each incident is, as `GitSource.spec` says it."""
    alias = schema_editor.connection.alias
    sources = {row.pk: row for row in apps.get_model("registry", "GitSource").objects.using(alias).all()}
    for incident in apps.get_model("registry", "Incident").objects.using(alias).filter(source_id__isnull=False):
        source = sources.get(incident.source_id)
        if source is not None:
            ref, folder = (f"@{source.ref}" if source.ref else ""), (f"#{source.folder}" if source.folder else "")
            incident.subject = f"{source.url}{ref}{folder}"
            incident.save(update_fields=["subject"])


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0021_incident_subject"),
    ]

    operations = [
        migrations.RunPython(name_subjects, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="GitSourceItem"),
                migrations.DeleteModel(name="GitSource"),
            ]
        ),
    ]
