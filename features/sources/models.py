"""The tables. Their names are from before they were a feature's."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_paired
from registry.models.fields import optional_text


class GitSource(models.Model):
    """A repository, or another registry, that is synced regularly; what has changed there is imported.

    `hook_secret`, the one before it and `read_key` are encrypted (registry/access/stored_secrets.py); each is shown or
    given once.
    """

    class Kind(models.TextChoices):
        GIT = "git"
        REGISTRY = "registry"

    class Mode(models.TextChoices):
        DRAFT = "draft"
        PUBLISH = "publish"

    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.GIT, db_default="git")
    url = models.CharField(max_length=1000)
    ref = optional_text(200, help_text="A branch or a tag; empty: its default.")
    folder = optional_text(500, help_text="Empty: the whole repository.")
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.DRAFT)
    may_adopt = models.BooleanField(
        default=True, db_default=True, help_text="Whether it may overwrite capabilities that it did not create."
    )
    every_minutes = models.PositiveIntegerField()
    credential = models.ForeignKey(
        "credentials.Credential",
        null=True,
        on_delete=models.PROTECT,
        related_name="sources",
        help_text="For git.",
    )
    read_key = models.TextField(blank=True, default="", db_default="", help_text="Of the other registry, encrypted.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    last_synced_at = models.DateTimeField(null=True, help_text="The last successful sync.")
    commit = optional_text(64, help_text="The commit, or the revision of a registry, read at the last sync.")
    etag = optional_text(200, db_default="", help_text="ETag of the other registry's list at the last sync.")
    failures = models.PositiveIntegerField(default=0, help_text="Consecutive failures since the last successful sync.")
    last_error = optional_text(500)
    hook_secret = models.TextField(
        blank=True, default="", db_default="", help_text="Signs the git host's push webhooks; encrypted."
    )
    hook_secret_at = models.DateTimeField(null=True, help_text="When the secret was made.")
    previous_hook_secret = models.TextField(blank=True, default="", db_default="")
    previous_hook_secret_until = models.DateTimeField(
        null=True, help_text="The previous secret is accepted until then."
    )
    pushed_at = models.DateTimeField(null=True, help_text="The last push webhook from its git host.")
    push_result = optional_text(300, db_default="", help_text="The result of the last push webhook.")
    sync_requested_at = models.DateTimeField(
        null=True, help_text="A sync that began earlier is followed by another one."
    )

    class Meta:
        db_table = "registry_gitsource"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["url", "ref", "folder"], name="git_source_once"),
            check_choice("mode", ["draft", "publish"], name="git_source_mode_known"),
            models.CheckConstraint(condition=Q(every_minutes__gte=1), name="git_source_pause_positive"),
            models.CheckConstraint(
                condition=Q(failures=0, last_error="") | (Q(failures__gt=0) & ~Q(last_error="")),
                name="git_source_failure_paired",
            ),
            check_choice("kind", ["git", "registry"], name="git_source_kind_known"),
            models.CheckConstraint(
                condition=(~Q(kind="registry") | Q(ref="", folder="")) & (~Q(kind="git") | Q(read_key="", etag="")),
                name="git_source_columns_fit_kind",
            ),
            check_paired("hook_secret_at", "hook_secret", name="git_source_secret_paired"),
            models.CheckConstraint(
                condition=Q(previous_hook_secret_until__isnull=True, previous_hook_secret="")
                | (Q(previous_hook_secret_until__isnull=False) & ~Q(previous_hook_secret="") & ~Q(hook_secret="")),
                name="git_source_secret_rotation_paired",
            ),
            check_paired("pushed_at", "push_result", name="git_source_push_paired"),
        ]

    @property
    def has_two_secrets(self) -> bool:
        """Whether the secret before the newest one is still taken."""
        until = self.previous_hook_secret_until
        return until is not None and until > timezone.now()

    @property
    def spec(self) -> str:
        """As an import names it: `https://host/repository[@ref][#folder]`; of a registry, its address."""
        return self.url + (f"@{self.ref}" if self.ref else "") + (f"#{self.folder}" if self.folder else "")


class GitSourceItem(models.Model):
    """One bundle of a source as it was when it was last imported."""

    class Status(models.TextChoices):
        PUBLISHED = "published"
        UNCHANGED = "unchanged"
        DRAFT = "draft"
        HELD = "held"
        FOREIGN = "foreign"
        REFUSED = "refused"

    class UpstreamState(models.TextChoices):
        PRESENT = "present"
        DEPRECATED = "deprecated"
        GONE = "gone"

    source = models.ForeignKey(GitSource, on_delete=models.CASCADE, related_name="items")
    path = models.CharField(max_length=1000, help_text="Below the source; empty: its root.", blank=True)
    capability_id = models.CharField(
        max_length=64, blank=True, help_text="The capability_id; empty if the bundle cannot be read."
    )
    files_digest = models.CharField(max_length=71, help_text="SHA-256 over the imported files.")
    declared_digest = optional_text(71, db_default="", help_text="The digest in the other registry's list.")
    content_digest = models.CharField(
        max_length=71, blank=True, help_text="Content digest of its bundle; empty if there is none."
    )
    status = models.CharField(max_length=16, choices=Status.choices)
    detail = optional_text(500, help_text="Why it was refused, or why it conflicts.")
    is_managed = models.BooleanField(
        default=True, db_default=True, help_text="Whether it was ever imported from this source."
    )
    upstream_state = models.CharField(
        max_length=16,
        choices=UpstreamState.choices,
        default=UpstreamState.PRESENT,
        db_default="present",
        help_text="Its state in the source at the last sync.",
    )
    imported_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "registry_gitsourceitem"
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "path"], name="git_source_item_once"),
            check_choice(
                "status",
                ["published", "unchanged", "draft", "held", "foreign", "refused"],
                name="git_source_item_status_known",
            ),
            check_choice(
                "upstream_state", ["present", "deprecated", "gone"], name="git_source_item_upstream_state_known"
            ),
        ]
