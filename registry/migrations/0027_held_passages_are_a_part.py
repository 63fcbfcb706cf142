"""Held passages are rows of features/acceptances from here on, which has taken them over before."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0026_lines_around_held_passages"),
    ]

    operations = [
        migrations.DeleteModel(
            name="HeldPassage",
        ),
    ]
