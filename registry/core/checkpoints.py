"""Signed checkpoints: how far audit log and releases have come, so that nothing before can be taken back unnoticed.

One is made by a job some time after each publish, daily, and by `registry checkpoint`; only what was added since the
one before is read for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, timedelta
from typing import Any, Final

import rfc8785
from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from capability_kit.signatures.statements import CHECKPOINT_TYPE, GENESIS, CheckpointFacts, parse_checkpoint
from registry.common.actors import Actor
from registry.common.errors import HistoryDamaged
from registry.common.installation import PROGRAM
from registry.core import audit
from registry.core.jobs import queue as jobs
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.kept_checkpoint import KeptCheckpoint, forget, keep, read_kept, read_kept_if_sound
from registry.core.signatures import payload_of, seal
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Checkpoint, RegistryState, Release

KIND: Final = "history.checkpoint"
NOTHING: Final = CheckpointFacts(0, 0, 0, 0, GENESIS, 0, 0, GENESIS, GENESIS, "", GENESIS)
# What is chained of a release, with the texts of its revision by their digest.
_RELEASE_COLUMNS: Final = {
    "registry_revision": "registry_revision",
    "capability__capability_id": "capability_id",
    "revision__number": "revision",
    "revision__digest": "digest",
    "revision__files_digest": "files_digest",
    "status": "status",
    "replaced_by": "replaced_by",
    "visibility": "visibility",
    "at": "at",
}


def queue_checkpoint() -> None:
    """After what readers see has changed. Inside `write_transaction()`."""
    run_after = timezone.now() + timedelta(seconds=settings.CHECKPOINT_AFTER_SECONDS)
    jobs.enqueue(KIND, {}, run_after=run_after, dedupe_key=KIND)


def checkpoint_job(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: signs how far audit log and releases have come."""
    return lambda: append_checkpoint(RegistryState.objects.get(id=1))


def make_checkpoint() -> CheckpointFacts:
    """A checkpoint of now; the last one where nothing has happened since. Raises what `append_checkpoint` raises."""
    with write_transaction() as state:
        return append_checkpoint(state)


def append_checkpoint(state: RegistryState) -> CheckpointFacts:
    """As `make_checkpoint`, for a caller that holds the lock of the registry's state.

    Raises `HistoryDamaged` where the history does not continue the last checkpoint, or that is not the one that was
    kept outside of the database, or a later one: that is never signed over.
    """
    last = read_last_checkpoint()
    _require_kept(last)
    _require_continued(last)
    rows = AuditEvent.objects.filter(pk__gt=last.audit_id)
    newest = rows.order_by("-pk").values_list("pk", "hash").first() or (last.audit_id, last.audit_hash)
    releases, release_id, releases_hash = _chain_new_releases(last)
    facts = CheckpointFacts(
        number=last.number + 1,
        registry_revision=state.registry_revision,
        audit_rows=last.audit_rows + rows.count(),
        audit_id=newest[0],
        audit_hash=newest[1],
        releases=releases,
        release_id=release_id,
        releases_hash=releases_hash,
        previous=last.hash,
        created_at=timezone.now().astimezone(UTC).isoformat(),
    )
    if (facts.audit_id, facts.release_id, facts.registry_revision) == (
        last.audit_id, last.release_id, last.registry_revision,
    ):  # fmt: skip
        return last
    return _store(facts)


def read_last_checkpoint() -> CheckpointFacts:
    """What the newest checkpoint says, its signature unchecked; `NOTHING` where there is none."""
    found = Checkpoint.objects.order_by("-number").values_list("envelope", flat=True).first()
    if found is None:
        return NOTHING
    payload = payload_of(found)
    return parse_checkpoint(json.loads(payload), hashlib.sha256(payload).hexdigest())


def _require_kept(last: CheckpointFacts) -> None:
    """The checkpoint that is kept outside of the database is in it, with the same hash; where none is kept yet, the
    last one is from now on."""
    kept = read_kept()
    if kept is None:
        if last.number:
            keep(KeptCheckpoint(last.number, last.hash))
        return
    found = last.hash if kept.number == last.number else find_hash(kept.number)
    if found != kept.hash:
        what = "is missing in the database" if found is None else "is another one in the database"
        raise HistoryDamaged(
            f"Checkpoint {kept.number}, which this host has kept, {what}; no checkpoint is signed over "
            f"that. Run: {PROGRAM} manage registry verify. After a restore or a move of yours: registry "
            "checkpoint --forget-kept"
        )


def find_hash(number: int) -> str | None:
    """The hash of a stored checkpoint, of its payload as it is now; None where there is none of the number."""
    envelope = Checkpoint.objects.filter(number=number).values_list("envelope", flat=True).first()
    return None if envelope is None else hashlib.sha256(payload_of(envelope)).hexdigest()


def forget_kept(*, by: Actor) -> KeptCheckpoint | None:
    """Keep the database's last checkpoint in the place of what was kept: after a restore, or a move from another
    machine. Returns what was kept; None where that was nothing, or a file that cannot be read."""
    with write_transaction():
        last = read_last_checkpoint()
        kept = read_kept_if_sound()
        detail = {"kept": asdict(kept) if kept else None, "number": last.number, "hash": last.hash}
        audit.record(by=by, verb="registry.forget_checkpoint", subject="registry", detail=detail)
    adopt(last)
    return kept


def adopt(last: CheckpointFacts) -> None:
    """Keep this one, whatever was kept; nothing for `NOTHING`."""
    if last.number:
        keep(KeptCheckpoint(last.number, last.hash))
    else:
        forget()


def _require_continued(last: CheckpointFacts) -> None:
    """The rows that the last checkpoint ends with are still there."""
    if last.audit_id:
        found = AuditEvent.objects.filter(pk=last.audit_id).values_list("hash", flat=True).first()
        if found != last.audit_hash:
            what = "is missing" if found is None else "has another hash"
            raise HistoryDamaged(
                f"Audit row {last.audit_id}, with which checkpoint {last.number} ends, {what}; no checkpoint is "
                f"signed over that. Run: {PROGRAM} manage registry verify"
            )
    newest = Release.objects.filter(pk__lte=last.release_id).aggregate(newest=Max("pk"))["newest"] or 0
    if newest != last.release_id:
        raise HistoryDamaged(
            f"Release {last.release_id}, with which checkpoint {last.number} ends, is missing; no checkpoint is "
            f"signed over that. Run: {PROGRAM} manage registry verify"
        )


def _chain_new_releases(last: CheckpointFacts) -> tuple[int, int, str]:
    """How many there are in all, the last one's registry revision, and the hash over all of them."""
    count, newest, digest = last.releases, last.release_id, last.releases_hash
    found = Release.objects.filter(pk__gt=last.release_id).order_by("pk").values_list(*_RELEASE_COLUMNS)
    for values in found.iterator(chunk_size=500):
        row = dict(zip(_RELEASE_COLUMNS.values(), values, strict=True))
        row["at"] = row["at"].astimezone(UTC).isoformat()
        count, newest, digest = count + 1, row["registry_revision"], chain_release(digest, row)
    return count, newest, digest


def chain_release(previous: str, row: Mapping[str, Any]) -> str:
    """The hash over a release and all before it; `row` has the values of `_RELEASE_COLUMNS`, `at` as ISO 8601."""
    values: Any = {name: row[name] for name in _RELEASE_COLUMNS.values()} | {"previous": previous}
    return hashlib.sha256(rfc8785.dumps(values)).hexdigest()


def _store(facts: CheckpointFacts) -> CheckpointFacts:
    payload = rfc8785.dumps(facts.payload())
    facts = replace(facts, hash=hashlib.sha256(payload).hexdigest())
    Checkpoint.objects.create(
        number=facts.number,
        registry_revision=facts.registry_revision,
        hash=facts.hash,
        envelope=seal(CHECKPOINT_TYPE, payload),
    )
    transaction.on_commit(lambda: keep(KeptCheckpoint(facts.number, facts.hash)))
    return facts


def list_envelopes(*, after: int | None, limit: int, up_to_revision: int) -> list[tuple[int, str]]:
    """`(number, envelope)` of checkpoints past number `after` in order, or of the newest alone; none past a registry
    revision: a reader must not hear of what it cannot list yet."""
    found = Checkpoint.objects.filter(registry_revision__lte=up_to_revision)
    wanted = (
        found.order_by("-number")[:1] if after is None else found.filter(number__gt=after).order_by("number")[:limit]
    )
    return list(wanted.values_list("number", "envelope"))
