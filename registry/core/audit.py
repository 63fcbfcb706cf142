"""The audit log: one row a write, in the writer's own transaction, chained by hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import rfc8785
from django.db import transaction
from django.utils import timezone

from registry.common.actors import Actor
from registry.core.events import EVENTS
from registry.core.hooks import Hook
from registry.models import AuditEvent

GENESIS = "0" * 64
_HASHED: Final = ("at", "actor", "verb", "subject", "detail", "previous_hash")
# Called with each new event, in its transaction.
RECORDED: Final = Hook()
# The same, by the verb: what is registered here is imported with the first event of that verb.
RECORDED_VERBS: Final[dict[str, Hook]] = {}


def record(*, by: Actor, verb: str, subject: str, detail: dict[str, Any] | None = None) -> AuditEvent:
    """Append a row, and call the functions of `RECORDED` and of its verb. The caller holds the lock of the registry's
    state, so that the chain cannot fork. The detail has `via` where an assistant acts for a member. Raises ValueError
    for a verb without a row in `EVENTS`."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an audit row is written in the transaction of the write that it records")
    if verb not in EVENTS:
        raise ValueError(f"'{verb}' has no row in registry/core/events.py")
    last = AuditEvent.objects.order_by("-id").values_list("hash", flat=True).first()
    event = AuditEvent(
        at=timezone.now(),
        actor_kind=by.kind,
        actor_name=by.name,
        verb=verb,
        subject=subject,
        detail={**(detail or {}), **({"via": by.via} if by.via else {})},
        previous_hash=last or GENESIS,
    )
    event.hash = event_hash(event)
    event.save(force_insert=True)
    RECORDED(event)
    if verb in RECORDED_VERBS:
        RECORDED_VERBS[verb](event)
    return event


def find_last(subject: str, verb: str, **columns: Any) -> AuditEvent | None:
    """The last event of a verb about a subject, such as a capability's id; `columns` narrow it as a filter does."""
    return AuditEvent.objects.filter(subject=subject, verb=verb, **columns).order_by("id").last()


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """`{"before": {...}, "after": {...}}` with the values that differ, for a row's detail; a value that is on one side
    alone was made or is gone."""
    names = [
        name for name in {**before, **after} if name not in before or name not in after or before[name] != after[name]
    ]
    return {
        "before": {name: before[name] for name in names if name in before},
        "after": {name: after[name] for name in names if name in after},
    }


def event_hash(event: AuditEvent) -> str:
    """SHA-256 over the RFC 8785 form of the row and the hash of the one before."""
    return row_hash(hashed_values(event))


def hashed_values(event: AuditEvent) -> dict[str, Any]:
    """What the hash is over, as JSON values."""
    return {
        "at": event.at.isoformat(),
        "actor": f"{event.actor_kind}:{event.actor_name}",
        "verb": event.verb,
        "subject": event.subject,
        "detail": event.detail,
        "previous_hash": event.previous_hash,
    }


def row_hash(row: Mapping[str, Any]) -> str:
    """The hash of a row as the exported log has it: `at`, `actor`, `verb`, `subject`, `detail`, `previous_hash`."""
    parts = {name: row[name] for name in _HASHED}
    return hashlib.sha256(rfc8785.dumps(parts)).hexdigest()


def find_chain_break() -> AuditEvent | None:
    """The first row whose hash or link does not agree; None where the whole chain is intact."""
    previous = GENESIS
    for event in AuditEvent.objects.order_by("id").iterator():
        if event.previous_hash != previous or event.hash != event_hash(event):
            return event
        previous = event.hash
    return None
