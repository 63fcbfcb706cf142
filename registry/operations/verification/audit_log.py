"""The audit log against its own hashes, and against what checkpoints signed of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import rfc8785

from capability_kit.signatures.statements import CheckpointFacts
from registry.core import audit
from registry.operations.rights.recorded import RecordedRights
from registry.operations.verification.problem import Problem, Row

TABLE: Final = "auditevent"
# Of a row of the exported log, what its hash is over.
EXPORTED: Final = ("at", "actor", "verb", "subject", "detail", "previous_hash")


@dataclass(frozen=True, slots=True)
class RecordedPublish:
    """What an audit row says of a publish; `note` is None where it says nothing of one."""

    audit_id: int
    capability_id: str
    revision: int
    digest: str
    by: str
    approved_by: str
    note: str | None


@dataclass(slots=True)
class AuditRecord:
    """What was read of the log: `ends` has position and hash of each row that a checkpoint ends with."""

    rows: int = 0
    last_id: int = 0
    ends: dict[int, tuple[int, str]] = field(default_factory=dict)
    publishes: list[RecordedPublish] = field(default_factory=list)
    rights: RecordedRights = field(default_factory=RecordedRights)


def read_audit_log(rows: Iterable[Row], ends: Iterable[int], record: AuditRecord) -> Iterator[Problem]:
    """Problems of the chain; fills `record`. `ends` are the ids of rows that checkpoints end with."""
    previous, wanted = audit.GENESIS, frozenset(ends)
    for row in rows:
        number = int(row["id"])
        if _hash(row) != row["hash"]:
            yield Problem("AUDIT_ROW_CHANGED", TABLE, str(number), f"Audit row {number} does not have its own hash")
        if row["previous_hash"] != previous:
            before = f"audit row {record.last_id}" if record.rows else "the beginning"
            words = f"Audit row {number} does not follow {before}: what was between them is missing, or was changed"
            yield Problem("AUDIT_LINK_BROKEN", TABLE, str(number), words)
        previous, record.last_id, record.rows = str(row["hash"]), number, record.rows + 1
        if number in wanted:
            record.ends[number] = (record.rows, previous)
        record.rights.apply(row)
        if row["verb"] == "capability.publish":
            record.publishes.append(_read_publish(number, row))


def _read_publish(number: int, row: Row) -> RecordedPublish:
    detail = row["detail"] if isinstance(row["detail"], dict) else {}
    return RecordedPublish(
        audit_id=number,
        capability_id=str(row["subject"]),
        revision=int(detail.get("revision") or 0),
        digest=str(detail.get("digest")),
        by=_actor(row),
        approved_by=str(detail.get("approved_by") or ""),
        note=str(detail["note"]) if "note" in detail else None,
    )


def _actor(row: Row) -> str:
    return str(row["actor"]) if "actor" in row else f"{row['actor_kind']}:{row['actor_name']}"


def _hash(row: Row) -> str:
    values: dict[str, Any] = {**row, "actor": _actor(row)}
    try:
        return audit.row_hash(values)
    except (rfc8785.CanonicalizationError, KeyError, TypeError, ValueError, RecursionError):
        return ""


def compare_audit_log(record: AuditRecord, checkpoints: Sequence[CheckpointFacts]) -> Iterator[Problem]:
    """What the log was when each checkpoint was signed, and is not any more; nothing after the first difference."""
    since = 0
    for facts in checkpoints:
        if facts.audit_id and (problem := _difference(record, facts, since)):
            yield problem
            return
        since = facts.audit_id


def _difference(record: AuditRecord, facts: CheckpointFacts, since: int) -> Problem | None:
    found = record.ends.get(facts.audit_id)
    number, signed = str(facts.audit_id), f"checkpoint {facts.number} signed"
    if found is None:
        words = (
            f"Audit row {number}, the last of the {facts.audit_rows} that {signed}, is missing: the log was cut, it "
            f"has {record.rows} rows and ends with row {record.last_id}"
        )
        return Problem("AUDIT_LOG_CUT", TABLE, number, words)
    if found[1] != facts.audit_hash:
        words = (
            f"Audit row {number} has another hash than {signed}: a row after {since} and up to {number} was changed, "
            "and the hashes were computed again"
        )
        return Problem("AUDIT_LOG_REWRITTEN", TABLE, number, words)
    if found[0] != facts.audit_rows:
        words = f"Audit row {number} is the {found[0]}th, and {signed} {facts.audit_rows} rows up to it"
        return Problem("AUDIT_LOG_REWRITTEN", TABLE, number, words)
    return None
