"""When a git mirror is pushed to: the one job of each. A publish imports no more of this folder."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from features.git_mirrors.models import GitMirror
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, Lease
from registry.models import AuditEvent

KIND: Final = "git_mirror.push"


def on_change(_event: AuditEvent) -> None:
    """For `Feature.audit_observers`: other files may belong to a branch. Under the lock."""
    _queue_all()


def _queue_all() -> None:
    # A publish waits for this: what was pushed, of which there may be much, is not read.
    for mirror in GitMirror.objects.filter(started_at__isnull=False).only("pk"):
        queue_push(mirror)


def check_all(_lease: Lease) -> CommitAction:
    """The handler of the daily job: each branch is asked, so that a change by others is known without a release."""
    return _queue_all


def queue_push(mirror: GitMirror, *, seconds: int = 0) -> None:
    """One open job for each mirror; the caller holds the lock."""
    key = f"{KIND}:{mirror.pk}"
    if not seconds and queue.run_now(key) is not None:
        return
    due = timezone.now() + timedelta(seconds=seconds) if seconds else None
    payload = {"mirror_id": mirror.pk}
    queue.enqueue(
        KIND, payload, run_after=due, dedupe_key=key, concurrency_key=f"git mirror {mirror.pk}", max_attempts=2
    )
