# Reversible: undone, it drops the table with the jobs that are in it; nothing else refers to them.

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=64)),
                ("payload", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("parked", "Parked")],
                        default="queued",
                        max_length=16,
                    ),
                ),
                (
                    "dedupe_key",
                    models.CharField(
                        blank=True, default="", help_text="One open job a key; empty: any.", max_length=200
                    ),
                ),
                ("run_after", models.DateTimeField(default=django.utils.timezone.now)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("leased_until", models.DateTimeField(null=True)),
                ("fence", models.PositiveIntegerField(default=0, help_text="The number of the newest lease.")),
                ("last_error", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["state", "run_after"], name="job_due"),
                    models.Index(fields=["dedupe_key"], name="job_of_dedupe_key"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "parked"])),
                        name="job_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("leased_until__isnull", False), ("state", "running")),
                            models.Q(models.Q(("state", "running"), _negated=True), ("leased_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="job_lease_fits_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ["done", "parked"])),
                            models.Q(
                                models.Q(("state__in", ["done", "parked"]), _negated=True),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="job_end_fits_state",
                    ),
                    models.CheckConstraint(condition=models.Q(("kind", ""), _negated=True), name="job_kind_not_empty"),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running"]), models.Q(("dedupe_key", ""), _negated=True)
                        ),
                        fields=("dedupe_key",),
                        name="job_open_once",
                    ),
                ],
            },
        ),
    ]
