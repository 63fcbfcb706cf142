"""Repositories and registries that are followed (registry/sources/source_sync.py). Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class GitSource(models.Model):
    """A repository, or another registry, that is synced regularly; what has changed there is imported.

    `hook_secret` is kept as it is, because it checks signatures, and `read_key`, because it is sent; each is shown or
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
    ref = models.CharField(max_length=200, blank=True, default="", help_text="A branch or a tag; empty: its default.")
    folder = models.CharField(max_length=500, blank=True, default="", help_text="Empty: all of it.")
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.DRAFT)
    may_adopt = models.BooleanField(
        default=True, db_default=True, help_text="Whether it may write over what is here and came from elsewhere."
    )
    every_minutes = models.PositiveIntegerField()
    read_key = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="An agent key of the other registry."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    looked_at = models.DateTimeField(null=True, help_text="The last time that it could be read.")
    commit = models.CharField(max_length=64, blank=True, default="", help_text="What was read then.")
    etag = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="Of the list of another registry, read then."
    )
    failures = models.PositiveIntegerField(default=0, help_text="In a row, since it could be read.")
    last_error = models.CharField(max_length=500, blank=True, default="")
    hook_secret = models.CharField(
        max_length=100, blank=True, default="", db_default="", help_text="Of the pushes that a git host tells."
    )
    hook_secret_at = models.DateTimeField(null=True, help_text="When the secret was made.")
    previous_hook_secret = models.CharField(max_length=100, blank=True, default="", db_default="")
    previous_hook_secret_until = models.DateTimeField(
        null=True, help_text="The secret before is taken beside the new one until then."
    )
    pushed_at = models.DateTimeField(null=True, help_text="The last time that its git host told of anything.")
    push_words = models.CharField(max_length=300, blank=True, default="", db_default="", help_text="What came of that.")
    doubted_list = models.CharField(
        max_length=71,
        blank=True,
        default="",
        db_default="",
        help_text="Of another registry: the list that was refused.",
    )
    accepted_list = models.CharField(
        max_length=71, blank=True, default="", db_default="", help_text="The list that somebody takes as it is."
    )
    asked_at = models.DateTimeField(null=True, help_text="A look that began before this is not the newest that is due.")

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["url", "ref", "folder"], name="git_source_once"),
            models.CheckConstraint(condition=Q(mode__in=["draft", "publish"]), name="git_source_mode_known"),
            models.CheckConstraint(condition=Q(every_minutes__gte=1), name="git_source_pause_positive"),
            models.CheckConstraint(
                condition=Q(failures=0, last_error="") | (Q(failures__gt=0) & ~Q(last_error="")),
                name="git_source_failure_paired",
            ),
            models.CheckConstraint(condition=Q(kind__in=["git", "registry"]), name="git_source_kind_known"),
            models.CheckConstraint(
                condition=(~Q(kind="registry") | Q(ref="", folder="")) & (~Q(kind="git") | Q(read_key="", etag="")),
                name="git_source_columns_fit_kind",
            ),
            models.CheckConstraint(
                condition=Q(hook_secret_at__isnull=True, hook_secret="")
                | (Q(hook_secret_at__isnull=False) & ~Q(hook_secret="")),
                name="git_source_secret_paired",
            ),
            models.CheckConstraint(
                condition=Q(previous_hook_secret_until__isnull=True, previous_hook_secret="")
                | (Q(previous_hook_secret_until__isnull=False) & ~Q(previous_hook_secret="") & ~Q(hook_secret="")),
                name="git_source_secret_rotation_paired",
            ),
            models.CheckConstraint(
                condition=Q(kind="registry") | Q(doubted_list="", accepted_list=""),
                name="git_source_doubt_fits_kind",
            ),
            models.CheckConstraint(
                condition=Q(pushed_at__isnull=True, push_words="") | (Q(pushed_at__isnull=False) & ~Q(push_words="")),
                name="git_source_push_paired",
            ),
        ]

    @property
    def has_two_secrets(self) -> bool:
        """Whether the secret before the newest one is still taken."""
        until = self.previous_hook_secret_until
        return until is not None and until > timezone.now()

    @property
    def waits_for_somebody(self) -> bool:
        """Whether its list was refused, and no operator has accepted it yet."""
        return bool(self.doubted_list) and self.doubted_list != self.accepted_list

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

    class There(models.TextChoices):
        PRESENT = "present"
        DEPRECATED = "deprecated"
        GONE = "gone"

    source = models.ForeignKey(GitSource, on_delete=models.CASCADE, related_name="items")
    path = models.CharField(max_length=1000, help_text="Below the source; empty: its root.", blank=True)
    capability_id = models.CharField(max_length=64, blank=True, help_text="Empty where it cannot be read.")
    texts_digest = models.CharField(max_length=71, help_text="Over what was taken in.")
    told_digest = models.CharField(
        max_length=71, blank=True, default="", db_default="", help_text="What the list of another registry said of it."
    )
    content_digest = models.CharField(max_length=71, blank=True, help_text="Of its bundle; empty where it is none.")
    status = models.CharField(max_length=16, choices=Status.choices)
    detail = models.CharField(max_length=500, blank=True, default="", help_text="Why it was refused or held.")
    is_ours = models.BooleanField(default=True, db_default=True, help_text="Whether it was ever taken in from here.")
    there = models.CharField(
        max_length=16, choices=There.choices, default=There.PRESENT, db_default="present", help_text="At the last look."
    )
    taken_at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "path"], name="git_source_item_once"),
            models.CheckConstraint(
                condition=Q(status__in=["published", "unchanged", "draft", "held", "foreign", "refused"]),
                name="git_source_item_status_known",
            ),
            models.CheckConstraint(
                condition=Q(there__in=["present", "deprecated", "gone"]), name="git_source_item_there_known"
            ),
        ]
