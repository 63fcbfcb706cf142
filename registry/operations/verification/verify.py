"""Read a whole history, in a database or in a backup, and say what in it is not what was signed and recorded."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.utils import timezone

from capability_kit.errors import ResponseRejected
from capability_kit.signatures.dsse import PublicKey, parse_key_list
from capability_kit.signatures.statements import CheckpointFacts, read_checkpoint
from capability_rules.errors import InvalidRequest
from registry.common.actors import Actor
from registry.common.errors import BackupUnreadable, HistoryDamaged
from registry.common.installation import PROGRAM
from registry.core import audit, checkpoints
from registry.core.append_only import find_missing_triggers
from registry.core.checkpoints import make_checkpoint, read_last_checkpoint
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.kept_checkpoint import KeptCheckpoint, read_kept
from registry.core.queries import load_bundle
from registry.core.signatures import sign_revision
from registry.core.signing_keys import get_signing_keys
from registry.core.transactions import write_transaction
from registry.models import Revision
from registry.operations.backup.archive import check_archive, open_archive, read_table
from registry.operations.backup.create import one_moment
from registry.operations.backup.tables import read_stored
from registry.operations.rights.comparison import compare_rights
from registry.operations.verification import audit_log, checkpoint_chain, file_contents, releases, revisions
from registry.operations.verification.audit_log import AuditRecord
from registry.operations.verification.problem import Problem, ReadTable, Row
from registry.operations.verification.revisions import RevisionFacts

VERB: Final = "registry.sign"
_REVISIONS_A_TRANSACTION: Final = 200
# What signing does away with, or what has nothing to do with the content of revisions.
_ACCEPTED: Final = frozenset(
    {
        "REVISION_SIGNATURE_MISSING",
        "TRIGGER_MISSING",
        "CHECKPOINT_NONE",
        "RIGHTS_NOT_RECORDED",
        "RIGHTS_NOT_AS_RECORDED",
        "RIGHTS_MISSING",
    }
)
# What this host has kept is compared when a checkpoint is signed, with the way out of it.
_ACCEPTED_BEFORE_CHECKPOINT: Final = _ACCEPTED | {"CHECKPOINT_NOT_AS_KEPT"}
_FILE_BYTES_MAX: Final = 64 * 1024 * 1024
_LINE_BYTES_MAX: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """How many rows were read of each kind, and what is wrong with them."""

    audit_rows: int
    revisions: int
    releases: int
    checkpoints: int
    problems: tuple[Problem, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `registry verify --format json` prints it."""
        return {"ok": not self.problems, **asdict(self)}


def verify_database(trusted: Sequence[PublicKey]) -> HistoryReport:
    """Everything in the database, as it is at one moment; writers are not kept waiting.

    Raises `HistoryDamaged` where a row holds what cannot be read at all.
    """
    # Before the moment: a checkpoint is kept when it is committed.
    kept = read_kept()
    with one_moment():
        try:
            report = verify_history(read_stored, trusted, now=timezone.now(), kept=kept)
        except (KeyError, TypeError, ValueError) as error:
            raise HistoryDamaged(f"A row of the database cannot be read: {error!r}") from error
        missing = tuple(map(_missing_trigger, find_missing_triggers()))
    return replace(report, problems=(*missing, *report.problems))


def _missing_trigger(name: str) -> Problem:
    words = f"The trigger {name} is missing or changed. Run: manage migrate"
    return Problem("TRIGGER_MISSING", "triggers", name, words)


def sign_unsigned_revisions(*, by: Actor) -> int:
    """Sign every revision that was published before revisions were signed, and make a checkpoint; returns how many.

    Raises `HistoryDamaged` where the history has another problem: what was changed is never signed.
    """
    _require_sound(_ACCEPTED)
    signed = 0
    while count := _sign_some(by):
        signed += count
    make_checkpoint()
    return signed


def _require_sound(accepted: Collection[str]) -> None:
    """Raises `HistoryDamaged` where the history has a problem beside these."""
    problems = verify_database(get_signing_keys().public).problems
    others = [problem for problem in problems if problem.code not in accepted]
    if others:
        words = f"Nothing was signed: {others[0].message} ({len(others)} problems in all)"
        raise HistoryDamaged(f"{words}. Run: {PROGRAM} manage registry verify")


def make_sound_checkpoint() -> CheckpointFacts:
    """As `make_checkpoint`, once the whole history was read: nothing is signed that `registry verify` refuses.

    Raises `HistoryDamaged`.
    """
    _require_sound(_ACCEPTED_BEFORE_CHECKPOINT)
    return make_checkpoint()


def checkpoint_job(lease: Lease) -> CommitAction:
    """The handler. The first checkpoint signs everything before it, so all of that is read; a later one what was added
    since."""
    if not read_last_checkpoint().number:
        _require_sound(_ACCEPTED_BEFORE_CHECKPOINT)
    return checkpoints.checkpoint_job(lease)


def _sign_some(by: Actor) -> int:
    with write_transaction():
        unsigned = Revision.objects.filter(signature="").select_related("capability").order_by("pk")
        found = list(unsigned[:_REVISIONS_A_TRANSACTION])
        for revision in found:
            if not revision.read_only_digest:
                revision.read_only_digest = load_bundle(revision).without_write_tools().digest
            revision.signature = sign_revision(revision)
            revision.save(update_fields=["read_only_digest", "signature"])
        if found:
            audit.record(by=by, verb=VERB, subject="registry", detail={"revisions": len(found)})
    return len(found)


def verify_backup(path: Path, trusted: Sequence[PublicKey]) -> HistoryReport:
    """Everything in a backup, with public keys alone. Raises `BackupUnreadable`."""
    check_archive(path)
    with open_archive(path) as (archive, manifest):
        tables = {table.name: table for table in manifest.tables}

        def read(name: str) -> Iterator[Row]:
            return (row for row, _ in read_table(archive, tables[name])) if name in tables else iter(())

        try:
            return verify_history(read, trusted, now=datetime.fromisoformat(manifest.created_at))
        except (KeyError, TypeError, ValueError) as error:
            raise BackupUnreadable(f"A row of the backup cannot be read: {error!r}") from error


def verify_history(
    read: ReadTable, trusted: Sequence[PublicKey], *, now: datetime, kept: KeptCheckpoint | None = None
) -> HistoryReport:
    """Compare audit log, revisions, releases and checkpoints with each other, with what trusted keys signed, and with
    the checkpoint that is `kept` outside of the database."""
    problems: list[Problem] = []
    signed: list[CheckpointFacts] = []
    problems += checkpoint_chain.read_checkpoints(read("checkpoint"), trusted, signed)
    problems += checkpoint_chain.compare_with_kept(signed, kept)
    record = AuditRecord()
    ends = [facts.audit_id for facts in signed]
    problems += audit_log.read_audit_log(read("auditevent"), ends, record)
    problems += audit_log.compare_audit_log(record, signed)
    names = {row["id"]: str(row["capability_id"]) for row in read("capability")}
    known: dict[int, RevisionFacts] = {}
    contents: set[str] = set()
    problems += file_contents.read_contents(read("filecontent"), read("filechunk"), contents)
    problems += revisions.read_revisions(read("revision"), names, trusted, known, contents)
    signed_at = [facts.signed_at for facts in known.values() if facts.signed_at]
    problems += checkpoint_chain.require_any(signed, signed_at, now)
    problems += revisions.compare_with_audit_log(known, record.publishes)
    made = releases.read_releases(read("release"), names, known, [facts.release_id for facts in signed])
    problems += releases.compare_releases(made, signed)
    problems += releases.compare_with_audit_log(made, record.publishes)
    problems += releases.compare_capabilities(read("capability"), made)
    problems += releases.compare_registry_revision(read("registrystate"), made, signed)
    problems += (Problem(one.code, one.table, one.row, one.message) for one in compare_rights(read, record.rights))
    return HistoryReport(record.rows, len(known), made.rows, len(signed), tuple(problems))


def verify_exported_log(path: Path, checkpoints: Sequence[Any], trusted: Sequence[PublicKey]) -> HistoryReport:
    """An audit log that was exported as lines of JSON without filters, against checkpoints (envelopes) of then.

    Raises `InvalidRequest` where the file cannot be read.
    """
    problems: list[Problem] = []
    signed: list[CheckpointFacts] = []
    for envelope in checkpoints:
        try:
            signed.append(read_checkpoint(envelope, trusted=trusted))
        except ResponseRejected as error:
            problems.append(Problem(f"CHECKPOINT_{error.code}", "checkpoint", str(len(signed) + 1), error.message))
    record = AuditRecord()
    events = sorted(_read_lines(path), key=lambda row: int(row["id"]))
    problems += audit_log.read_audit_log(events, [facts.audit_id for facts in signed], record)
    problems += audit_log.compare_audit_log(record, signed)
    return HistoryReport(record.rows, 0, 0, len(signed), tuple(problems))


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    number = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(_LINE_BYTES_MAX):
                number += 1
                row = json.loads(line)
                # Read here, so that a line of another shape is named.
                yield {name: row[name] for name in (*audit_log.EXPORTED, "id", "hash")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"{path}, line {number} is not a row of an exported audit log: {error!r}") from error


def read_key_file(path: Path) -> tuple[PublicKey, ...]:
    """The keys of a saved `/.well-known/capability-studio-keys.json`. Raises `InvalidRequest`."""
    try:
        return parse_key_list(_read_document(path))
    except ValueError as error:
        raise InvalidRequest(f"{path} is not a list of public keys: {error}") from error


def read_checkpoint_file(path: Path) -> list[Any]:
    """The envelopes of a saved response of `registry_checkpoints`. Raises `InvalidRequest`."""
    document = _read_document(path)
    found = document.get("checkpoints") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise InvalidRequest(f'{path} has no checkpoints: expected {{"checkpoints": [...]}}')
    return found


def _read_document(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return json.loads(file.read(_FILE_BYTES_MAX))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} cannot be read as JSON: {error}") from error
