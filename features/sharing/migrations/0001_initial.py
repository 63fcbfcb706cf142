"""The tables are those of registry/migrations: they are taken over as they are."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("registry", "0029_sharing_is_a_feature"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="ShareLink",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=70, unique=True)),
                        ("token_hash", models.CharField(max_length=64, unique=True)),
                        (
                            "token_prefix",
                            models.CharField(
                                help_text="The first characters of the token, to tell links apart.", max_length=16
                            ),
                        ),
                        (
                            "skill_group",
                            models.CharField(
                                blank=True,
                                default="",
                                help_text="The only skill group that it shows; empty: all.",
                                max_length=64,
                            ),
                        ),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                        ("created_by", models.CharField(max_length=200)),
                        ("expires_at", models.DateTimeField(null=True)),
                        ("revoked_at", models.DateTimeField(null=True)),
                        ("revoked_by", models.CharField(blank=True, default="", max_length=200)),
                    ],
                    options={
                        "db_table": "registry_sharelink",
                        "ordering": ["name"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("revoked_at__isnull", True), ("revoked_by", "")),
                                    models.Q(
                                        ("revoked_at__isnull", False), models.Q(("revoked_by", ""), _negated=True)
                                    ),
                                    _connector="OR",
                                ),
                                name="share_link_revocation_paired",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="InstallCodeRedemption",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("at", models.DateTimeField(default=django.utils.timezone.now)),
                        (
                            "registry_revision",
                            models.BigIntegerField(
                                db_default=0,
                                default=0,
                                help_text="The registry revision that it made; 0 where the key saw the capability before.",
                            ),
                        ),
                        (
                            "capability",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="redemptions",
                                to="registry.capability",
                            ),
                        ),
                        (
                            "key",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="redemptions",
                                to="registry.agentkey",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "registry_installcoderedemption",
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(fields=("capability", "key"), name="install_code_redemption_once")
                        ],
                    },
                ),
            ]
        ),
    ]
