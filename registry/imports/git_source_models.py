"""Git repositories that are followed (registry/imports/followed_sources.py). Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class GitSource(models.Model):
    """A repository that is looked at again and again; what has changed there is taken in."""

    class Mode(models.TextChoices):
        DRAFT = "draft"
        PUBLISH = "publish"

    url = models.CharField(max_length=1000)
    ref = models.CharField(max_length=200, blank=True, default="", help_text="A branch or a tag; empty: its default.")
    folder = models.CharField(max_length=500, blank=True, default="", help_text="Empty: all of it.")
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.DRAFT)
    every_minutes = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    looked_at = models.DateTimeField(null=True, help_text="The last time that it could be read.")
    commit = models.CharField(max_length=64, blank=True, default="", help_text="What was read then.")
    failures = models.PositiveIntegerField(default=0, help_text="In a row, since it could be read.")
    last_error = models.CharField(max_length=500, blank=True, default="")

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
        ]

    @property
    def spec(self) -> str:
        """As an import names it: `https://host/repository[@ref][#folder]`."""
        return self.url + (f"@{self.ref}" if self.ref else "") + (f"#{self.folder}" if self.folder else "")


class GitSourceItem(models.Model):
    """One bundle of a source as it was when it was last taken in."""

    class Status(models.TextChoices):
        PUBLISHED = "published"
        UNCHANGED = "unchanged"
        DRAFT = "draft"
        HELD = "held"
        REFUSED = "refused"

    source = models.ForeignKey(GitSource, on_delete=models.CASCADE, related_name="items")
    path = models.CharField(max_length=1000, help_text="Below the source; empty: its root.", blank=True)
    capability_id = models.CharField(max_length=64, blank=True, help_text="Empty where it cannot be read.")
    texts_digest = models.CharField(max_length=71, help_text="Over what was taken in.")
    content_digest = models.CharField(max_length=71, blank=True, help_text="Of its bundle; empty where it is none.")
    status = models.CharField(max_length=16, choices=Status.choices)
    detail = models.CharField(max_length=500, blank=True, default="", help_text="Why it was refused or held.")
    taken_at = models.DateTimeField(default=timezone.now)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["path"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "path"], name="git_source_item_once"),
            models.CheckConstraint(
                condition=Q(status__in=["published", "unchanged", "draft", "held", "refused"]),
                name="git_source_item_status_known",
            ),
        ]
