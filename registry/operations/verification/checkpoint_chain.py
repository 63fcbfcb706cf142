"""Checkpoints: each is signed by a trusted key, follows the one before, and takes nothing back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from capability_kit.errors import ResponseRejected
from capability_kit.json_text import parse_json
from capability_kit.signatures.dsse import PublicKey
from capability_kit.signatures.statements import CheckpointFacts, read_checkpoint
from registry.common.installation import PROGRAM
from registry.core.checkpoints import NOTHING
from registry.core.kept_checkpoint import KeptCheckpoint
from registry.operations.verification.problem import Problem, Row

TABLE: Final = "checkpoint"
# The first one follows the first publish by half a minute where a worker runs.
FIRST_CHECKPOINT_WITHIN: Final = timedelta(minutes=10)


def read_checkpoints(
    rows: Iterable[Row], trusted: Sequence[PublicKey], found: list[CheckpointFacts]
) -> Iterator[Problem]:
    """Problems of the chain of checkpoints; fills `found` with those that are signed."""
    before, number = NOTHING, 0
    for row in rows:
        number += 1
        if row["number"] != number:
            words = f"Checkpoint {number} is missing: after {number - 1} comes {row['number']}"
            yield Problem("CHECKPOINT_MISSING", TABLE, str(number), words)
            number, before = int(row["number"]), NOTHING
        try:
            envelope = row["envelope"]
            document = parse_json(envelope) if isinstance(envelope, str) else envelope
            facts = read_checkpoint(document, trusted=trusted)
        except ResponseRejected as error:
            words = f"Checkpoint {number} is not what was signed. {error.message}"
            yield Problem(f"CHECKPOINT_{error.code}", TABLE, str(number), words)
            before = NOTHING
            continue
        found.append(facts)
        yield from _compare(row, facts, before)
        before = facts


def compare_with_kept(found: Sequence[CheckpointFacts], kept: KeptCheckpoint | None) -> Iterator[Problem]:
    """The checkpoint that this host keeps outside of the database is among those that are signed."""
    if kept is None or any((facts.number, facts.hash) == (kept.number, kept.hash) for facts in found):
        return
    last = max((facts.number for facts in found), default=0)
    there = f"ends with checkpoint {last}" if last < kept.number else "has another one of this number"
    words = (
        f"Checkpoint {kept.number}, which this host has kept outside of the database, is not in it: it "
        f"{there if last else 'has no checkpoint'}. What was signed since is gone, or was replaced"
    )
    yield Problem("CHECKPOINT_NOT_AS_KEPT", TABLE, str(kept.number), words)


def require_any(found: Sequence[CheckpointFacts], published_at: Iterable[str], now: datetime) -> Iterator[Problem]:
    """Where revisions were signed a while ago there is a checkpoint; `published_at` is when (ISO 8601), of each."""
    first = min(published_at, default="")
    if first and not found and datetime.fromisoformat(first) < now - FIRST_CHECKPOINT_WITHIN:
        words = (
            f"There is no checkpoint, and revisions were signed since {first}: the checkpoints were deleted, or no "
            f"worker has run. Where the history is what it should be: {PROGRAM} manage registry checkpoint"
        )
        yield Problem("CHECKPOINT_NONE", TABLE, "1", words)


def _compare(row: Row, facts: CheckpointFacts, before: CheckpointFacts) -> Iterator[Problem]:
    number = str(row["number"])
    held = {name: row[name] for name in ("number", "registry_revision", "hash") if name in row}
    for name, value in held.items():
        if value != getattr(facts, name):
            words = f"Checkpoint {number} is stored with the {name} {value}, and {getattr(facts, name)} was signed"
            yield Problem("CHECKPOINT_CHANGED", TABLE, number, words)
    if (before.number or facts.number == 1) and not facts.follows(before):
        words = f"Checkpoint {number} does not name the hash of checkpoint {before.number}"
        yield Problem("CHECKPOINT_LINK_BROKEN", TABLE, number, words)
    if less := facts.shrinks(before):
        words = f"Checkpoint {number} takes something back: {less}"
        yield Problem("CHECKPOINT_ROLLED_BACK", TABLE, number, words)
