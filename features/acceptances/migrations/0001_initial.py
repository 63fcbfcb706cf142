# Where the core's migrations before 0024 ran, or those of `waivers`, the part's name before, the table is there, and is
# taken over.

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from registry.common.migration_operations import CreateTableOnce


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("registry", "0001_squashed_0024_waivers_are_a_part"),
    ]

    operations = [
        CreateTableOnce(
            name="Waiver",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(help_text="Of the finding.", max_length=64)),
                ("severity", models.CharField(choices=[("error", "Error"), ("warning", "Warning")], max_length=16)),
                ("file", models.CharField(max_length=300)),
                (
                    "line",
                    models.PositiveIntegerField(
                        help_text="Where it was when it was waived; the text may move.", null=True
                    ),
                ),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="What the waiver is for: capability_rules/bundles/finding_fingerprints.py.",
                        max_length=71,
                    ),
                ),
                ("message", models.TextField(help_text="Of the finding, when it was waived.")),
                ("reason", models.TextField()),
                ("until", models.DateField(help_text="From this day on (UTC) it does not count.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                ("ended_at", models.DateTimeField(help_text="Ended by a person before its day.", null=True)),
                ("ended_by", models.CharField(blank=True, default="", max_length=200)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="waivers", to="registry.capability"
                    ),
                ),
            ],
            options={
                "db_table": "registry_waiver",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["capability", "fingerprint"], name="waiver_of_finding")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("severity__in", ["error", "warning"])), name="waiver_severity_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True), name="waiver_reason_not_empty"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("fingerprint__startswith", "sha256:")), name="waiver_fingerprint_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("ended_by", "")),
                            models.Q(("ended_at__isnull", False), models.Q(("ended_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="waiver_end_paired",
                    ),
                ],
            },
        ),
    ]
