"""Releases against checkpoints and the audit log, and what readers get now against the last release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from capability_kit.signatures.statements import GENESIS, CheckpointFacts
from registry.core.checkpoints import chain_release
from registry.operations.verification.audit_log import RecordedPublish
from registry.operations.verification.problem import Problem, Row
from registry.operations.verification.revisions import RevisionFacts

TABLE: Final = "release"


@dataclass(slots=True)
class ReleaseRecord:
    """What was read of the releases: `ends` has position and hash of each one that a checkpoint ends with."""

    rows: int = 0
    numbers: list[int] = field(default_factory=list)
    ends: dict[int, tuple[int, str]] = field(default_factory=dict)
    released: set[tuple[str, int]] = field(default_factory=set)
    # By the key of the capability.
    last: dict[int, Row] = field(default_factory=dict)


def read_releases(
    rows: Iterable[Row], names: Mapping[int, str], revisions: Mapping[int, RevisionFacts], ends: Iterable[int]
) -> ReleaseRecord:
    """Chain the hashes of all releases."""
    record, digest, wanted = ReleaseRecord(), GENESIS, frozenset(ends)
    for row in rows:
        revision = revisions.get(row["revision_id"])
        values: dict[str, Any] = {
            **row,
            "capability_id": names.get(row["capability_id"], ""),
            "revision": revision.number if revision else 0,
            "digest": revision.digest if revision else "",
            "files_digest": revision.files_digest if revision else "",
        }
        digest = chain_release(digest, values)
        number = int(row["registry_revision"])
        record.rows += 1
        record.numbers.append(number)
        record.released.add((values["capability_id"], values["revision"]))
        record.last[row["capability_id"]] = row
        if number in wanted:
            record.ends[number] = (record.rows, digest)
    return record


def compare_releases(record: ReleaseRecord, checkpoints: Sequence[CheckpointFacts]) -> Iterator[Problem]:
    """What the releases were when each checkpoint was signed, and are not any more; the first difference."""
    since = 0
    for facts in checkpoints:
        if facts.release_id:
            found = record.ends.get(facts.release_id)
            if found is None:
                words = f"Release {facts.release_id}, the last one that checkpoint {facts.number} signed, is missing"
                yield Problem("RELEASE_MISSING", TABLE, str(facts.release_id), words)
                return
            if found != (facts.releases, facts.releases_hash):
                yield _rewritten(record, facts, since, found[0])
                return
        since = facts.release_id


def _rewritten(record: ReleaseRecord, facts: CheckpointFacts, since: int, count: int) -> Problem:
    there = set(record.numbers)
    missing = [number for number in range(since + 1, facts.release_id) if number not in there][:20]
    row = ", ".join(map(str, missing)) if missing and count < facts.releases else f"{since + 1}-{facts.release_id}"
    words = (
        f"Releases {since + 1} to {facts.release_id} are not those that checkpoint {facts.number} signed "
        f"({facts.releases} in all, found {count})"
    )
    words += f"; there is none for registry revision {row}" if missing and count < facts.releases else ""
    return Problem("RELEASES_REWRITTEN", TABLE, row, words)


def compare_with_audit_log(record: ReleaseRecord, publishes: Iterable[RecordedPublish]) -> Iterator[Problem]:
    """Whatever was published has been a release."""
    for said in publishes:
        if (said.capability_id, said.revision) not in record.released:
            what = f"'{said.capability_id}' revision {said.revision}"
            words = f"The release of {what}, which audit row {said.audit_id} says was published, is missing"
            yield Problem("RELEASE_MISSING", TABLE, what, words)


def compare_capabilities(capabilities: Iterable[Row], record: ReleaseRecord) -> Iterator[Problem]:
    """What readers get of each capability is what its last release says."""
    for row in capabilities:
        last = record.last.get(row["id"])
        name, key = row["capability_id"], str(row["id"])
        if last is None:
            if row["published_revision_id"] is not None:
                words = f"'{name}' (row {key}) is {row['status']}, and has no release"
                yield Problem("RELEASE_MISSING", "capability", key, words)
            continue
        held = (row["published_revision_id"], row["status"], row["visibility"])
        if held != (last["revision_id"], last["status"], last["visibility"]):
            words = f"'{name}' (row {key}) is not what its last release, {last['registry_revision']}, made of it"
            yield Problem("CAPABILITY_NOT_AS_RELEASED", "capability", key, words)


def compare_registry_revision(
    states: Iterable[Row], record: ReleaseRecord, checkpoints: Sequence[CheckpointFacts]
) -> Iterator[Problem]:
    """The counter is not behind what was released or signed."""
    now = max((int(row["registry_revision"]) for row in states), default=0)
    seen = max([*record.numbers[-1:], *(facts.registry_revision for facts in checkpoints)], default=0)
    if now < seen:
        words = f"The registry revision is {now}, and {seen} was reached: the registry was rolled back"
        yield Problem("REGISTRY_ROLLED_BACK", "registrystate", "1", words)
