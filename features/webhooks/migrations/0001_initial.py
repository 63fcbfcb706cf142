"""The tables are those of registry/migrations: they are taken over as they are."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("registry", "0028_webhooks_are_a_feature"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Webhook",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=80, unique=True)),
                        ("url", models.CharField(max_length=2000)),
                        ("secret", models.CharField(help_text="whsec_ + base64", max_length=100)),
                        ("previous_secret", models.CharField(blank=True, default="", max_length=100)),
                        (
                            "previous_secret_until",
                            models.DateTimeField(help_text="The previous secret also signs until then.", null=True),
                        ),
                        (
                            "events",
                            models.JSONField(default=list, help_text="Event types; empty: all but the opt-in ones."),
                        ),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                        ("created_by", models.CharField(max_length=200)),
                        ("disabled_at", models.DateTimeField(null=True)),
                        ("disabled_reason", models.CharField(blank=True, default="", max_length=200)),
                    ],
                    options={
                        "db_table": "registry_webhook",
                        "ordering": ["name"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("disabled_at__isnull", True), ("disabled_reason", "")),
                                    models.Q(
                                        ("disabled_at__isnull", False), models.Q(("disabled_reason", ""), _negated=True)
                                    ),
                                    _connector="OR",
                                ),
                                name="webhook_disabling_paired",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("previous_secret", ""), ("previous_secret_until__isnull", True)),
                                    models.Q(
                                        ("previous_secret_until__isnull", False),
                                        models.Q(("previous_secret", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="webhook_rotation_paired",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("secret__startswith", "whsec_")), name="webhook_secret_form"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WebhookDelivery",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("event_id", models.UUIDField(help_text="The same for each attempt and each webhook.")),
                        ("kind", models.CharField(max_length=40)),
                        (
                            "body",
                            models.TextField(
                                help_text="The JSON that is sent, byte for byte: the signature is over it."
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[("queued", "Queued"), ("delivered", "Delivered"), ("failed", "Failed")],
                                default="queued",
                                max_length=16,
                            ),
                        ),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("last_status", models.PositiveSmallIntegerField(null=True)),
                        ("last_error", models.CharField(blank=True, default="", max_length=500)),
                        ("response_excerpt", models.TextField(blank=True, default="")),
                        ("duration_ms", models.PositiveIntegerField(help_text="Of the last attempt.", null=True)),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                        ("last_attempt_at", models.DateTimeField(null=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        (
                            "webhook",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to="webhooks.webhook",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "registry_webhookdelivery",
                        "ordering": ["-id"],
                        "indexes": [models.Index(fields=["created_at"], name="webhook_delivery_of_day")],
                        "constraints": [
                            models.UniqueConstraint(fields=("webhook", "event_id"), name="webhook_delivery_once"),
                            models.CheckConstraint(
                                condition=models.Q(("state__in", ["queued", "delivered", "failed"])),
                                name="webhook_delivery_state_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("finished_at__isnull", True), ("state", "queued")),
                                    models.Q(
                                        models.Q(("state", "queued"), _negated=True), ("finished_at__isnull", False)
                                    ),
                                    _connector="OR",
                                ),
                                name="webhook_delivery_end_fits_state",
                            ),
                        ],
                    },
                ),
            ]
        ),
    ]
