"""Revisions against their digests, their signatures and the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from capability_kit.errors import ResponseRejected
from capability_kit.json_text import parse_json
from capability_kit.signatures.dsse import PublicKey, open_envelope
from capability_kit.signatures.statements import REVISION_TYPE
from registry.core.queries import files_digest, load_bundle
from registry.core.signatures import ADDED_FIELDS, build_statement
from registry.models import Revision
from registry.operations.verification.audit_log import RecordedPublish
from registry.operations.verification.file_contents import list_missing
from registry.operations.verification.problem import Problem, Row

TABLE: Final = "revision"
_DIGESTS: Final = ("files_digest", "digest", "content_digest", "read_only_digest")


@dataclass(frozen=True, slots=True)
class RevisionFacts:
    """What the other checks need of a revision, by its key."""

    capability_id: str
    number: int
    digest: str
    files_digest: str
    # When it was published (ISO 8601); empty where it is not signed.
    signed_at: str
    published_by: str
    approved_by: str
    note: str

    def __str__(self) -> str:
        return f"'{self.capability_id}' revision {self.number}"


def read_revisions(
    rows: Iterable[Row],
    names: Mapping[int, str],
    trusted: Sequence[PublicKey],
    found: dict[int, RevisionFacts],
    contents: set[str],
) -> Iterator[Problem]:
    """Problems of each revision; fills `found`. `names` are capability_ids by the key of the capability, `contents` the
    digests of the files whose bytes are there."""
    for row in rows:
        capability_id = names.get(row["capability_id"], "")
        facts = RevisionFacts(
            capability_id=capability_id,
            number=row["number"],
            digest=str(row["digest"]),
            files_digest=str(row["files_digest"]),
            signed_at=str(row["created_at"]) if row.get("signature") else "",
            published_by=str(row["created_by"]),
            approved_by=str(row["approved_by"]),
            note=str(row["note"]),
        )
        found[row["id"]] = facts
        missing = [
            ("CONTENT_MISSING", f"names the file {digest}, whose bytes are not there")
            for digest in list_missing(row.get("supporting_files"), contents)
        ]
        for code, words in (*_check_digests(row), *_check_signature(row, capability_id, trusted), *missing):
            yield Problem(code, TABLE, str(row["id"]), f"{facts} (row {row['id']}) {words}")


def _check_digests(row: Row) -> Iterator[tuple[str, str]]:
    computed = _digests(row)
    for name in _DIGESTS:
        # Of before the column was there: nothing is known.
        if computed.get(name) != row[name] and (row[name] or name != "read_only_digest"):
            yield "REVISION_CHANGED", f"has texts with another {name} than the one that is stored: they were changed"
            return


def _digests(row: Row) -> dict[str, str]:
    columns = [*Revision.COLUMNS.values(), "supporting_files"]
    revision = Revision(**{name: row.get(name) for name in columns})
    stored = {"files_digest": files_digest(revision.files)}
    try:
        bundle = load_bundle(revision)
        read_only = bundle.without_write_tools().digest
        return stored | {
            "digest": bundle.digest,
            "content_digest": bundle.content_digest,
            "read_only_digest": read_only,
        }
    except Exception:  # noqa: BLE001 (texts that somebody changed may be anything; that they do not agree is the result)
        return stored


def _check_signature(row: Row, capability_id: str, trusted: Sequence[PublicKey]) -> Iterator[tuple[str, str]]:
    try:
        signed = open_envelope(parse_json(row.get("signature")), payload_type=REVISION_TYPE, trusted=trusted)
    except ResponseRejected as error:
        fix = ". Sign what is from before: registry sign" if error.code == "SIGNATURE_MISSING" else ""
        words = f"is not signed as it should be. {error.message}{fix}"
        yield f"REVISION_{error.code}", words
        return
    expected = build_statement(row, capability_id)
    # A statement of before says nothing of what was added since.
    names = {*expected, *signed} - (ADDED_FIELDS - signed.keys())
    different = sorted(name for name in names if expected.get(name) != signed.get(name))
    if different:
        yield "REVISION_SIGNATURE_INVALID", f"is not what was signed: {', '.join(different)} differ"


def compare_with_audit_log(
    revisions: Mapping[int, RevisionFacts], publishes: Iterable[RecordedPublish]
) -> Iterator[Problem]:
    """What an audit row says was published is there with that digest, and nothing else is."""
    keys = {(facts.capability_id, facts.number): key for key, facts in revisions.items()}
    recorded = set()
    for said in publishes:
        recorded.add((said.capability_id, said.revision))
        key = keys.get((said.capability_id, said.revision))
        what = f"'{said.capability_id}' revision {said.revision}"
        if key is None:
            words = f"{what}, which audit row {said.audit_id} says was published, is missing"
            yield Problem("REVISION_MISSING", TABLE, what, words)
        elif revisions[key].digest != said.digest:
            words = f"{what} (row {key}) has another digest than audit row {said.audit_id} says was published"
            yield Problem("REVISION_NOT_AS_RECORDED", TABLE, str(key), words)
        else:
            yield from _compare_people(key, revisions[key], said)
    for place, key in keys.items():
        if place not in recorded:
            words = f"{revisions[key]} (row {key}) was published by no row of the audit log"
            yield Problem("REVISION_NOT_RECORDED", TABLE, str(key), words)


def _compare_people(key: int, facts: RevisionFacts, said: RecordedPublish) -> Iterator[Problem]:
    """Who published it, who approved it, and why."""
    pairs = {
        "published_by": (facts.published_by, said.by),
        "approved_by": (facts.approved_by, said.approved_by),
        "note": (facts.note, said.note),
    }
    different = [name for name, (held, recorded) in pairs.items() if recorded is not None and held != recorded]
    if different:
        words = f"{facts} (row {key}) is not what audit row {said.audit_id} says: {', '.join(different)} differ"
        yield Problem("REVISION_NOT_AS_RECORDED", TABLE, str(key), words)
