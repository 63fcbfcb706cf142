"""Waivers and held passages become rows of one table; the two that they were in go."""

from typing import Any

from django.core.management.color import no_style
from django.db import migrations, models

from features.acceptances.former_tables import translate_held_passage, translate_waiver


def move_rows(apps: Any, schema_editor: Any) -> None:
    """Waivers first: they keep their numbers."""
    connection = schema_editor.connection

    def rows(app: str, name: str) -> Any:
        return apps.get_model(app, name).objects.using(connection.alias).order_by("pk").values()

    names = {row["id"]: row["capability_id"] for row in rows("registry", "Capability")}
    acceptance = apps.get_model("acceptances", "Acceptance")
    stored = acceptance.objects.using(connection.alias)
    waivers = rows("acceptances", "Waiver")
    stored.bulk_create([acceptance(**translate_waiver(row, names[row["capability_id"]])) for row in waivers])
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [acceptance]):
            cursor.execute(statement)
    stored.bulk_create([acceptance(**translate_held_passage(row)) for row in rows("registry", "HeldPassage")])


class Migration(migrations.Migration):
    dependencies = [
        ("acceptances", "0001_initial"),
        ("registry", "0026_lines_around_held_passages"),
    ]
    # There the table of held passages is deleted.
    run_before = [("registry", "0027_held_passages_are_a_part")]

    operations = [
        migrations.CreateModel(
            name="Acceptance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("waiver", "Waiver"), ("held_passage", "Held Passage")], max_length=16),
                ),
                ("capability_id", models.CharField(help_text="The id that the texts have.", max_length=64)),
                (
                    "code",
                    models.CharField(blank=True, default="", help_text="Of the finding that is waived.", max_length=64),
                ),
                (
                    "severity",
                    models.CharField(
                        choices=[("error", "Error"), ("warning", "Warning")], default="warning", max_length=16
                    ),
                ),
                ("file", models.CharField(max_length=300)),
                ("line", models.PositiveIntegerField(help_text="Where it was; the text may move.", null=True)),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="What it is for: capability_rules/bundles/finding_fingerprints.py.", max_length=71
                    ),
                ),
                ("message", models.TextField(help_text="Of the finding, when it was found.")),
                ("passage", models.TextField(blank=True, default="", help_text="Its beginning.")),
                (
                    "around",
                    models.TextField(
                        blank=True, default="", help_text="The lines around it, of texts that are kept nowhere else."
                    ),
                ),
                (
                    "submitted_by",
                    models.JSONField(default=list, help_text="Who sent or edited the held texts, as actors."),
                ),
                (
                    "seen_at",
                    models.DateTimeField(
                        help_text="When held texts were refused or imported the last time.", null=True
                    ),
                ),
                ("reason", models.TextField(blank=True, default="")),
                ("accepted_at", models.DateTimeField(help_text="Until then it waits.", null=True)),
                ("accepted_by", models.CharField(blank=True, default="", max_length=200)),
                (
                    "is_alone",
                    models.BooleanField(default=False, help_text="Decided by somebody who had sent or edited it."),
                ),
                ("until", models.DateField(help_text="From this day on (UTC) a waiver does not count.", null=True)),
                (
                    "ended_at",
                    models.DateTimeField(help_text="Of a waiver by a person, else by a quarantine.", null=True),
                ),
                ("ended_by", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["capability_id", "fingerprint"], name="acceptance_of_finding")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True), ("kind", "held_passage")),
                        fields=("capability_id", "fingerprint"),
                        name="acceptance_passage_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("severity__in", ["error", "warning"])), name="acceptance_severity_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("fingerprint__startswith", "sha256:")), name="acceptance_fingerprint_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("accepted_at__isnull", True), ("accepted_by", "")),
                            models.Q(("accepted_at__isnull", False), models.Q(("accepted_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="acceptance_decision_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("accepted_at__isnull", True), ("reason", "")),
                            models.Q(("accepted_at__isnull", False), models.Q(("reason", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="acceptance_reason_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("ended_by", "")),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("kind", "waiver"),
                                models.Q(("ended_by", ""), _negated=True),
                            ),
                            models.Q(("accepted_at__isnull", False), ("ended_by", ""), ("kind", "held_passage")),
                            _connector="OR",
                        ),
                        name="acceptance_end_fits_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("accepted_at__isnull", False),
                                ("kind", "waiver"),
                                ("until__isnull", False),
                                models.Q(("code", ""), _negated=True),
                            ),
                            models.Q(
                                ("code", ""),
                                ("kind", "held_passage"),
                                ("seen_at__isnull", False),
                                ("severity", "warning"),
                                ("until__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="acceptance_fits_kind",
                    ),
                ],
            },
        ),
        migrations.RunPython(move_rows),
        migrations.DeleteModel(
            name="Waiver",
        ),
    ]
