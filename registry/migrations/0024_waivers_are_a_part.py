"""The table of waivers belongs to features/acceptances from here on; it stays as it is."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0023_incidents_of_tools"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name="Waiver")]),
    ]
