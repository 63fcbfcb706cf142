"""Redeeming an install code is a revision of the registry to the key that did it."""

from typing import Any

from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    """What was redeemed before is shown once more to a client that is behind now, and to no other."""
    alias = schema_editor.connection.alias
    state = apps.get_model("registry", "RegistryState").objects.using(alias).filter(id=1).first()
    if state is not None:
        redemptions = (
            apps.get_model("registry", "InstallCodeRedemption").objects.using(alias).filter(registry_revision=0)
        )
        redemptions.update(registry_revision=state.registry_revision)


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0008_key_limits"),
    ]

    operations = [
        migrations.AddField(
            model_name="installcoderedemption",
            name="registry_revision",
            field=models.BigIntegerField(
                db_default=0,
                default=0,
                help_text="The registry revision that it made; 0 where the key saw the capability before.",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
