"""The push: from what a branch is at to what it has to hold, once, whatever is interrupted (docs/contract.md 3.4).

The push is written down before it is made. Where its answer is lost, the branch says by its commit whether it was
taken, so that no release is ever a second commit.
"""

from __future__ import annotations

from typing import Any, Final

from django.utils import timezone

from capability_rules.errors import RegistryError, SourceUnreadable
from features.git_mirrors import mirror_store, push_queue
from features.git_mirrors.feature import CHANGES
from features.git_mirrors.git_branch import RemoteBranch
from features.git_mirrors.mirror_content import plan_steps, read_content
from features.git_mirrors.models import GitMirror
from registry.common.actors import Actor
from registry.common.errors import NotFound, SourceMisconfigured
from registry.core.jobs.queue import CommitAction, JobState, Lease
from registry.core.rows import update_row
from registry.core.transactions import write_transaction
from registry.models import AuditEvent

AGAIN_SECONDS: Final = 60
_AGAIN_SECONDS_MAX: Final = 600


class PushedByOthers(SourceMisconfigured):
    """The branch is at a commit that is not ours."""

    def __init__(self, mirror: GitMirror, head: str) -> None:
        words = f"somebody else pushed {head[:12]}" if head else "somebody else deleted the branch"
        super().__init__(f"{mirror}: {words}: continue from it, or remove the mirror")
        self.head = head or mirror_store.NO_COMMIT


def push_mirror(mirror_id: int) -> bool:
    """Bring the branch to what it has to hold; whether that took a push. What fails is an incident, and is kept.

    Raises `NotFound`.
    """
    mirror = mirror_store.get_mirror(mirror_id)
    by = Actor("system", f"git mirror {mirror_id}")
    try:
        is_new = _push(mirror, by)
    except (RegistryError, SourceUnreadable) as error:
        _note_failure(mirror, error, by)
        return False
    with write_transaction():
        mirror_store.close_incident(mirror, by=by, why="It has all of it again")
    return is_new


def _push(mirror: GitMirror, by: Actor) -> bool:
    content = read_content(mirror)
    with mirror_store.open_mirror(mirror) as branch:
        head = branch.read_head()
        if mirror.pending is not None and head == mirror.pending["head"]:
            _note_success(mirror, mirror.pending, by)
        if head != mirror.head:
            raise PushedByOthers(mirror, head)
        steps = plan_steps(mirror, content)
        commit = branch.commit(steps, head) if steps else head
        now = {**content.as_pushed(), "head": commit}
        if commit == head:
            _note_success(mirror, now, by)
            return False
        with write_transaction():
            update_row(mirror, pending=now)
        _send(branch, mirror, commit, head)
        _note_success(mirror, now, by, commits=len(steps))
    return True


def _send(branch: RemoteBranch, mirror: GitMirror, commit: str, head: str) -> None:
    try:
        branch.push(commit)
    except SourceUnreadable:
        found = branch.read_head()
        if found == commit:
            return
        if found != head:
            raise PushedByOthers(mirror, found) from None
        raise


def _note_success(mirror: GitMirror, now: dict[str, Any], by: Actor, *, commits: int = 1) -> None:
    is_new = now["head"] != mirror.head
    with write_transaction():
        pushed = {name: value for name, value in now.items() if name != "head"}
        moment = timezone.now()
        update_row(
            mirror, head=now["head"], pushed=pushed, pending=None, failures=0, last_error="", found_head="",
            checked_at=moment, pushed_at=moment if is_new else mirror.pushed_at,
        )  # fmt: skip
        if is_new:
            detail = {"commit": now["head"], "commits": commits, "version": now["version"]}
            mirror_store.record(mirror, "git_mirror.push", by, detail | {"capabilities": len(now["revisions"])})


def _note_failure(mirror: GitMirror, error: RegistryError, by: Actor) -> None:
    with write_transaction():
        found = error.head if isinstance(error, PushedByOthers) else ""
        update_row(mirror, failures=mirror.failures + 1, last_error=error.message[:500], found_head=found)
        message = f"{mirror} does not have the newest releases"
        mirror_store.open_incident(mirror, message=message, details=error.message, by=by)


def push_job(lease: Lease) -> CommitAction | None:
    """The handler; payload `{"mirror_id": primary key}`. What fails is tried again until it is taken or removed."""
    mirror_id = lease.payload["mirror_id"]
    try:
        push_mirror(mirror_id)
    except NotFound:
        return None
    return lambda: _queue_again(mirror_id)


def _queue_again(mirror_id: int) -> None:
    mirror = GitMirror.objects.filter(pk=mirror_id, started_at__isnull=False).first()
    if mirror is None or mirror.found_head:
        # A person has to choose first.
        return
    if mirror.failures:
        push_queue.queue_push(mirror, seconds=min(AGAIN_SECONDS * mirror.failures, _AGAIN_SECONDS_MAX))
    elif AuditEvent.objects.filter(id__gt=mirror.pushed["cursor"], verb__in=CHANGES).exists():
        push_queue.queue_push(mirror)


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """A push that was parked or cancelled is not the last one."""
    mirror = GitMirror.objects.filter(pk=payload["mirror_id"], started_at__isnull=False).first()
    if state != "queued" and mirror is not None:
        push_queue.queue_push(mirror, seconds=_AGAIN_SECONDS_MAX)
