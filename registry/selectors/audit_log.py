"""Reading the audit log: who did what to what, when, and whether the hash chain is intact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from registry.common.actors import PEOPLE
from registry.core import audit
from registry.models import AuditEvent

# Whose writes may be listed, and the kinds of actor that each stands for.
ACTOR_KINDS: Final = {"people": PEOPLE, "keys": ("agent_key",), "system": ("system",)}
# A page checks the whole chain unasked only where that takes no time: about 0.05 s.
AUTO_CHECK_MAX: Final = 2000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What to list; empty is any. `who` is a name, `verb` a verb or the noun before its dot, `subject` a capability_id,
    a key's, an operator's, a team's or a webhook's name; `since` and `until` are moments, the second not included;
    `by` is a key of `ACTOR_KINDS`."""

    by: str = ""
    who: str = ""
    verb: str = ""
    subject: str = ""
    since: datetime | None = None
    until: datetime | None = None


def list_events(wanted: AuditFilter) -> QuerySet[AuditEvent]:
    """The audit rows that a filter asks for, the newest first."""
    is_whole = "." in wanted.verb
    columns = {
        "actor_kind__in": ACTOR_KINDS.get(wanted.by, ()),
        "actor_name": wanted.who,
        "verb": wanted.verb if is_whole else "",
        "verb__startswith": f"{wanted.verb}." if wanted.verb and not is_whole else "",
        "subject": wanted.subject,
        "at__gte": wanted.since,
        "at__lt": wanted.until,
    }
    return AuditEvent.objects.filter(**{name: value for name, value in columns.items() if value}).order_by("-id")


def export_events(found: QuerySet[AuditEvent]) -> Iterator[dict[str, Any]]:
    """Each row as JSON values, with the hashes by which it can be checked elsewhere."""
    for event in found.iterator(chunk_size=500):
        yield {"id": event.pk, **audit.hashed_values(event), "hash": event.hash}


def list_verbs() -> list[str]:
    """Every verb in the log, in order."""
    return list(AuditEvent.objects.order_by("verb").values_list("verb", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class ChainStatus:
    """Of `rows` in all; `broken` is the first that does not agree, and means nothing unless `is_checked`."""

    rows: int
    is_checked: bool
    broken: AuditEvent | None = None


def verify_chain(*, checked: bool = False) -> ChainStatus:
    """Whether the log is intact from its first row on; a long one is read only on request."""
    rows = AuditEvent.objects.count()
    if not checked and rows > AUTO_CHECK_MAX:
        return ChainStatus(rows, is_checked=False)
    return ChainStatus(rows, is_checked=True, broken=audit.find_chain_break())
