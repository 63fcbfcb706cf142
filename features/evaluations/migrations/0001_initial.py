"""Cases, runs and results."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("registry", "0022_sources_are_a_feature"),
    ]

    operations = [
        migrations.CreateModel(
            name="EvaluationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "side",
                    models.CharField(
                        choices=[("live", "Live"), ("draft", "Draft"), ("without", "Without")], max_length=16
                    ),
                ),
                (
                    "digest",
                    models.CharField(
                        blank=True, default="", help_text="Empty where the capability is left out.", max_length=71
                    ),
                ),
                ("revision", models.PositiveIntegerField(help_text="Of what was live.", null=True)),
                ("model", models.CharField(max_length=200)),
                ("repetitions", models.PositiveIntegerField(default=1)),
                ("total", models.PositiveIntegerField(help_text="Cases times repetitions.")),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "Running"), ("done", "Done"), ("canceled", "Canceled")],
                        default="running",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="registry.capability"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="EvaluationResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.CharField(max_length=200)),
                ("case_digest", models.CharField(max_length=71)),
                ("repetition", models.PositiveIntegerField()),
                ("must", models.BooleanField(default=False)),
                ("failures", models.JSONField(default=list)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("reply_tokens", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0)),
                ("transcript", models.JSONField(default=list, help_text="Forgotten after 30 days.")),
                ("finished_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="results",
                        to="evaluations.evaluationrun",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="SavedCase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("document", models.JSONField()),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("updated_by", models.CharField(max_length=200)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="registry.capability"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("side__in", ["live", "draft", "without"])), name="evaluation_run_side_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["running", "done", "canceled"])), name="evaluation_run_state_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", False), ("state__in", ["done", "canceled"])),
                    models.Q(
                        models.Q(("state__in", ["done", "canceled"]), _negated=True), ("finished_at__isnull", True)
                    ),
                    _connector="OR",
                ),
                name="evaluation_run_end_fits_state",
            ),
        ),
        migrations.AddIndex(
            model_name="evaluationresult",
            index=models.Index(fields=["finished_at"], name="evaluation_result_of_day"),
        ),
        migrations.AddConstraint(
            model_name="evaluationresult",
            constraint=models.UniqueConstraint(fields=("run", "case", "repetition"), name="evaluation_result_once"),
        ),
        migrations.AddConstraint(
            model_name="savedcase",
            constraint=models.UniqueConstraint(fields=("capability", "name"), name="evaluation_case_once"),
        ),
        migrations.AddConstraint(
            model_name="savedcase",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="evaluation_case_name_not_empty"
            ),
        ),
    ]
