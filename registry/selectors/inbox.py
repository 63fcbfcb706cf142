"""What needs the attention of one person: a list for Home, worst first, and the counts beside the navigation.

The list takes a fixed number of queries, each count one. No texts of bundles are read but those of the drafts that are
listed and were never published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, Literal

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.utils import timezone

from capability_kit.errors import readable_name
from features.acceptances.held_passages import list_pending_capabilities
from registry.catalog.facets import find_display_names
from registry.common.actors import Actor
from registry.core.concerned_people import TAKING_VERBS, find_concerned
from registry.core.queries import LOADABLE_STATUSES, list_open_incidents
from registry.models import AuditEvent, Capability, Draft, Incident, Operator, Proposal, Review
from registry.publishing.reviews import is_independent_reviewer, list_changes_requested, list_reviews
from registry.publishing.scheduled_releases import list_releases, list_stopped
from registry.usage import demand
from registry.usage.revision_health import FailingCapability, find_regressions

Kind = Literal[
    "quarantined",
    "rolled_back",
    "retired",
    "changes_requested",
    "review",
    "decision",
    "failing",
    "source",
    "mirror",
    "release_failed",
    "release_stopped",
    "tool_broken",
    "fails_in_use",
    "regression",
    "release",
    "proposal",
    "draft",
]
# By which verb each began.
_TAKEN: Final[dict[str, Kind]] = {
    "capability.quarantine": "quarantined",
    "capability.rollback": "rolled_back",
    "capability.retire": "retired",
}
# Of each kind; a list that is longer is read on the page of that kind.
KIND_MAX: Final = 50
# From there on the sidebar shows 99+, and nothing needs the number.
COUNTED_MAX: Final = 100
# How long a rollback or a retirement is listed for those whose text it was. A quarantine is, as long as it lasts.
TAKEN_DAYS: Final = 14
# Of the newest so many such events those of one person are found.
_EVENTS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class InboxItem:
    """Something to do. `by` is an actor as stored, or the name of a key, of a regression where it alone has reported;
    `text` is what somebody or the registry said; `key` is the row id of a review or a source, the id of a proposal, or
    the number of a revision; `count` says how often it happened, of a regression the share of failures in percent, with
    that of before in `before`; of what fails in use how many of `before` known ends; of a rollback `before` and
    `count` are the revisions before and after it."""

    kind: Kind
    capability_id: str
    at: datetime | None = None
    by: str = ""
    text: str = ""
    key: str = ""
    count: int = 0
    before: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Inbox:
    """All of it, worst first; `has_more` says that a kind has more than `KIND_MAX`."""

    items: Sequence[InboxItem]
    has_more: bool


def build_inbox(operator: Operator, *, today_ends: datetime, failing: Sequence[FailingCapability]) -> Inbox:
    """What this person can do something about; nothing for a viewer. `failing` is what `find_failing` found."""
    if not operator.can_edit:
        return Inbox((), has_more=False)
    actor = str(Actor("operator", operator.get_username()))
    closed = _closed_to(operator)
    kinds = [
        list(_taken(operator)),
        list(_changes_requested(actor)),
        list(_reviews(operator, actor, closed)),
        list(_decisions(operator, closed)),
        list(_incidents(closed)),
        list(_stopped(actor)),
        list(_usage(closed, failing)),
        list(_releases(today_ends, closed)),
        list(_proposals(closed)),
        list(_drafts_with_errors(actor)),
    ]
    found = [one for kind in kinds for one in kind]
    names = find_display_names({one.capability_id for one in found if one.capability_id})
    named = [
        replace(one, name=names.get(one.capability_id) or readable_name(one.capability_id).capitalize())
        for one in found
    ]
    return Inbox(named, has_more=any(len(kind) >= KIND_MAX for kind in kinds))


def _closed_to(operator: Operator) -> QuerySet[Capability]:
    """Capabilities of teams that the person is not in."""
    if operator.can_administer:
        return Capability.objects.none()
    return Capability.objects.filter(team__isnull=False).exclude(team__memberships__operator=operator)


def _taken(operator: Operator) -> Iterator[InboxItem]:
    """What readers have lost, for those who wrote, published or own it: the newest event of each that still holds."""
    since = timezone.now() - timedelta(days=TAKEN_DAYS)
    held_back = Capability.objects.filter(status=Capability.Status.QUARANTINED).values("capability_id")
    recent = Q(at__gte=since) | Q(verb="capability.quarantine", subject__in=held_back)
    found = AuditEvent.objects.filter(recent, verb__in=TAKING_VERBS).order_by("-id")[:_EVENTS_MAX]
    # A quarantine that has ended hides no rollback that still holds.
    newest = {(event.subject, event.verb): event for event in reversed(found)}
    rows = Capability.objects.filter(capability_id__in={subject for subject, _ in newest}).values_list(
        "capability_id", "status", "published_revision__number"
    )
    state = {name: (status, number) for name, status, number in rows}
    by_age = sorted(newest.values(), key=lambda event: event.pk)
    holds = [event for event in by_age if event.subject in state and _holds(event, *state[event.subject])]
    holding = list({event.subject: event for event in holds}.values())
    concerned = find_concerned(holding)
    mine = [event for event in holding if operator.get_username() in concerned[event.pk]]
    for event in sorted(mine, key=lambda one: (list(_TAKEN).index(one.verb), -one.pk))[:KIND_MAX]:
        by, note = f"{event.actor_kind}:{event.actor_name}", str(event.detail.get("note") or "")
        old, new = event.detail.get("from"), event.detail.get("to")
        numbers = {"before": old, "count": new} if event.verb == "capability.rollback" else {}
        yield InboxItem(_TAKEN[event.verb], event.subject, event.at, by, note, **numbers)


def _holds(event: AuditEvent, status: str, number: int | None) -> bool:
    """Whether the capability is still what the event made of it."""
    if event.verb == "capability.rollback":
        return status in LOADABLE_STATUSES and number == event.detail.get("to")
    return status == _TAKEN[event.verb]


def _changes_requested(actor: str) -> Iterator[InboxItem]:
    found = list_changes_requested().filter(requested_by=actor)
    columns = ("capability__capability_id", "decided_at", "decided_by", "comment", "pk")
    for capability_id, at, by, comment, key in found.values_list(*columns)[:KIND_MAX]:
        yield InboxItem("changes_requested", capability_id, at, by, comment or "", str(key))


def _reviews(operator: Operator, actor: str, closed: QuerySet[Capability]) -> Iterator[InboxItem]:
    if operator.can_publish:
        found = list_reviews(states=(Review.State.OPEN,)).exclude(capability__in=closed).exclude(requested_by=actor)
        oldest = found.order_by("requested_at", "pk")[:KIND_MAX]
        for review in sorted(oldest, key=lambda one: operator.get_username() not in one.reviewers):
            if is_independent_reviewer(review, actor):
                at, by = review.requested_at, review.requested_by
                yield InboxItem("review", review.capability.capability_id, at, by, review.note, str(review.pk))


def _decisions(operator: Operator, closed: QuerySet[Capability]) -> Iterator[InboxItem]:
    """Capabilities with passages that wait, for those who may decide about one."""
    if not operator.can_publish:
        return
    waiting = list_pending_capabilities(excluding=closed.values("capability_id"), most=KIND_MAX)
    for capability_id, seen_at, count, doubt in waiting:
        yield InboxItem("decision", capability_id, seen_at, text=doubt, count=count)


def _incidents(closed: QuerySet[Capability]) -> Iterator[InboxItem]:
    kinds: dict[str, Kind] = {
        "bundle": "failing",
        "release": "release_failed",
        "source": "source",
        "mirror": "mirror",
        "tool": "tool_broken",
    }
    # What fails in use has a row of its own (`_usage`).
    found = (
        list_open_incidents()
        .exclude(kind=Incident.Kind.USE)
        .exclude(capability__in=closed)
        .order_by("kind", "-last_seen_at", "-pk")
    )
    columns = ("kind", "capability__capability_id", "last_seen_at", "details", "source_id", "subject", "count")
    for kind, capability_id, at, details, source, address, count in found.values_list(*columns)[:KIND_MAX]:
        yield InboxItem(kinds[kind], capability_id or "", at, address, details, str(source or ""), count)


def _stopped(actor: str) -> Iterator[InboxItem]:
    """What the person had scheduled and will not go out, for as long as a rollback is listed."""
    by = Actor("operator", actor.partition(":")[2])
    found = list_stopped(by, since=timezone.now() - timedelta(days=TAKEN_DAYS))
    for release, why in islice(found, KIND_MAX):
        yield InboxItem("release_stopped", release.capability.capability_id, release.ended_at, actor, why)


def _usage(closed: QuerySet[Capability], failing: Sequence[FailingCapability]) -> Iterator[InboxItem]:
    """What fails in use, and what does so more often than before; one row for each capability."""
    worse = find_regressions()[:KIND_MAX]
    regressed = {one.capability_id for one in worse}
    others = [one for one in failing if one.capability_id not in regressed][:KIND_MAX]
    ids = {*regressed, *(one.capability_id for one in others)}
    hidden = set(closed.filter(capability_id__in=ids).values_list("capability_id", flat=True)) if ids else set()
    for bad in others:
        if bad.capability_id not in hidden:
            row = InboxItem("fails_in_use", bad.capability_id, bad.since, by=bad.only_key, key=str(bad.number))
            yield replace(row, count=bad.failed, before=bad.known)
    for one in worse:
        if one.capability_id not in hidden:
            share, before = one.newer.failure_percent or 0, one.older.failure_percent or 0
            number, by = str(one.number), one.only_key
            yield InboxItem("regression", one.capability_id, by=by, key=number, count=share, before=before)


def _releases(today_ends: datetime, closed: QuerySet[Capability]) -> Iterator[InboxItem]:
    found = list_releases(waiting=True).filter(due_at__lt=today_ends).exclude(capability__in=closed)
    for capability_id, due_at, by, note in found.values_list(
        "capability__capability_id", "due_at", "scheduled_by", "note"
    )[:KIND_MAX]:
        yield InboxItem("release", capability_id, due_at, by, note)


def _proposals(closed: QuerySet[Capability]) -> Iterator[InboxItem]:
    found = Proposal.objects.filter(status=Proposal.Status.DRAFT).exclude(capability__in=closed).order_by("-pk")
    columns = ("capability__capability_id", "created_at", "key_name", "note", "proposal_id")
    for capability_id, at, key_name, note, proposal_id in found.values_list(*columns)[:KIND_MAX]:
        yield InboxItem("proposal", capability_id, at, key_name, note, str(proposal_id))


def _drafts_with_errors(actor: str) -> Iterator[InboxItem]:
    found = Draft.objects.filter(discarded_at__isnull=True, saved_by=actor, digest="")
    is_sent_back = Exists(list_changes_requested().filter(capability=OuterRef("capability")))
    rows = found.exclude(is_sent_back).order_by("-saved_at", "-pk").values_list("capability__capability_id", "saved_at")
    for capability_id, saved_at in rows[:KIND_MAX]:
        yield InboxItem("draft", capability_id, saved_at, actor)


def count_reviews(operator: Operator) -> int:
    """Reviews that this person can decide, and their own that were sent back; a viewer has none."""
    if not operator.can_edit:
        return 0
    actor = str(Actor("operator", operator.get_username()))
    wanted = Q(state=Review.State.CHANGES_REQUESTED, requested_by=actor)
    if operator.can_publish:
        wanted |= Q(state=Review.State.OPEN) & ~Q(requested_by=actor)
    return Review.objects.filter(wanted).count()


def count_unmet_requests(operator: Operator) -> int:
    """Ids and messages that led nowhere and that nobody has dismissed, up to `COUNTED_MAX`; for those who can act."""
    if not operator.can_edit:
        return 0
    # Their keys are of two types, which PostgreSQL does not put into one column.
    ids, messages = (
        rows.order_by().annotate(row=Value(1)).values("row")
        for rows in (demand.list_unknown_ids(), demand.list_messages())
    )
    return ids.union(messages, all=True)[:COUNTED_MAX].count()


def count_incidents(operator: Operator) -> int:  # noqa: ARG001 (every count takes the person)
    """How many incidents are open, for every operator the same."""
    return list_open_incidents().count()
