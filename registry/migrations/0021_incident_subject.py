"""Incidents of sources without a key into the sources, which are a feature's."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0020_git_import_as_id"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="incident", name="incident_of_source_open_once"),
        migrations.RemoveConstraint(model_name="incident", name="incident_subject_fits_kind"),
        migrations.AlterField(
            model_name="incident",
            name="source",
            field=models.BigIntegerField(null=True, db_column="source_id", help_text="The number of the source."),
        ),
        migrations.RenameField(model_name="incident", old_name="source", new_name="source_id"),
        migrations.AlterField(
            model_name="incident",
            name="source_id",
            field=models.BigIntegerField(null=True, help_text="The number of the source."),
        ),
        migrations.AddField(
            model_name="incident",
            name="subject",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Where the source is.", max_length=2000
            ),
        ),
        migrations.AddConstraint(
            model_name="incident",
            constraint=models.UniqueConstraint(
                fields=["source_id"], condition=Q(closed_at__isnull=True), name="incident_of_source_open_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="incident",
            constraint=models.CheckConstraint(
                condition=Q(kind="source", source_id__isnull=False, capability__isnull=True, revision__isnull=True)
                | (~Q(kind="source") & Q(source_id__isnull=True, capability__isnull=False)),
                name="incident_subject_fits_kind",
            ),
        ),
    ]
