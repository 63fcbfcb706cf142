# What the migrations before it make, in one step: an empty database costs half of the time. Those stay, for databases that
# have some of them, until a version after 0.3.0. Constraints stand with their tables: to add one alone makes Django build
# every model again.

import uuid

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import registry.models.install_code


class Migration(migrations.Migration):
    replaces = [
        ("registry", "0001_initial"),
        ("registry", "0002_review_reviewers"),
        ("registry", "0003_signed_history"),
        ("registry", "0004_quarantine"),
        ("registry", "0005_skill_group_owner"),
        ("registry", "0006_waivers_and_scan_results"),
        ("registry", "0007_revision_editors"),
        ("registry", "0008_key_limits"),
        ("registry", "0009_install_code_revision"),
        ("registry", "0010_held_passages"),
        ("registry", "0020_git_import_as_id"),
        ("registry", "0021_incident_subject"),
        ("registry", "0022_sources_are_a_feature"),
        ("registry", "0023_incidents_of_tools"),
        ("registry", "0024_waivers_are_a_part"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True)),
                ("key_hash", models.CharField(max_length=64, unique=True)),
                ("key_prefix", models.CharField(help_text="The first characters, to tell keys apart.", max_length=16)),
                ("scopes", models.JSONField(default=list)),
                (
                    "groups",
                    models.JSONField(default=None, help_text="The skill groups that it can see; null: all.", null=True),
                ),
                (
                    "capability_ids",
                    models.JSONField(
                        default=None,
                        help_text="It changes and creates these capabilities alone; null: no such limit.",
                        null=True,
                    ),
                ),
                (
                    "read_only_tools",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Write tools are left out of its responses."
                    ),
                ),
                (
                    "preview",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Drafts are served to it as if published."
                    ),
                ),
                (
                    "visibility_revision",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="The registry revision at which it was created or its groups were changed.",
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField(help_text="Refused from then on; null: never.", null=True)),
                (
                    "previous_key_hash",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Hash of the previous key, or empty.",
                        max_length=64,
                    ),
                ),
                (
                    "previous_until",
                    models.DateTimeField(help_text="The previous key is accepted until then.", null=True),
                ),
                ("revoked_at", models.DateTimeField(null=True)),
                ("revoked_by", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("revoked_at__isnull", True), ("revoked_by", "")),
                            models.Q(("revoked_at__isnull", False), models.Q(("revoked_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="agent_key_revocation_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("previous_key_hash", ""), ("previous_until__isnull", True)),
                            models.Q(
                                ("previous_until__isnull", False), models.Q(("previous_key_hash", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="agent_key_rotation_paired",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("previous_key_hash", ""), _negated=True),
                        fields=("previous_key_hash",),
                        name="agent_key_previous_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Operator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer"),
                            ("author", "Author"),
                            ("publisher", "Publisher"),
                            ("admin", "Admin"),
                        ],
                        default="viewer",
                        max_length=16,
                    ),
                ),
                ("must_change_password", models.BooleanField(default=False)),
                (
                    "session_epoch",
                    models.PositiveIntegerField(
                        db_default=0, default=0, help_text="Sessions of earlier ones are void."
                    ),
                ),
                (
                    "tour_marks",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Steps of the tour that were opened, and `left`; by dots.",
                        max_length=80,
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["viewer", "author", "publisher", "admin"])),
                        name="operator_role_known",
                    )
                ],
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_name", models.CharField(max_length=200)),
                ("verb", models.CharField(max_length=40)),
                (
                    "subject",
                    models.CharField(help_text="A capability_id, a key's or an operator's name.", max_length=200),
                ),
                ("detail", models.JSONField(default=dict)),
                ("previous_hash", models.CharField(max_length=64, unique=True)),
                ("hash", models.CharField(max_length=64, unique=True)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["subject", "-id"], name="audit_of_subject"),
                    models.Index(fields=["actor_name", "-id"], name="audit_of_actor"),
                    models.Index(fields=["verb", "-id"], name="audit_of_verb"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Capability",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("capability_id", models.CharField(max_length=64, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("published", "Published"),
                            ("deprecated", "Deprecated"),
                            ("retired", "Retired"),
                            ("quarantined", "Quarantined"),
                        ],
                        default="draft",
                        max_length=16,
                    ),
                ),
                (
                    "visibility",
                    models.CharField(
                        choices=[("listed", "Listed"), ("unlisted", "Unlisted")],
                        db_default="listed",
                        default="listed",
                        max_length=16,
                    ),
                ),
                (
                    "install_code",
                    models.CharField(default=registry.models.install_code.new_code, max_length=20, unique=True),
                ),
                (
                    "draft_counter",
                    models.PositiveIntegerField(
                        default=0, help_text="The version of the newest draft, discarded ones included."
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "replaced_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="replaces",
                        to="registry.capability",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "capabilities",
                "ordering": ["capability_id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["draft", "published", "deprecated", "retired", "quarantined"])
                        ),
                        name="capability_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("replaced_by__isnull", True),
                            models.Q(
                                models.Q(("replaced_by", models.F("id")), _negated=True),
                                ("status__in", ["deprecated", "retired", "quarantined"]),
                            ),
                            _connector="OR",
                        ),
                        name="capability_replacement_fits_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("capability_id", ""), _negated=True), name="capability_id_not_empty"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("visibility__in", ["listed", "unlisted"])),
                        name="capability_visibility_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("install_code__startswith", "SKILL-")), name="capability_install_code_form"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                (
                    "number",
                    models.BigIntegerField(help_text="1, 2, 3 ... without a gap.", primary_key=True, serialize=False),
                ),
                ("registry_revision", models.BigIntegerField()),
                ("hash", models.CharField(help_text="Hex SHA-256 of the signed payload.", max_length=64, unique=True)),
                ("envelope", models.TextField(help_text="DSSE envelope as JSON.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="checkpoint_number_positive")
                ],
            },
        ),
        migrations.CreateModel(
            name="Confidence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "revision",
                    models.PositiveIntegerField(default=0, help_text="The number of a revision; 0 for all of them."),
                ),
                (
                    "percent",
                    models.PositiveSmallIntegerField(
                        default=50, help_text="The confidence score in percent, 0 to 100."
                    ),
                ),
                ("uses", models.PositiveBigIntegerField(default=0)),
                ("confirmed", models.PositiveBigIntegerField(default=0)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="confidences",
                        to="registry.capability",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("capability", "revision"), name="confidence_once"),
                    models.CheckConstraint(condition=models.Q(("percent__lte", 100)), name="confidence_within_bounds"),
                    models.CheckConstraint(
                        condition=models.Q(("confirmed__lte", models.F("uses"))), name="confidence_confirmed_are_uses"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DraftVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "version",
                    models.PositiveIntegerField(help_text="The version of the draft while it had these texts."),
                ),
                ("content", models.BinaryField(help_text="All files, {path: text} as JSON, compressed by zlib.")),
                ("size_bytes", models.PositiveIntegerField(help_text="Of the compressed content.")),
                ("saved_at", models.DateTimeField()),
                ("saved_by", models.CharField(max_length=200)),
                (
                    "editors",
                    models.JSONField(default=list, help_text="Everyone who had edited the draft by then, as actors."),
                ),
                ("replaced_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("replaced_by", models.CharField(max_length=200)),
                (
                    "change",
                    models.JSONField(default=dict, help_text="What the save that replaced it changed, as counts."),
                ),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="draft_versions",
                        to="registry.capability",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["replaced_at"], name="draft_version_replaced_at")],
                "constraints": [
                    models.UniqueConstraint(fields=("capability", "version"), name="draft_version_kept_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="FeedbackEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("revision", models.PositiveIntegerField(help_text="The number of the revision that was used.")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("confirmed_success", "Confirmed Success"),
                            ("likely_success", "Likely Success"),
                            ("likely_failure", "Likely Failure"),
                            ("confirmed_failure", "Confirmed Failure"),
                            ("used", "Used"),
                        ],
                        max_length=24,
                    ),
                ),
                ("key_name", models.CharField(max_length=80)),
                (
                    "step",
                    models.SmallIntegerField(
                        blank=True,
                        help_text="By how many hundredths it moves the confidence; empty: by the whole step of its outcome.",
                        null=True,
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="outcomes", to="registry.capability"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["capability", "id"], name="feedback_event_of_capability"),
                    models.Index(fields=["capability", "key_name", "at"], name="feedback_event_of_key"),
                    models.Index(fields=["capability", "revision", "outcome"], name="feedback_event_of_revision"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                ["confirmed_success", "likely_success", "likely_failure", "confirmed_failure", "used"],
                            )
                        ),
                        name="feedback_event_outcome_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("revision__gte", 1)), name="feedback_event_revision_positive"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GitImport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(max_length=500)),
                ("replace_existing", models.BooleanField(default=False)),
                (
                    "as_id",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The capability_id of its one Agent Skill, or empty.",
                        max_length=64,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("fetching", "Fetching"),
                            ("checking", "Checking"),
                            ("stored", "Stored"),
                            ("refused", "Refused"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("found", models.PositiveIntegerField(default=0)),
                ("results", models.JSONField(default=list)),
                (
                    "reason",
                    models.TextField(blank=True, default="", help_text="Why nothing could be read; empty otherwise."),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "fetching", "checking", "stored", "refused"])),
                        name="git_import_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ["stored", "refused"])),
                            models.Q(
                                models.Q(("state__in", ["stored", "refused"]), _negated=True),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="git_import_end_fits_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HeldPassage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("capability_id", models.CharField(help_text="The id that the texts have.", max_length=64)),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="Of file and passage: capability_rules/bundles/finding_fingerprints.py.",
                        max_length=71,
                    ),
                ),
                ("file", models.CharField(max_length=300)),
                ("line", models.PositiveIntegerField(help_text="Where it was; the text may move.", null=True)),
                ("passage", models.TextField(help_text="Its beginning.")),
                ("doubt", models.TextField(help_text="What it may be read as, in a sentence.")),
                ("submitted_by", models.JSONField(default=list, help_text="Who sent or edited the texts, as actors.")),
                (
                    "seen_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="When the texts were refused or imported the last time.",
                    ),
                ),
                ("accepted_at", models.DateTimeField(null=True)),
                ("accepted_by", models.CharField(blank=True, default="", max_length=200)),
                ("reason", models.TextField(blank=True, default="")),
                (
                    "is_alone",
                    models.BooleanField(default=False, help_text="Decided by somebody who had sent or edited it."),
                ),
                (
                    "ended_at",
                    models.DateTimeField(help_text="A quarantine ends what was decided before it.", null=True),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=("capability_id", "fingerprint"),
                        name="held_passage_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("fingerprint__startswith", "sha256:")), name="held_passage_fingerprint_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("accepted_at__isnull", True), ("accepted_by", "")),
                            models.Q(("accepted_at__isnull", False), models.Q(("accepted_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="held_passage_decision_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("accepted_at__isnull", True), ("reason", "")),
                            models.Q(("accepted_at__isnull", False), models.Q(("reason", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="held_passage_reason_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ended_at__isnull", True), ("accepted_at__isnull", False), _connector="OR"),
                        name="held_passage_end_of_decision",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("caller", models.CharField(help_text="The actor, such as agent_key:name.", max_length=200)),
                ("idempotency_key", models.CharField(max_length=255)),
                ("fingerprint", models.CharField(help_text="SHA-256 over the request.", max_length=64)),
                ("response", models.TextField(help_text="The response as the endpoint wrote it.")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "indexes": [models.Index(fields=["at"], name="idempotency_record_of_day")],
                "constraints": [
                    models.UniqueConstraint(fields=("caller", "idempotency_key"), name="idempotency_record_once"),
                    models.CheckConstraint(
                        condition=models.Q(("idempotency_key", ""), _negated=True),
                        name="idempotency_record_key_not_empty",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="InstallCodeRedemption",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="redemptions", to="registry.agentkey"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("capability", "key"), name="install_code_redemption_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=64)),
                ("payload", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("parked", "Parked"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                (
                    "dedupe_key",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="At most one open job per key; empty: no limit.",
                        max_length=200,
                    ),
                ),
                (
                    "concurrency_key",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Jobs with the same key run one after another; empty: no limit.",
                        max_length=64,
                    ),
                ),
                ("run_after", models.DateTimeField(default=django.utils.timezone.now)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("max_attempts", models.PositiveSmallIntegerField(db_default=5, default=5)),
                ("lease_expires_at", models.DateTimeField(null=True)),
                ("fencing_token", models.PositiveIntegerField(default=0, help_text="The number of the newest lease.")),
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
                        condition=models.Q(("state__in", ["queued", "running", "done", "parked", "cancelled"])),
                        name="job_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_expires_at__isnull", False), ("state", "running")),
                            models.Q(models.Q(("state", "running"), _negated=True), ("lease_expires_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="job_lease_fits_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ["done", "parked", "cancelled"])),
                            models.Q(
                                models.Q(("state__in", ["done", "parked", "cancelled"]), _negated=True),
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
        migrations.CreateModel(
            name="LoadCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("capability_id", models.CharField(max_length=64)),
                ("revision", models.PositiveIntegerField()),
                ("key_name", models.CharField(blank=True, default="", max_length=80)),
                ("count", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "capability_id", "revision", "key_name"), name="load_count_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MatchClassifier",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fingerprint", models.CharField(max_length=64)),
                (
                    "model_id",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Empty: the message was matched by words only.",
                        max_length=200,
                    ),
                ),
                ("samples", models.PositiveIntegerField()),
                ("classes", models.PositiveIntegerField()),
                ("weights", models.BinaryField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("model_id", "fingerprint"), name="match_classifier_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="MatchCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("decision", models.CharField(help_text="match, ambiguous or none.", max_length=16)),
                ("count", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("day", "decision"), name="match_count_unique")],
            },
        ),
        migrations.CreateModel(
            name="Proposal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("capability_json", models.TextField(null=True)),
                ("skill_md", models.TextField(null=True)),
                ("tools_json", models.TextField(null=True)),
                ("ui_schemas_json", models.TextField(null=True)),
                (
                    "supporting_files",
                    models.JSONField(
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="{path: text} of the supporting files.",
                    ),
                ),
                ("proposal_id", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("note", models.TextField(blank=True, default="")),
                ("key_name", models.CharField(max_length=80)),
                (
                    "near_duplicates",
                    models.JSONField(default=list, help_text="Similar capabilities when it was submitted."),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("published", "Published"),
                            ("rejected", "Rejected"),
                            ("superseded", "Superseded"),
                        ],
                        default="draft",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, default="", max_length=200)),
                ("decision_note", models.TextField(blank=True, default="")),
                (
                    "published_revision",
                    models.PositiveIntegerField(help_text="The number that it was published as.", null=True),
                ),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="proposals", to="registry.capability"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["key_name", "status"], name="proposal_of_key")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["draft", "published", "rejected", "superseded"])),
                        name="proposal_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("decided_by", ""), ("status", "draft")),
                            models.Q(
                                models.Q(("status", "draft"), _negated=True),
                                ("decided_at__isnull", False),
                                models.Q(("decided_by", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="proposal_decision_fits_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("published_revision__isnull", False), ("status", "published")),
                            models.Q(
                                models.Q(("status", "published"), _negated=True), ("published_revision__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="proposal_revision_fits_status",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "draft")),
                        fields=("capability", "key_name"),
                        name="proposal_open_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RegistryState",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                (
                    "registry_revision",
                    models.BigIntegerField(default=0, help_text="Increased by every change of what agents can read."),
                ),
                (
                    "access_revision",
                    models.BigIntegerField(
                        default=0, help_text="Increased by every change of keys, groups and settings."
                    ),
                ),
                (
                    "feedback_revision",
                    models.BigIntegerField(db_default=0, default=0, help_text="Increased by each feedback event."),
                ),
                (
                    "epoch",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Replaced by each restore: what a process has cached from another epoch is invalid.",
                        max_length=32,
                    ),
                ),
                (
                    "first_run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="registry.capability",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="registry_state_single_row")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReleaseRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "group_id",
                    models.CharField(
                        blank=True, default="", help_text="Empty: the registry.", max_length=64, unique=True
                    ),
                ),
                (
                    "four_eyes",
                    models.BooleanField(default=False, help_text="A second person must approve what is published."),
                ),
                (
                    "loosening",
                    models.CharField(
                        choices=[("publisher", "Publisher"), ("admin", "Admin"), ("second_person", "Second Person")],
                        default="publisher",
                        max_length=16,
                    ),
                ),
                ("note_required", models.BooleanField(default=False)),
                (
                    "comments_resolved",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="No comment of the review may be open when it is published.",
                    ),
                ),
                (
                    "held_requires_review",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Texts with a passage that the security checks doubt need an approval.",
                    ),
                ),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("updated_by", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["group_id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("loosening__in", ["publisher", "admin", "second_person"])),
                        name="release_rule_loosening_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("capability_json", models.TextField(null=True)),
                ("skill_md", models.TextField(null=True)),
                ("tools_json", models.TextField(null=True)),
                ("ui_schemas_json", models.TextField(null=True)),
                (
                    "supporting_files",
                    models.JSONField(
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="{path: text} of the supporting files.",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("approved", "Approved"),
                            ("sent_back", "Changes Requested"),
                            ("withdrawn", "Withdrawn"),
                            ("published", "Published"),
                        ],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("round", models.PositiveIntegerField(default=1)),
                ("draft_version", models.PositiveIntegerField()),
                (
                    "files_digest",
                    models.CharField(
                        help_text="SHA-256 over the files: the approval is for exactly these.", max_length=71
                    ),
                ),
                ("editors", models.JSONField(default=list, help_text="Everyone who edited the draft, as actors.")),
                (
                    "reviewers",
                    models.JSONField(
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="Usernames of those who are asked to review.",
                    ),
                ),
                (
                    "note",
                    models.TextField(
                        blank=True, default="", help_text="What the change is for, in the author's words."
                    ),
                ),
                ("requested_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("requested_by", models.CharField(max_length=200)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, default="", max_length=200)),
                ("revision", models.PositiveIntegerField(help_text="The number that it was published as.", null=True)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reviews", to="registry.capability"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["state", "-requested_at"], name="review_by_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "approved", "sent_back", "withdrawn", "published"])),
                        name="review_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["open", "approved", "sent_back"])),
                        fields=("capability",),
                        name="review_one_per_capability",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("decided_by", "")),
                            models.Q(("decided_at__isnull", False), models.Q(("decided_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="review_decision_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["approved", "sent_back"]), _negated=True),
                            ("decided_at__isnull", False),
                            _connector="OR",
                        ),
                        name="review_decision_fits_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("revision__isnull", False), ("state", "published")),
                            models.Q(models.Q(("state", "published"), _negated=True), ("revision__isnull", True)),
                            _connector="OR",
                        ),
                        name="review_revision_fits_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("asked", "Asked"),
                            ("asked_again", "Asked Again"),
                            ("comment", "Comment"),
                            ("approved", "Approved"),
                            ("sent_back", "Changes Requested"),
                            ("withdrawn", "Withdrawn"),
                            ("published", "Published"),
                        ],
                        max_length=16,
                    ),
                ),
                ("round", models.PositiveIntegerField()),
                ("by", models.CharField(max_length=200)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("words", models.TextField(blank=True, default="")),
                ("file", models.CharField(blank=True, default="", max_length=32)),
                ("line", models.PositiveIntegerField(help_text="In the text that was submitted, from 1.", null=True)),
                ("code", models.CharField(blank=True, default="", help_text="Of a finding.", max_length=64)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("resolved_by", models.CharField(blank=True, db_default="", default="", max_length=200)),
                (
                    "reply_to",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="registry.reviewentry",
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="registry.review"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "review entries",
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                ["asked", "asked_again", "comment", "approved", "sent_back", "withdrawn", "published"],
                            )
                        ),
                        name="review_entry_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("line__isnull", True),
                            models.Q(("line__gte", 1), models.Q(("file", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="review_entry_line_has_file",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reply_to__isnull", True),
                            models.Q(
                                ("code", ""),
                                ("file", ""),
                                ("kind", "comment"),
                                ("line__isnull", True),
                                ("resolved_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="review_entry_reply_is_a_comment_of_no_place",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resolved_at__isnull", True), ("resolved_by", "")),
                            models.Q(
                                ("kind", "comment"),
                                ("resolved_at__isnull", False),
                                models.Q(("resolved_by", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="review_entry_resolved_paired",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("capability_json", models.TextField(null=True)),
                ("skill_md", models.TextField(null=True)),
                ("tools_json", models.TextField(null=True)),
                ("ui_schemas_json", models.TextField(null=True)),
                (
                    "supporting_files",
                    models.JSONField(
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="{path: text} of the supporting files.",
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=80)),
                ("digest", models.CharField(help_text="What agents see: sha256: + hex.", max_length=71)),
                ("content_digest", models.CharField(help_text="As `digest`, over the utterances too.", max_length=71)),
                (
                    "files_digest",
                    models.CharField(help_text="SHA-256 over the stored files: shows a damaged row.", max_length=71),
                ),
                (
                    "rules_version",
                    models.CharField(help_text="The version of the validation rules that accepted it.", max_length=16),
                ),
                (
                    "read_only_digest",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Without its write tools, for read-only keys; empty: unknown.",
                        max_length=71,
                    ),
                ),
                (
                    "simhash",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="SimHash (matching/near_duplicates.py); empty: not known.",
                        max_length=32,
                    ),
                ),
                (
                    "signature",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="DSSE envelope as JSON; empty: published before revisions were signed.",
                    ),
                ),
                ("note", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                (
                    "approved_by",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The independent approver, if there is one.",
                        max_length=200,
                    ),
                ),
                (
                    "editors",
                    models.JSONField(
                        default=None,
                        help_text="Everyone who edited its draft, as actors; null: from before this was kept.",
                        null=True,
                    ),
                ),
                (
                    "held_decisions",
                    models.JSONField(
                        db_default=[],
                        default=list,
                        help_text="[{by, reason, at, alone, file, line}] of its passages that were held.",
                    ),
                ),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="revisions", to="registry.capability"
                    ),
                ),
            ],
            options={
                "ordering": ["capability", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("capability", "number"), name="revision_number_unique"),
                    models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="revision_number_positive"),
                    models.CheckConstraint(
                        condition=models.Q(("digest__startswith", "sha256:")), name="revision_digest_form"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                ("registry_revision", models.BigIntegerField(primary_key=True, serialize=False)),
                ("status", models.CharField(max_length=16)),
                (
                    "replaced_by",
                    models.CharField(blank=True, default="", help_text="A capability_id, or empty.", max_length=64),
                ),
                (
                    "visibility",
                    models.CharField(
                        choices=[("listed", "Listed"), ("unlisted", "Unlisted")],
                        db_default="listed",
                        default="listed",
                        max_length=16,
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="releases", to="registry.capability"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="releases", to="registry.revision"
                    ),
                ),
            ],
            options={
                "ordering": ["registry_revision"],
                "indexes": [models.Index(fields=["capability", "-registry_revision"], name="release_of_capability")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["published", "deprecated", "retired", "quarantined"])),
                        name="release_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("registry_revision__gte", 1)), name="release_revision_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("visibility__in", ["listed", "unlisted"])), name="release_visibility_known"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Incident",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source_id", models.BigIntegerField(help_text="The number of the source.", null=True)),
                (
                    "subject",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="Where the source is.", max_length=2000
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("bundle", "Bundle"), ("release", "Release"), ("source", "Source"), ("tool", "Tool")],
                        db_default="bundle",
                        default="bundle",
                        max_length=16,
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        help_text="SHA-256 over the fault: the same fault is one incident.", max_length=64
                    ),
                ),
                ("message", models.TextField()),
                ("details", models.TextField()),
                ("findings", models.JSONField(default=list)),
                ("count", models.PositiveBigIntegerField(default=1)),
                ("first_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "capability",
                    models.ForeignKey(
                        help_text="Null where it is about a source.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidents",
                        to="registry.capability",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        help_text="The revision that agents should have received; null if nothing was ever published.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incidents",
                        to="registry.revision",
                    ),
                ),
            ],
            options={
                "ordering": ["-last_seen_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=("capability", "cause"),
                        name="incident_open_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=("source_id",),
                        name="incident_of_source_open_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["bundle", "release", "source", "tool"])),
                        name="incident_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "bundle"), _negated=True), ("revision__isnull", False), _connector="OR"
                        ),
                        name="incident_revision_fits_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("capability__isnull", True),
                                ("kind", "source"),
                                ("revision__isnull", True),
                                ("source_id__isnull", False),
                            ),
                            models.Q(
                                models.Q(("kind", "source"), _negated=True),
                                ("capability__isnull", False),
                                ("source_id__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="incident_subject_fits_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("capability_json", models.TextField(null=True)),
                ("skill_md", models.TextField(null=True)),
                ("tools_json", models.TextField(null=True)),
                ("ui_schemas_json", models.TextField(null=True)),
                (
                    "supporting_files",
                    models.JSONField(
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="{path: text} of the supporting files.",
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                (
                    "digest",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Empty if validation failed when it was saved.",
                        max_length=71,
                    ),
                ),
                ("saved_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("saved_by", models.CharField(max_length=200)),
                (
                    "editors",
                    models.JSONField(db_default=[], default=list, help_text="Everyone who edited it, as actors."),
                ),
                ("discarded_at", models.DateTimeField(null=True)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="drafts", to="registry.capability"
                    ),
                ),
                (
                    "proposal",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="drafts",
                        to="registry.proposal",
                    ),
                ),
                (
                    "base_revision",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="registry.revision"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("discarded_at__isnull", True)),
                        fields=("capability",),
                        name="draft_one_per_capability",
                    ),
                    models.UniqueConstraint(fields=("capability", "version"), name="draft_version_unique"),
                ],
            },
        ),
        migrations.AddField(
            model_name="capability",
            name="published_revision",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="registry.revision"
            ),
        ),
        migrations.CreateModel(
            name="ScanResults",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "files_digest",
                    models.CharField(help_text="SHA-256 over the files that were scanned.", max_length=71),
                ),
                ("tool", models.CharField(max_length=80)),
                ("tool_version", models.CharField(blank=True, default="", max_length=80)),
                (
                    "results",
                    models.JSONField(
                        default=list,
                        help_text="[{severity, rule_id, file, line, column, message}] of errors and warnings.",
                    ),
                ),
                ("notes", models.PositiveIntegerField(default=0, help_text="How many results are only notes.")),
                (
                    "suppressed",
                    models.PositiveIntegerField(default=0, help_text="How many results the tool has suppressed."),
                ),
                ("uploaded_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("uploaded_by", models.CharField(max_length=200)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scan_results",
                        to="registry.capability",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "scan results",
                "ordering": ["-uploaded_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("capability", "files_digest", "tool"), name="scan_results_one_per_tool"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("files_digest__startswith", "sha256:")), name="scan_results_digest_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("tool", ""), _negated=True), name="scan_results_tool_not_empty"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScheduledRelease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("draft_version", models.PositiveIntegerField()),
                (
                    "files_digest",
                    models.CharField(help_text="SHA-256 over the files: exactly these are published.", max_length=71),
                ),
                ("due_at", models.DateTimeField()),
                ("note", models.TextField(blank=True, default="")),
                (
                    "acknowledged",
                    models.JSONField(default=list, help_text="The codes of findings that were acknowledged."),
                ),
                ("scheduled_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "scheduled_by",
                    models.CharField(help_text="The actor in whose name it is published.", max_length=200),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True, default="", help_text="Why it was not published.")),
                ("revision", models.PositiveIntegerField(help_text="The number that it was published as.", null=True)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scheduled_releases",
                        to="registry.capability",
                    ),
                ),
            ],
            options={
                "ordering": ["due_at", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "done", "failed", "cancelled"])),
                        name="scheduled_release_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("state", "waiting")),
                            models.Q(models.Q(("state", "waiting"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="scheduled_release_end_fits_state",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")),
                        fields=("capability",),
                        name="scheduled_release_one_waiting",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SentenceVector",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_id", models.CharField(max_length=200)),
                ("text_sha256", models.CharField(max_length=64)),
                ("dimension", models.PositiveIntegerField()),
                ("vector", models.BinaryField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("model_id", "text_sha256"), name="sentence_vector_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ShareLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("revoked_at__isnull", True), ("revoked_by", "")),
                            models.Q(("revoked_at__isnull", False), models.Q(("revoked_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="share_link_revocation_paired",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SkillUpload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("upload_id", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("key_name", models.CharField(max_length=80)),
                ("path", models.CharField(max_length=500)),
                ("size", models.PositiveIntegerField(help_text="Announced size in bytes.")),
                ("sha256", models.CharField(help_text="Announced SHA-256 in hexadecimal.", max_length=64)),
                ("content", models.BinaryField(help_text="Null until the content has arrived.", null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
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
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True)),
                ("description", models.CharField(blank=True, default="", max_length=400)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="team_name_not_empty")
                ],
            },
        ),
        migrations.CreateModel(
            name="SkillGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("group_id", models.CharField(max_length=64, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("description", models.CharField(blank=True, default="", max_length=1024)),
                ("examples", models.JSONField(default=list)),
                ("is_exclusive", models.BooleanField(default=False)),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only its members and admins change the group; empty: every publisher does.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="skill_groups",
                        to="registry.team",
                    ),
                ),
            ],
            options={
                "ordering": ["group_id"],
            },
        ),
        migrations.AddField(
            model_name="capability",
            name="team",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="capabilities", to="registry.team"
            ),
        ),
        migrations.AddField(
            model_name="agentkey",
            name="team",
            field=models.ForeignKey(
                help_text="It changes what belongs to this team, and nothing else; null: no such limit.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="keys",
                to="registry.team",
            ),
        ),
        migrations.CreateModel(
            name="TeamMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "operator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="registry.team"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("team", "operator"), name="team_member_once")],
            },
        ),
        migrations.CreateModel(
            name="ToolName",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "capability",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tool_names", to="registry.capability"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UnknownCapabilityRequest",
            fields=[
                ("count", models.PositiveBigIntegerField(default=0)),
                (
                    "requested_by",
                    models.JSONField(help_text="{key name: number of requests}, at most 20 keys.", null=True),
                ),
                ("first_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("dismissed_at", models.DateTimeField(null=True)),
                ("dismissed_by", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("dismissed_count", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("capability_id", models.CharField(max_length=64, primary_key=True, serialize=False)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("dismissed_at__isnull", True), ("dismissed_by", "")),
                            models.Q(("dismissed_at__isnull", False), models.Q(("dismissed_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="unknown_request_dismissal_paired",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UnmatchedMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("count", models.PositiveBigIntegerField(default=0)),
                (
                    "requested_by",
                    models.JSONField(help_text="{key name: number of requests}, at most 20 keys.", null=True),
                ),
                ("first_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("dismissed_at", models.DateTimeField(null=True)),
                ("dismissed_by", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("dismissed_count", models.PositiveBigIntegerField(db_default=0, default=0)),
                (
                    "form",
                    models.CharField(
                        help_text="SHA-256 of the stems of its content words.", max_length=64, unique=True
                    ),
                ),
                ("text", models.CharField(max_length=200)),
                ("decision", models.CharField(choices=[("none", "None"), ("ambiguous", "Ambiguous")], max_length=16)),
                (
                    "nearest",
                    models.CharField(blank=True, default="", help_text="The best near miss, or empty.", max_length=64),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["last_seen_at"], name="unmatched_last_seen")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("dismissed_at__isnull", True), ("dismissed_by", "")),
                            models.Q(("dismissed_at__isnull", False), models.Q(("dismissed_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="unmatched_dismissal_paired",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("decision__in", ["none", "ambiguous"])), name="unmatched_decision_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("text", ""), _negated=True), name="unmatched_text_not_empty"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UploadedSkill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fingerprint", models.CharField(max_length=64)),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="registry.revision"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("revision", "fingerprint"), name="uploaded_skill_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True)),
                ("url", models.CharField(max_length=2000)),
                ("secret", models.CharField(help_text="whsec_ + base64", max_length=100)),
                ("previous_secret", models.CharField(blank=True, default="", max_length=100)),
                (
                    "previous_secret_until",
                    models.DateTimeField(help_text="The previous secret also signs until then.", null=True),
                ),
                ("events", models.JSONField(default=list, help_text="Event types; empty: all but the opt-in ones.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
                ("disabled_at", models.DateTimeField(null=True)),
                ("disabled_reason", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("disabled_at__isnull", True), ("disabled_reason", "")),
                            models.Q(("disabled_at__isnull", False), models.Q(("disabled_reason", ""), _negated=True)),
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
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.UUIDField(help_text="The same for each attempt and each webhook.")),
                ("kind", models.CharField(max_length=40)),
                ("body", models.TextField(help_text="The JSON that is sent, byte for byte: the signature is over it.")),
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="registry.webhook"
                    ),
                ),
            ],
            options={
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
                            models.Q(models.Q(("state", "queued"), _negated=True), ("finished_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="webhook_delivery_end_fits_state",
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="capability",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("published_revision__isnull", True), ("status", "draft")),
                    models.Q(models.Q(("status", "draft"), _negated=True), ("published_revision__isnull", False)),
                    _connector="OR",
                ),
                name="capability_status_fits_revision",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentkey",
            constraint=models.CheckConstraint(
                condition=models.Q(("team__isnull", True), ("capability_ids__isnull", True), _connector="OR"),
                name="agent_key_limit_of_one_kind",
            ),
        ),
    ]
