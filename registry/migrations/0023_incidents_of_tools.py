"""Incidents about a published tool that can no longer be called as it says."""

from django.db import migrations, models

from registry.models.constraints import check_choice


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0022_sources_are_a_feature"),
    ]

    operations = [
        migrations.AlterField(
            model_name="incident",
            name="kind",
            field=models.CharField(
                choices=[("bundle", "Bundle"), ("release", "Release"), ("source", "Source"), ("tool", "Tool")],
                db_default="bundle",
                default="bundle",
                max_length=16,
            ),
        ),
        migrations.RemoveConstraint(model_name="incident", name="incident_kind_known"),
        migrations.AddConstraint(
            model_name="incident",
            constraint=check_choice("kind", ["bundle", "release", "source", "tool"], name="incident_kind_known"),
        ),
    ]
