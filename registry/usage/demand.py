"""Unmet requests: what agents asked for and did not get, and what operators do about it.

Ids are counted always. Messages are kept where `KEEP_UNMATCHED_DAYS` says so, scrubbed (registry/usage/scrubbing.py),
for a number of days after they were last sent. What was dismissed returns once it was asked for `RETURNS_AFTER` times
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeVar

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.common.string_similarity import close_matches, closest_matches_batch
from registry.core import audit, chosen_settings
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.queries import LOADABLE_STATUSES
from registry.core.transactions import write_transaction
from registry.models import Capability, UnknownCapabilityRequest, UnmatchedMessage
from registry.models.usage import RequestCounts
from registry.usage.unmatched_messages import message_stems

KIND: Final = "demand.prune"
RETURNS_AFTER: Final = 5
# This many are put into groups; the others were asked less, and come up as these are dealt with.
GROUPED_MAX: Final = 300
# An id that nobody asked for again is forgotten.
ID_RETENTION_DAYS: Final = 90
SIMILARITY_MIN: Final = 0.5
EXAMPLES_SHOWN_MAX: Final = 5
DemandKind = Literal["ids", "messages"]
Row = TypeVar("Row", bound=RequestCounts)


@dataclass(frozen=True, slots=True)
class UnknownId:
    """An id that is not published. `meant` are published ids that may have been meant; `is_begun`: there is a
    capability of this id, but none that agents can load."""

    miss: UnknownCapabilityRequest
    requested_by: tuple[tuple[str, int], ...]
    meant: tuple[str, ...]
    is_begun: bool

    @property
    def chosen(self) -> tuple[str, ...]:
        """What to pass to `dismiss`."""
        return (self.miss.capability_id,)


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Similar messages, the most frequent first."""

    rows: tuple[UnmatchedMessage, ...]
    count: int
    first_seen_at: datetime
    last_seen_at: datetime
    requested_by: tuple[tuple[str, int], ...]

    @property
    def chosen(self) -> tuple[str, ...]:
        """What to pass to `dismiss`: all of them."""
        return tuple(str(row.pk) for row in self.rows)

    @property
    def main(self) -> UnmatchedMessage:
        return self.rows[0]

    @property
    def others(self) -> tuple[UnmatchedMessage, ...]:
        """The messages shown below `main`."""
        return self.rows[1:EXAMPLES_SHOWN_MAX]

    @property
    def more(self) -> int:
        """How many are not shown."""
        return max(0, len(self.rows) - EXAMPLES_SHOWN_MAX)


def list_unknown_ids(*, dismissed: bool = False) -> QuerySet[UnknownCapabilityRequest]:
    """Ids that are still not there, the most wanted first."""
    there = Capability.objects.filter(status__in=LOADABLE_STATUSES).values("capability_id")
    found = UnknownCapabilityRequest.objects.exclude(capability_id__in=there).order_by("-count", "capability_id")
    return found.filter(_dismissed()) if dismissed else found.exclude(_dismissed())


def list_messages(*, dismissed: bool = False) -> QuerySet[UnmatchedMessage]:
    """The most frequent first."""
    found = UnmatchedMessage.objects.order_by("-count", "-last_seen_at", "pk")
    return found.filter(_dismissed()) if dismissed else found.exclude(_dismissed())


def _dismissed() -> Q:
    return Q(dismissed_at__isnull=False, count__lt=F("dismissed_count") + RETURNS_AFTER)


def describe_row(rows: Iterable[UnknownCapabilityRequest]) -> list[UnknownId]:
    """Each with the ids that may have been meant."""
    shown = list(rows)
    published = list(Capability.objects.filter(status__in=LOADABLE_STATUSES).values_list("capability_id", flat=True))
    wanted = [row.capability_id for row in shown]
    begun = set(Capability.objects.filter(capability_id__in=wanted).values_list("capability_id", flat=True))
    # The few that share most bigrams are enough for a suggestion.
    near = closest_matches_batch(wanted, published, most=3, compared=12)
    return [
        UnknownId(
            row, _by_key([row]), tuple(close_matches(row.capability_id, names, most=3)), row.capability_id in begun
        )
        for row, names in zip(shown, near, strict=True)
    ]


def group_messages(rows: QuerySet[UnmatchedMessage]) -> list[MessageGroup]:
    """Groups of messages with half of the shorter one's specific words in common, the most frequent first."""
    groups: list[tuple[frozenset[str], list[UnmatchedMessage]]] = []
    for row in rows[:GROUPED_MAX]:
        stems = message_stems(row.text)
        likeness = [_alike(group, stems) for group, _ in groups]
        best = max(likeness, default=0.0)
        if best >= SIMILARITY_MIN:
            groups[likeness.index(best)][1].append(row)
        else:
            groups.append((stems, [row]))
    found = [_said(members) for _, members in groups]
    return sorted(found, key=lambda said: (-said.count, said.main.pk))


def _alike(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of the specific words of the shorter one that are in the other, 0 to 1; one word in common of several
    says nothing."""
    shared = len(first & second)
    shorter = min(len(first), len(second))
    return shared / shorter if shared > 1 or shared == shorter > 0 else 0.0


def _said(rows: list[UnmatchedMessage]) -> MessageGroup:
    first, last = min(row.first_seen_at for row in rows), max(row.last_seen_at for row in rows)
    return MessageGroup(tuple(rows), sum(row.count for row in rows), first, last, _by_key(rows))


def _by_key(rows: Sequence[RequestCounts]) -> tuple[tuple[str, int], ...]:
    total: dict[str, int] = {}
    for row in rows:
        for name, count in (row.requested_by or {}).items():
            total[name] = total.get(name, 0) + count
    return tuple(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


def dismiss_row(*, what: DemandKind, chosen: Sequence[str], by: Actor) -> int:
    """Dismiss ids, or messages by their row numbers; returns how many. Raises `NotFound` where none is there."""
    with write_transaction():
        found = _chosen(what, chosen).exclude(_dismissed())
        count = found.update(dismissed_at=timezone.now(), dismissed_by=str(by), dismissed_count=F("count"))
        _audit(count, "demand.dismiss", what, chosen, by)
    return count


def undismiss(*, what: DemandKind, chosen: Sequence[str], by: Actor) -> int:
    """Show them again; returns how many. Raises `NotFound` where none was dismissed."""
    with write_transaction():
        found = _chosen(what, chosen).filter(dismissed_at__isnull=False)
        count = found.update(dismissed_at=None, dismissed_by="", dismissed_count=0)
        _audit(count, "demand.bring_back", what, chosen, by)
    return count


def _chosen(what: DemandKind, chosen: Sequence[str]) -> QuerySet[UnknownCapabilityRequest] | QuerySet[UnmatchedMessage]:
    if what == "ids":
        return UnknownCapabilityRequest.objects.filter(capability_id__in=chosen)
    numbers = [int(each) for each in chosen if each.isdecimal() and len(each) < 16]
    return UnmatchedMessage.objects.filter(pk__in=numbers)


def _audit(count: int, verb: str, what: DemandKind, chosen: Sequence[str], by: Actor) -> None:
    if not count:
        raise NotFound("This request is no longer listed. Someone may have handled it")
    # Of messages the numbers alone: what a user said is forgotten in time, and the audit log forgets nothing.
    audit.record(by=by, verb=verb, subject=f"{count} {what}", detail={"what": what, "chosen": list(chosen)[:100]})


def prune_messages(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: deletes messages that were not sent for `KEEP_UNMATCHED_DAYS` (all of them where that is 0), and ids
    that nobody asked for within `ID_RETENTION_DAYS`."""
    now = timezone.now()
    kept = timedelta(days=chosen_settings.get_setting("KEEP_UNMATCHED_DAYS"))
    messages = UnmatchedMessage.objects.filter(last_seen_at__lt=now - kept)
    ids = UnknownCapabilityRequest.objects.filter(last_seen_at__lt=now - timedelta(days=ID_RETENTION_DAYS))

    def prune() -> None:
        messages.delete()
        ids.delete()

    return prune
