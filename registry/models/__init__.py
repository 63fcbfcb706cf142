"""The tables (docs/glossary.md has the words). Invariants are constraints of the database."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from registry.models.access import AgentKey, Operator, Team, TeamMember
from registry.models.bundle_texts import BundleTexts, DraftVersion
from registry.models.constraints import check_choice, check_null_where
from registry.models.core import Checkpoint, IdempotencyRecord, Job
from registry.models.fields import optional_text
from registry.models.file_contents import FileChunk, FileContent, FileHold
from registry.models.git_import import GitImport
from registry.models.install_code import new_code
from registry.models.matching import MatchClassifier, SentenceVector, SkillGroup
from registry.models.publishing import (
    Proposal,
    ReleaseRule,
    Review,
    ReviewEntry,
    ScanResults,
    ScheduledRelease,
)
from registry.models.usage import (
    Confidence,
    FeedbackEvent,
    LoadCount,
    MatchCount,
    OutcomeReport,
    UnknownCapabilityRequest,
    UnmatchedMessage,
)


class RegistryState(models.Model):
    """One row: the counters that readers poll. A writer holds its lock, so that writes are serialized."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    registry_revision = models.BigIntegerField(
        default=0, help_text="Increased by every change of what agents can read."
    )
    access_revision = models.BigIntegerField(
        default=0, help_text="Increased by every change of keys, groups and settings."
    )
    feedback_revision = models.BigIntegerField(default=0, db_default=0, help_text="Increased by each feedback event.")
    # What the session of a new user begins with.
    first_run = models.ForeignKey("Capability", null=True, on_delete=models.PROTECT, related_name="+")
    epoch = optional_text(
        32,
        db_default="",
        help_text="Replaced by each restore: what a process has cached from another epoch is invalid.",
    )
    chosen_settings = models.JSONField(null=True, help_text="What admins have set on pages, by the name of a setting.")

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=Q(id=1), name="registry_state_single_row")]


class Visibility(models.TextChoices):
    """Unlisted: seen by the keys that have redeemed the install code, and by no one else."""

    LISTED = "listed"
    UNLISTED = "unlisted"


class Capability(models.Model):
    """What can be done. Its texts are in the draft and in the revisions."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        PUBLISHED = "published"
        DEPRECATED = "deprecated"
        RETIRED = "retired"
        QUARANTINED = "quarantined"

    capability_id = models.CharField(max_length=64, unique=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.DRAFT)
    visibility = models.CharField(
        max_length=16, choices=Visibility.choices, default=Visibility.LISTED, db_default="listed"
    )
    install_code = models.CharField(max_length=20, unique=True, default=new_code)
    published_revision = models.ForeignKey("Revision", null=True, on_delete=models.PROTECT, related_name="+")
    replaced_by = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="replaces")
    team = models.ForeignKey(Team, null=True, on_delete=models.PROTECT, related_name="capabilities")
    draft_counter = models.PositiveIntegerField(
        default=0, help_text="The version of the newest draft, discarded ones included."
    )
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "capabilities"
        ordering: ClassVar = ["capability_id"]
        constraints: ClassVar = [
            check_choice(
                "status", ["draft", "published", "deprecated", "retired", "quarantined"], name="capability_status_known"
            ),
            check_null_where("published_revision", name="capability_status_fits_revision", status="draft"),
            models.CheckConstraint(
                condition=Q(replaced_by__isnull=True)
                | (~Q(replaced_by=F("id")) & Q(status__in=["deprecated", "retired", "quarantined"])),
                name="capability_replacement_fits_status",
            ),
            models.CheckConstraint(condition=~Q(capability_id=""), name="capability_id_not_empty"),
            check_choice("visibility", ["listed", "unlisted"], name="capability_visibility_known"),
            models.CheckConstraint(condition=Q(install_code__startswith="SKILL-"), name="capability_install_code_form"),
        ]

    def __str__(self) -> str:
        return self.capability_id


class Revision(BundleTexts):
    """One published state of a capability; never changed once written."""

    capability = models.ForeignKey(Capability, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=71, help_text="What agents see: sha256: + hex.")
    content_digest = models.CharField(max_length=71, help_text="As `digest`, over the utterances too.")
    files_digest = models.CharField(max_length=71, help_text="SHA-256 over the stored files: shows a damaged row.")
    rules_version = models.CharField(max_length=16, help_text="The version of the validation rules that accepted it.")
    read_only_digest = optional_text(
        71, db_default="", help_text="Without its write tools, for read-only keys; empty: unknown."
    )
    simhash = optional_text(32, db_default="", help_text="SimHash (matching/near_duplicates.py); empty: not known.")
    signature = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="DSSE envelope as JSON; empty: published before revisions were signed.",
    )
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    approved_by = optional_text(200, db_default="", help_text="The independent approver, if there is one.")
    editors = models.JSONField(
        null=True, default=None, help_text="Everyone who edited its draft, as actors; null: from before this was kept."
    )
    held_decisions = models.JSONField(
        default=list, db_default=[], help_text="[{by, reason, at, alone, file, line}] of its passages that were held."
    )
    excused_passages = models.JSONField(
        default=list, db_default=[], help_text="Fingerprints of doubted passages that the text around them excused."
    )

    class Meta:
        ordering: ClassVar = ["capability", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "number"], name="revision_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_number_positive"),
            models.CheckConstraint(condition=Q(digest__startswith="sha256:"), name="revision_digest_form"),
        ]

    def __str__(self) -> str:
        return f"{self.capability.capability_id} revision {self.number}"


class Release(models.Model):
    """What a capability was to readers from one registry revision on; any past list can be read back from these."""

    registry_revision = models.BigIntegerField(primary_key=True)
    capability = models.ForeignKey(Capability, on_delete=models.PROTECT, related_name="releases")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="releases")
    status = models.CharField(max_length=16)
    replaced_by = optional_text(64, help_text="A capability_id, or empty.")
    visibility = models.CharField(
        max_length=16, choices=Visibility.choices, default=Visibility.LISTED, db_default="listed"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["registry_revision"]
        indexes: ClassVar = [models.Index(fields=["capability", "-registry_revision"], name="release_of_capability")]
        constraints: ClassVar = [
            check_choice("status", ["published", "deprecated", "retired", "quarantined"], name="release_status_known"),
            models.CheckConstraint(condition=Q(registry_revision__gte=1), name="release_revision_positive"),
            check_choice("visibility", ["listed", "unlisted"], name="release_visibility_known"),
        ]


class Draft(BundleTexts):
    """The text being worked on. A discarded one is kept for 30 days."""

    capability = models.ForeignKey(Capability, on_delete=models.CASCADE, related_name="drafts")
    version = models.PositiveIntegerField()
    digest = optional_text(71, db_default="", help_text="Empty if validation failed when it was saved.")
    base_revision = models.ForeignKey(Revision, null=True, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField(default=timezone.now)
    saved_by = models.CharField(max_length=200)
    editors = models.JSONField(default=list, db_default=[], help_text="Everyone who edited it, as actors.")
    discarded_at = models.DateTimeField(null=True)
    proposal = models.ForeignKey(Proposal, null=True, on_delete=models.SET_NULL, related_name="drafts")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["capability"], condition=Q(discarded_at__isnull=True), name="draft_one_per_capability"
            ),
            models.UniqueConstraint(fields=["capability", "version"], name="draft_version_unique"),
        ]


class ToolName(models.Model):
    """The collision rule: a tool name belongs to one capability that readers can load, or to none."""

    name = models.CharField(max_length=64, primary_key=True)
    capability = models.ForeignKey(Capability, on_delete=models.CASCADE, related_name="tool_names")


class Incident(models.Model):
    """A stored bundle that agents could not be given, a scheduled release that could not be made, a source that
    cannot be read or trusted, a mirror without the newest releases, a published tool that can no longer be called as it
    says, or a revision that fails in use, once per cause.

    Closed when a good revision is published, when the source is read again, when the mirror has them, when the tool
    can be called again, or when fewer uses fail.
    """

    class Kind(models.TextChoices):
        BUNDLE = "bundle"
        RELEASE = "release"
        SOURCE = "source"
        TOOL = "tool"
        MIRROR = "mirror"
        USE = "use"

    capability = models.ForeignKey(
        Capability,
        null=True,
        on_delete=models.CASCADE,
        related_name="incidents",
        help_text="Null where it is about a source or a mirror.",
    )
    source_id = models.BigIntegerField(null=True, help_text="The number of the source, or of the mirror.")
    subject = optional_text(2000, db_default="", help_text="Where that is.")
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.BUNDLE, db_default="bundle")
    revision = models.ForeignKey(
        Revision,
        null=True,
        on_delete=models.CASCADE,
        related_name="incidents",
        help_text="The revision that agents should have received; null if nothing was ever published.",
    )
    cause = models.CharField(max_length=64, help_text="SHA-256 over the fault: the same fault is one incident.")
    message = models.TextField()
    details = models.TextField()
    findings = models.JSONField(default=list)
    count = models.PositiveBigIntegerField(default=1)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-last_seen_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["capability", "cause"], condition=Q(closed_at__isnull=True), name="incident_open_once"
            ),
            models.UniqueConstraint(
                fields=["kind", "source_id"], condition=Q(closed_at__isnull=True), name="incident_of_source_open_once"
            ),
            check_choice("kind", ["bundle", "release", "source", "tool", "mirror", "use"], name="incident_kind_known"),
            models.CheckConstraint(
                condition=~Q(kind="bundle") | Q(revision__isnull=False), name="incident_revision_fits_kind"
            ),
            models.CheckConstraint(
                condition=Q(
                    kind__in=["source", "mirror"],
                    source_id__isnull=False,
                    capability__isnull=True,
                    revision__isnull=True,
                )
                | (~Q(kind__in=["source", "mirror"]) & Q(source_id__isnull=True, capability__isnull=False)),
                name="incident_subject_fits_kind",
            ),
        ]


class AuditEvent(models.Model):
    """Who did what, append-only; each row carries the hash of the one before, so that a missing row shows."""

    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=16)
    actor_name = models.CharField(max_length=200)
    verb = models.CharField(max_length=40)
    subject = models.CharField(max_length=200, help_text="A capability_id, a key's or an operator's name.")
    detail = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64, unique=True)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["subject", "-id"], name="audit_of_subject"),
            models.Index(fields=["actor_name", "-id"], name="audit_of_actor"),
            models.Index(fields=["verb", "-id"], name="audit_of_verb"),
        ]
