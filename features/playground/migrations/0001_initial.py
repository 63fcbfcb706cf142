"""The tables are those of features/evaluations: they are taken over as they are."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("evaluations", "0007_chats_are_of_the_playground"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="PlaygroundChat",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "created_by",
                            models.CharField(help_text="The username of the member who began it.", max_length=150),
                        ),
                        ("model", models.CharField(max_length=200)),
                        ("with_drafts", models.BooleanField(default=False)),
                        (
                            "answers_by_example",
                            models.BooleanField(
                                default=True, help_text="A call without a mock is not put to the person."
                            ),
                        ),
                        (
                            "mocks",
                            models.JSONField(
                                default=list, help_text="Of the case that it began with, as evals.json has them."
                            ),
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
                            models.CharField(
                                blank=True, default="", help_text="Why the model did not answer.", max_length=400
                            ),
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
                        "db_table": "evaluations_playgroundchat",
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
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
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
                        (
                            "sent",
                            models.JSONField(help_text="The body of the request that a reply came to.", null=True),
                        ),
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
                                to="playground.playgroundchat",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "evaluations_playgroundstep",
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
            ]
        ),
    ]
