"""The tables are those of registry/migrations: they are taken over as they are."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("registry", "0037_clawhub_is_a_feature"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="SkillUpload",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("upload_id", models.UUIDField(default=uuid.uuid4, unique=True)),
                        ("key_name", models.CharField(max_length=80)),
                        ("path", models.CharField(max_length=500)),
                        ("size", models.PositiveIntegerField(help_text="Announced size in bytes.")),
                        ("sha256", models.CharField(help_text="Announced SHA-256 in hexadecimal.", max_length=64)),
                        ("content", models.BinaryField(help_text="Null until the content has arrived.", null=True)),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                    ],
                    options={
                        "db_table": "registry_skillupload",
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(fields=["key_name", "created_at"], name="skill_upload_of_key"),
                            models.Index(fields=["created_at"], name="skill_upload_of_hour"),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("key_name", ""), _negated=True), name="skill_upload_key_not_empty"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("path", ""), _negated=True), name="skill_upload_path_not_empty"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="UploadedSkill",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("fingerprint", models.CharField(max_length=64)),
                        (
                            "revision",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="registry.revision"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "registry_uploadedskill",
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(fields=("revision", "fingerprint"), name="uploaded_skill_once")
                        ],
                    },
                ),
            ]
        ),
    ]
