# Where the core's migrations before 0022 ran, the tables are there, and are taken over by what is replaced here.

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from registry.common.migration_operations import CreateTableOnce


class Migration(migrations.Migration):
    replaces = [("sources", "0001_initial")]

    initial = True

    dependencies = [
        ("registry", "0001_squashed_0024_waivers_are_a_part"),
    ]

    operations = [
        CreateTableOnce(
            name="GitSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("git", "Git"), ("registry", "Registry")],
                        db_default="git",
                        default="git",
                        max_length=16,
                    ),
                ),
                ("url", models.CharField(max_length=1000)),
                (
                    "ref",
                    models.CharField(
                        blank=True, default="", help_text="A branch or a tag; empty: its default.", max_length=200
                    ),
                ),
                (
                    "folder",
                    models.CharField(blank=True, default="", help_text="Empty: the whole repository.", max_length=500),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("draft", "Draft"), ("publish", "Publish")], default="draft", max_length=16
                    ),
                ),
                (
                    "may_adopt",
                    models.BooleanField(
                        db_default=True,
                        default=True,
                        help_text="Whether it may overwrite capabilities that it did not create.",
                    ),
                ),
                ("every_minutes", models.PositiveIntegerField()),
                (
                    "read_key",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="An agent key of the other registry.",
                        max_length=200,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                ("last_synced_at", models.DateTimeField(help_text="The last successful sync.", null=True)),
                (
                    "commit",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The commit, or the revision of a registry, read at the last sync.",
                        max_length=64,
                    ),
                ),
                (
                    "etag",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="ETag of the other registry's list at the last sync.",
                        max_length=200,
                    ),
                ),
                (
                    "failures",
                    models.PositiveIntegerField(
                        default=0, help_text="Consecutive failures since the last successful sync."
                    ),
                ),
                ("last_error", models.CharField(blank=True, default="", max_length=500)),
                (
                    "hook_secret",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Secret that signs the git host's push webhooks.",
                        max_length=100,
                    ),
                ),
                ("hook_secret_at", models.DateTimeField(help_text="When the secret was made.", null=True)),
                ("previous_hook_secret", models.CharField(blank=True, db_default="", default="", max_length=100)),
                (
                    "previous_hook_secret_until",
                    models.DateTimeField(help_text="The previous secret is accepted until then.", null=True),
                ),
                ("pushed_at", models.DateTimeField(help_text="The last push webhook from its git host.", null=True)),
                (
                    "push_result",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The result of the last push webhook.",
                        max_length=300,
                    ),
                ),
                (
                    "sync_requested_at",
                    models.DateTimeField(help_text="A sync that began earlier is followed by another one.", null=True),
                ),
            ],
            options={
                "db_table": "registry_gitsource",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("url", "ref", "folder"), name="git_source_once"),
                    models.CheckConstraint(
                        condition=models.Q(("mode__in", ["draft", "publish"])), name="git_source_mode_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("every_minutes__gte", 1)), name="git_source_pause_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("failures", 0), ("last_error", "")),
                            models.Q(("failures__gt", 0), models.Q(("last_error", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="git_source_failure_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["git", "registry"])), name="git_source_kind_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                models.Q(("kind", "registry"), _negated=True),
                                models.Q(("folder", ""), ("ref", "")),
                                _connector="OR",
                            ),
                            models.Q(
                                models.Q(("kind", "git"), _negated=True),
                                models.Q(("etag", ""), ("read_key", "")),
                                _connector="OR",
                            ),
                        ),
                        name="git_source_columns_fit_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("hook_secret", ""), ("hook_secret_at__isnull", True)),
                            models.Q(("hook_secret_at__isnull", False), models.Q(("hook_secret", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="git_source_secret_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("previous_hook_secret", ""), ("previous_hook_secret_until__isnull", True)),
                            models.Q(
                                ("previous_hook_secret_until__isnull", False),
                                models.Q(("previous_hook_secret", ""), _negated=True),
                                models.Q(("hook_secret", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="git_source_secret_rotation_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("push_result", ""), ("pushed_at__isnull", True)),
                            models.Q(("pushed_at__isnull", False), models.Q(("push_result", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="git_source_push_paired",
                    ),
                ],
            },
        ),
        CreateTableOnce(
            name="GitSourceItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(blank=True, help_text="Below the source; empty: its root.", max_length=1000)),
                (
                    "capability_id",
                    models.CharField(
                        blank=True, help_text="The capability_id; empty if the bundle cannot be read.", max_length=64
                    ),
                ),
                ("files_digest", models.CharField(help_text="SHA-256 over the imported files.", max_length=71)),
                (
                    "declared_digest",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The digest in the other registry's list.",
                        max_length=71,
                    ),
                ),
                (
                    "content_digest",
                    models.CharField(
                        blank=True, help_text="Content digest of its bundle; empty if there is none.", max_length=71
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("published", "Published"),
                            ("unchanged", "Unchanged"),
                            ("draft", "Draft"),
                            ("held", "Held"),
                            ("foreign", "Foreign"),
                            ("refused", "Refused"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "detail",
                    models.CharField(
                        blank=True, default="", help_text="Why it was refused, or why it conflicts.", max_length=500
                    ),
                ),
                (
                    "is_managed",
                    models.BooleanField(
                        db_default=True, default=True, help_text="Whether it was ever imported from this source."
                    ),
                ),
                (
                    "upstream_state",
                    models.CharField(
                        choices=[("present", "Present"), ("deprecated", "Deprecated"), ("gone", "Gone")],
                        db_default="present",
                        default="present",
                        help_text="Its state in the source at the last sync.",
                        max_length=16,
                    ),
                ),
                ("imported_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="sources.gitsource"
                    ),
                ),
            ],
            options={
                "db_table": "registry_gitsourceitem",
                "ordering": ["path"],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "path"), name="git_source_item_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["published", "unchanged", "draft", "held", "foreign", "refused"])
                        ),
                        name="git_source_item_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("upstream_state__in", ["present", "deprecated", "gone"])),
                        name="git_source_item_upstream_state_known",
                    ),
                ],
            },
        ),
    ]
