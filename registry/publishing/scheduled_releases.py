"""Drafts that are published at a time: a row that says what, when and in whose name, and a job that is due then.

The release is of the texts at the time it was scheduled. What has changed until then, the draft, the rules or the
rights of the operator who scheduled it, stops it: that opens an incident which says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.utils import timezone

from capability_rules.errors import InvalidRequest, RegistryError
from capability_rules.validation import Finding, Report
from capability_rules.validation.isolation.pool import ChecksUnfinished
from registry.access.operators import may_publish
from registry.access.teams import require_edit_permission
from registry.catalog.drafts import get_active_draft, get_draft, validate_draft
from registry.catalog.incidents import open_release_incident
from registry.common.actors import Actor, parse_actor
from registry.common.errors import NotFound, StatusConflict
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import WORKER, CommitAction, JobState, Lease
from registry.core.queries import files_digest
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Capability, Draft, Job, ScheduledRelease
from registry.publishing import publication
from registry.publishing.publication import PublishResult

KIND: Final = "release.publish"
SCHEDULE_AHEAD_MAX: Final = timedelta(days=366)
ScheduleState = ScheduledRelease.State


@dataclass(frozen=True)
class ScheduleResult:
    """`release` is None where the gate refuses the draft in the current state; `outcome` says why."""

    outcome: PublishResult
    release: ScheduledRelease | None


def schedule_release(
    *, capability_id: str, draft_version: int, due_at: datetime, by: Actor, note: str, acknowledge: Collection[str] = ()
) -> ScheduleResult:
    """Publish the draft at a time, in the name of `by`.

    Raises `InvalidRequest` for a time that is past or more than a year ahead, `StatusConflict` where a release of the
    capability waits already, `DraftConflict` and `DraftNotFound` as publishing does.
    """
    _require_time(due_at)
    outcome = publication.publish_draft(
        capability_id=capability_id,
        draft_version=draft_version,
        by=by,
        note=note,
        acknowledge=acknowledge,
        dry_run=True,
    )
    if outcome.status != "would_publish":
        return ScheduleResult(outcome, None)
    with write_transaction():
        require_edit_permission(capability_id, by)
        draft = get_draft(capability_id, version=draft_version)
        waiting = find_pending_release(draft.capability.capability_id)
        if waiting is not None and (stop := find_stop(waiting)):
            _cancel_job(waiting)
            _end(waiting, ScheduleState.CANCELLED, reason=f"{stop}; {by.name} scheduled it again")
        elif waiting is not None:
            raise StatusConflict(f"A release of '{capability_id}' is already scheduled: reschedule or cancel it")
        release = ScheduledRelease.objects.create(
            capability=draft.capability,
            draft_version=draft.version,
            files_digest=files_digest(draft.files),
            due_at=due_at,
            note=note,
            acknowledged=sorted(acknowledge),
            scheduled_by=str(by),
        )
        queue.enqueue(KIND, {"scheduled_id": release.pk}, run_after=due_at, dedupe_key=_key(release))
        _record(release, by, "release.schedule", due_at=due_at.isoformat(), draft_version=draft.version, note=note)
    return ScheduleResult(outcome, release)


def _require_time(due_at: datetime) -> None:
    now = timezone.now()
    if due_at <= now:
        raise InvalidRequest("The time is in the past. Choose a later one")
    if due_at > now + SCHEDULE_AHEAD_MAX:
        raise InvalidRequest("The time is more than a year ahead")


def _key(release: ScheduledRelease) -> str:
    return f"{KIND}:{release.pk}"


def _record(release: ScheduledRelease, by: Actor, verb: str, **detail: Any) -> None:
    detail = {"scheduled_id": release.pk, **detail}
    audit.record(by=by, verb=verb, subject=release.capability.capability_id, detail=detail)


def reschedule_release(*, scheduled_id: int, due_at: datetime, by: Actor) -> ScheduledRelease:
    """Reschedule a pending release. Raises `NotFound`, `InvalidRequest`, `StatusConflict` where it is not pending."""
    _require_time(due_at)
    with write_transaction():
        release = _waiting(scheduled_id)
        require_edit_permission(release.capability.capability_id, by)
        job = Job.objects.select_for_update().filter(dedupe_key=_key(release), state="queued")
        if not job.update(run_after=due_at, attempts=0):
            raise StatusConflict("It is being published at this moment")
        update_row(release, due_at=due_at)
        _record(release, by, "release.change", due_at=due_at.isoformat())
    return release


def cancel_release(*, scheduled_id: int, by: Actor) -> ScheduledRelease:
    """Cancel a pending release. Raises `NotFound`, `StatusConflict` where it is no longer pending."""
    with write_transaction():
        release = _waiting(scheduled_id)
        require_edit_permission(release.capability.capability_id, by)
        _cancel_job(release)
        _end(release, ScheduleState.CANCELLED)
        _record(release, by, "release.cancel")
    return release


def get_release(scheduled_id: int) -> ScheduledRelease:
    """The scheduled release with this number. Raises `NotFound`."""
    found = ScheduledRelease.objects.select_related("capability").filter(pk=scheduled_id)
    return get_row(found, NotFound(f"There is no scheduled release {scheduled_id}"))


def _waiting(scheduled_id: int) -> ScheduledRelease:
    release = get_release(scheduled_id)
    if release.state != ScheduleState.WAITING:
        raise StatusConflict(f"The release is no longer pending: it is {release.state}")
    return release


def _cancel_job(release: ScheduledRelease) -> None:
    """A job that is at work finds that nothing waits any more."""
    queued = Job.objects.filter(dedupe_key=_key(release), state="queued")
    queued.update(state=Job.State.CANCELLED, finished_at=timezone.now())


def _end(release: ScheduledRelease, state: str, *, reason: str = "", revision: int | None = None) -> None:
    update_row(release, state=state, reason=reason, revision=revision, ended_at=timezone.now())


def cancel_pending(capability: Capability, *, why: str) -> None:
    """Somebody decided otherwise meanwhile, as `why` says; in the transaction of that decision."""
    release = find_pending_release(capability.capability_id)
    if release is not None:
        _cancel_job(release)
        _end(release, ScheduleState.CANCELLED, reason=f"{why} before its time came")


def publish_scheduled(lease: Lease) -> CommitAction | None:
    """The handler; payload `{"scheduled_id": primary key}`. Checks first, and publishes with the end of the job."""
    release = ScheduledRelease.objects.select_related("capability").filter(pk=lease.payload["scheduled_id"]).first()
    if release is None or release.state != ScheduleState.WAITING:
        return None
    draft = get_active_draft(release.capability)
    report = validate_draft(draft) if draft is not None else None
    if report is not None and any(one.code == ChecksUnfinished.code for one in report.errors):
        # The job tries again.
        raise ChecksUnfinished
    return lambda: _publish(release.pk, report)


def _publish(scheduled_id: int, report: Report | None) -> None:
    """Under the lock of the registry."""
    release = ScheduledRelease.objects.select_related("capability__published_revision").get(pk=scheduled_id)
    if release.state != ScheduleState.WAITING:
        return
    draft = get_active_draft(release.capability)
    fault = _fault(release, draft)
    if fault or draft is None or report is None:
        _fail(release, fault)
        return
    if not report.ok:
        _fail(release, "Today's checks find errors in the draft", report.errors)
        return
    # Nothing waits any more while it is published: only what others had planned would be called off.
    _end(release, ScheduleState.DONE)
    try:
        outcome = publication.publish_validated_draft(
            report,
            capability_id=release.capability.capability_id,
            draft_version=draft.version,
            by=parse_actor(release.scheduled_by),
            note=release.note,
            acknowledge=release.acknowledged,
        )
    except RegistryError as error:
        _fail(release, error.message)
        return
    if outcome.status == "refused":
        _fail(release, "The gate refuses it now", [finding for finding in outcome.findings if finding.is_error])
        return
    _end(release, ScheduleState.DONE, revision=outcome.revision)
    _record(release, WORKER, "release.done", revision=outcome.revision)


def _fault(release: ScheduledRelease, draft: Draft | None, can_publish: Callable[[Actor], bool] = may_publish) -> str:
    """Why it cannot be made whatever the gate says; empty where it can."""
    if draft is None:
        return "The draft was discarded or published after the release was scheduled"
    if draft.version != release.draft_version and files_digest(draft.files) != release.files_digest:
        return "The draft was changed after the release was scheduled"
    actor = parse_actor(release.scheduled_by)
    return "" if can_publish(actor) else f"{actor.name}, who scheduled it, can no longer publish"


def find_stop(release: ScheduledRelease) -> str:
    """Why a pending release could not be made as things are now; empty where only the gate is left to ask."""
    return find_stops([release]).get(release.pk, "")


def find_stops(releases: Collection[ScheduledRelease]) -> dict[int, str]:
    """The same of many, by their ids, without those of which only the gate is left to ask.

    Asks the database once, and once for each person who scheduled one of them.
    """
    drafts = Draft.objects.filter(capability__in=[one.capability_id for one in releases], discarded_at__isnull=True)
    of_capability = {draft.capability_id: draft for draft in drafts}
    can_publish = cache(may_publish)
    faults = {one.pk: _fault(one, of_capability.get(one.capability_id), can_publish) for one in releases}
    return {key: fault for key, fault in faults.items() if fault}


def _fail(release: ScheduledRelease, reason: str, findings: Sequence[Finding] = ()) -> None:
    words = "; ".join(finding.message for finding in findings[:3])
    reason = f"{reason}: {words}" if words else reason
    _end(release, ScheduleState.FAILED, reason=reason)
    capability_id = release.capability.capability_id
    _record(release, WORKER, "release.fail", why=reason)
    open_release_incident(
        capability=release.capability,
        message=f"The scheduled release of '{capability_id}' failed",
        details=reason,
        findings=findings,
        scheduled_id=release.pk,
    )


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """Follow a job state set without its handler: by a worker that never finished, or by the command line."""
    found = ScheduledRelease.objects.select_related("capability__published_revision")
    release = found.filter(pk=payload["scheduled_id"]).first()
    if release is None:
        return
    if (
        state == "queued"
        and release.state == ScheduleState.FAILED
        and find_pending_release(release.capability.capability_id) is None
    ):
        update_row(release, state=ScheduleState.WAITING, reason="", ended_at=None)
    elif state == "parked" and release.state == ScheduleState.WAITING:
        _fail(release, "The worker could not make it at any try")
    elif state == "cancelled" and release.state == ScheduleState.WAITING:
        _end(release, ScheduleState.CANCELLED, reason="Its job was cancelled")


def find_pending_release(capability_id: str) -> ScheduledRelease | None:
    """The release of a capability that waits for its time; None for an unknown one too."""
    return ScheduledRelease.objects.filter(capability__capability_id=capability_id, state=ScheduleState.WAITING).first()


def list_stopped(by: Actor, *, since: datetime) -> Iterator[tuple[ScheduledRelease, str]]:
    """What `by` had scheduled and will not go out, with why: pending ones that are stopped, and those that somebody's
    decision has ended since then. Nothing of a capability for which something is scheduled that can be made."""
    found = ScheduledRelease.objects.filter(scheduled_by=str(by)).select_related("capability").order_by("-id")
    ended = Q(state=ScheduleState.CANCELLED, ended_at__gte=since) & ~Q(reason="")
    seen: set[int] = set()
    releases = list(found.filter(Q(state=ScheduleState.WAITING) | ended))
    stops = find_stops([one for one in releases if one.state == ScheduleState.WAITING])
    for release in releases:
        is_newest = release.capability_id not in seen
        seen.add(release.capability_id)
        why = stops.get(release.pk, "") if release.state == ScheduleState.WAITING else release.reason
        if is_newest and why:
            yield release, why


def list_releases(*, waiting: bool, search: str = "") -> QuerySet[ScheduledRelease]:
    """Those that wait, the next one first; or those that have ended, the latest first. `search` looks in ids,
    published names and notes."""
    found = ScheduledRelease.objects.select_related("capability")
    if search:
        names = Q(capability__published_revision__name__icontains=search) | Q(
            capability__capability_id__icontains=search
        )
        found = found.filter(names | Q(note__icontains=search))
    if waiting:
        return found.filter(state=ScheduleState.WAITING)
    return found.exclude(state=ScheduleState.WAITING).order_by("-ended_at", "-id")
