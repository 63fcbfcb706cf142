"""The table of git mirrors."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_paired
from registry.models.fields import optional_text


def nothing_pushed() -> dict[str, Any]:
    """The state of a branch that nothing of ours is in.

    `files` maps each path to the id of its blob, `folders` and `revisions` each capability to its folder and number;
    `cursor` is the last row of the audit log that counts, `version` what the last push was called.
    """
    return {"files": {}, "folders": {}, "revisions": {}, "cursor": 0, "version": ""}


class GitMirror(models.Model):
    """A branch of a git repository that each release is pushed to (docs/contract.md 3.4)."""

    url = models.CharField(max_length=1000)
    branch = models.CharField(max_length=200)
    credential = models.ForeignKey("credentials.Credential", on_delete=models.PROTECT, related_name="mirrors")
    form = models.CharField(max_length=16, help_text="`skills`, or a form of a plugin.")
    set_id = optional_text(64, help_text="Empty: all that is listed.")
    consents = models.JSONField(default=dict, help_text="Of teams, by their row ids: who gave it.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    started_at = models.DateTimeField(null=True, help_text="Null until an admin has seen what will be pushed.")
    started_by = optional_text(200)
    head = optional_text(64, help_text="The commit that the branch has to be at; empty: the branch is not there.")
    pushed = models.JSONField(default=nothing_pushed, help_text="What of ours is at `head`.")
    pushed_at = models.DateTimeField(null=True, help_text="The last push that was taken.")
    checked_at = models.DateTimeField(null=True, help_text="When the branch was last seen to have all of it.")
    pending = models.JSONField(null=True, help_text="A push whose answer is not known: `pushed`, with its `head`.")
    failures = models.PositiveIntegerField(default=0, help_text="Consecutive ones.")
    last_error = optional_text(500)
    found_head = optional_text(64, help_text="The commit of somebody else that a choice is needed about.")

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["url", "branch"], name="git_mirror_once"),
            check_paired("started_at", "started_by", name="git_mirror_start_paired"),
            models.CheckConstraint(
                condition=Q(failures=0, last_error="") | (Q(failures__gt=0) & ~Q(last_error="")),
                name="git_mirror_failure_paired",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.url}@{self.branch}"
