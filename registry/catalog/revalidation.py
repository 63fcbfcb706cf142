"""Published bundles validated against the current rules: one job per capability.

A rule that was tightened shows as an incident before an agent meets it; one that was loosened again closes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from capability_rules.validation import RULES_VERSION
from registry.catalog.incidents import close_incidents
from registry.catalog.integrity import RevisionDefect, find_defect, report_defect
from registry.common.actors import Actor
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.queries import LOADABLE_STATUSES
from registry.core.transactions import write_transaction
from registry.models import Capability, Incident, Job, Revision

KIND: Final = "revalidate"
# Publishing waits while a transaction stores jobs: ten thousand in one would block it for seconds.
_JOBS_A_TRANSACTION: Final = 200


@dataclass(frozen=True, slots=True)
class QueueResult:
    """How many jobs were stored, and how many capabilities were waiting for theirs already."""

    queued: int
    already_queued: int


def queue_all(*, by: Actor) -> QueueResult:
    """A job for every capability that readers can load."""
    with write_transaction():
        published = _published()
        audit.record(by=by, verb="registry.revalidate", subject="registry", detail={"capabilities": len(published)})
    return _queue(published)


def queue_some(*, capability_ids: Sequence[str], by: Actor) -> QueueResult:
    """A job for each of these that readers can load; the others are left alone."""
    with write_transaction():
        published = _published(capability_ids=capability_ids)
        detail = {"capabilities": len(published), "capability_ids": list(capability_ids)}
        audit.record(by=by, verb="registry.revalidate", subject="registry", detail=detail)
    return _queue(published)


def queue_outdated() -> QueueResult:
    """A job for what other rules than today's have passed, once for each revision and version of the rules.

    What today's rules refuse stays outdated: it is not checked again at each start of a worker.
    """
    known = set(Job.objects.filter(kind=KIND).values_list("dedupe_key", flat=True))
    return _queue([revision_id for revision_id in _published(outdated=True) if _key(revision_id) not in known])


def queue_failing(capability: Capability | None = None) -> QueueResult:
    """A job for what has an open incident: whether it still fails is seen though nothing else was published."""
    found = Incident.objects.filter(kind=Incident.Kind.BUNDLE, closed_at__isnull=True)
    if capability is not None:
        found = found.filter(capability=capability)
    return _queue(_published(capability_ids=list(found.values_list("capability__capability_id", flat=True).distinct())))


def _published(*, outdated: bool = False, capability_ids: Sequence[str] | None = None) -> list[int]:
    """The primary keys of the revisions that readers see."""
    listed = Capability.objects.filter(status__in=LOADABLE_STATUSES)
    if capability_ids is not None:
        listed = listed.filter(capability_id__in=capability_ids)
    found = Revision.objects.filter(pk__in=listed.values("published_revision"))
    if outdated:
        found = found.exclude(rules_version=RULES_VERSION)
    return list(found.order_by("pk").values_list("pk", flat=True))


def _key(revision_id: int) -> str:
    return f"{KIND}:{RULES_VERSION}:{revision_id}"


def _queue(revision_ids: Sequence[int]) -> QueueResult:
    queued = 0
    for start in range(0, len(revision_ids), _JOBS_A_TRANSACTION):
        with write_transaction():
            for revision_id in revision_ids[start : start + _JOBS_A_TRANSACTION]:
                queued += queue.enqueue(KIND, {"revision_id": revision_id}, dedupe_key=_key(revision_id))[1]
    return QueueResult(queued, len(revision_ids) - queued)


def revalidate_revision(lease: Lease) -> CommitAction | None:
    """The handler; payload `{"revision_id": primary key}`."""
    revision = Revision.objects.select_related("capability").filter(pk=lease.payload["revision_id"]).first()
    if revision is None:
        return None
    fault = find_defect(revision)
    return lambda: _note(revision, fault)


def _note(revision: Revision, fault: RevisionDefect | None) -> None:
    """Under the registry's lock. What readers no longer see is left alone: its successor went through the gate."""
    capability = Capability.objects.get(pk=revision.capability_id)
    if capability.status not in LOADABLE_STATUSES or capability.published_revision_id != revision.pk:
        return
    if fault is not None:
        report_defect(revision, fault)
        return
    Revision.objects.filter(pk=revision.pk).update(rules_version=RULES_VERSION)
    close_incidents(capability, kind=Incident.Kind.BUNDLE)
