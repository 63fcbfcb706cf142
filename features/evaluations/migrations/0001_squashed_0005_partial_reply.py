# What the migrations before it make, in one step; those stay until a version after 0.3.0.

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("evaluations", "0001_initial"),
        ("evaluations", "0002_evaluation_rule"),
        ("evaluations", "0003_outside_results"),
        ("evaluations", "0004_chats"),
        ("evaluations", "0005_partial_reply"),
    ]

    initial = True

    dependencies = [
        ("registry", "0001_squashed_0024_waivers_are_a_part"),
    ]

    operations = [
        migrations.CreateModel(
            name="EvaluationRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "group_id",
                    models.CharField(
                        blank=True, default="", help_text="Empty: the registry.", max_length=64, unique=True
                    ),
                ),
                ("share", models.PositiveSmallIntegerField(help_text="At least so many percent passed.")),
                (
                    "model",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Results of this model count; empty: those of any.",
                        max_length=200,
                    ),
                ),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("updated_by", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["group_id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("share__gte", 1), ("share__lte", 100)),
                        name="evaluation_rule_share_is_percent",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EvaluationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "side",
                    models.CharField(
                        choices=[
                            ("live", "Live"),
                            ("draft", "Draft"),
                            ("without", "Without"),
                            ("revision", "Revision"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "digest",
                    models.CharField(
                        blank=True, default="", help_text="Empty where the capability is left out.", max_length=71
                    ),
                ),
                (
                    "revision",
                    models.PositiveIntegerField(help_text="Of what was live, or the one that was chosen.", null=True),
                ),
                (
                    "tool",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="What played it elsewhere; empty: this registry.",
                        max_length=80,
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("settings", models.JSONField(default=dict, help_text="What it was played with beside the model.")),
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("side__in", ["live", "draft", "without", "revision"])),
                        name="evaluation_run_side_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["running", "done", "canceled"])),
                        name="evaluation_run_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ["done", "canceled"])),
                            models.Q(
                                models.Q(("state__in", ["done", "canceled"]), _negated=True),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="evaluation_run_end_fits_state",
                    ),
                ],
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
                "indexes": [models.Index(fields=["finished_at"], name="evaluation_result_of_day")],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "case", "repetition"), name="evaluation_result_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PlaygroundChat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_by", models.CharField(help_text="The username of the member who began it.", max_length=150)),
                ("model", models.CharField(max_length=200)),
                ("with_drafts", models.BooleanField(default=False)),
                (
                    "answers_by_example",
                    models.BooleanField(default=True, help_text="A call without a mock is not put to the person."),
                ),
                (
                    "mocks",
                    models.JSONField(default=list, help_text="Of the case that it began with, as evals.json has them."),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("idle", "Idle"), ("running", "Running"), ("failed", "Failed")],
                        default="idle",
                        max_length=16,
                    ),
                ),
                (
                    "failure",
                    models.CharField(blank=True, default="", help_text="Why the model did not answer.", max_length=400),
                ),
                (
                    "partial",
                    models.JSONField(
                        help_text="{text, calls}: what has come of the reply that is being written. It is not a step.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["created_by", "-id"], name="playground_chats_of_member")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["idle", "running", "failed"])),
                        name="playground_chat_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PlaygroundStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "member",
                    models.CharField(
                        help_text="Whose budget its tokens count in, also without its chat.", max_length=200
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("message", "Message"),
                            ("reply", "Reply"),
                            ("approval", "Approval"),
                            ("result", "Result"),
                            ("form", "Form"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "content",
                    models.JSONField(
                        default=dict,
                        help_text="{text}; {text, calls}; {approved}; {result} or {error}; {event}, null where it was closed.",
                    ),
                ),
                ("sent", models.JSONField(help_text="The body of the request that a reply came to.", null=True)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("reply_tokens", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0)),
                ("finished_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "chat",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="steps",
                        to="evaluations.playgroundchat",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "indexes": [models.Index(fields=["finished_at"], name="playground_step_of_day")],
                "constraints": [
                    models.UniqueConstraint(fields=("chat", "number"), name="playground_step_once"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["message", "reply", "approval", "result", "form"])),
                        name="playground_step_kind_known",
                    ),
                ],
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
                "constraints": [
                    models.UniqueConstraint(fields=("capability", "name"), name="evaluation_case_once"),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="evaluation_case_name_not_empty"
                    ),
                ],
            },
        ),
    ]
