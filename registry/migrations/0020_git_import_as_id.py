"""The id that the one Agent Skill of a git import is to have, whatever its name is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0010_held_passages"),
    ]

    operations = [
        migrations.AddField(
            model_name="gitimport",
            name="as_id",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The capability_id of its one Agent Skill, or empty.",
                max_length=64,
            ),
        ),
    ]
