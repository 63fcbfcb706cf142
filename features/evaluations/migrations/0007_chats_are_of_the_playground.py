"""The tables of chats belong to features/playground from here on; they stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0006_case_file_rest"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="PlaygroundStep"),
                migrations.DeleteModel(name="PlaygroundChat"),
            ]
        ),
    ]
