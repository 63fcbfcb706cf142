"""The frozen values of a snapshot, and how they are read from the database."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from django.db.models import Max, QuerySet

from registry.confidence import NEUTRAL, Score
from registry.likeness import letter_pairs
from registry.models import AgentKey, Confidence, RegistryState, Release
from registry.queries import LISTED, list_entry

MINIMAL_FIELDS = ("capability_id", "name", "description", "intent_triggers")


@dataclass(frozen=True, slots=True)
class Entry:
    """One capability as readers see it. `changed_at` is the registry revision that last touched it."""

    capability_id: str
    status: str
    replaced_by: str | None
    revision_id: int
    revision: int
    digest: str
    changed_at: int
    name: str
    skill_groups: tuple[str, ...]
    os: tuple[str, ...]
    rendered: bytes
    rendered_minimal: bytes
    is_playbook: bool = False


@dataclass(frozen=True, slots=True)
class Principal:
    """Who stands behind a key."""

    name: str
    scopes: frozenset[str]


@dataclass(frozen=True)
class Snapshot:
    """Everything the two reads need, at one registry revision.

    `entries` are ordered by capability_id. `retired` maps an id to the registry revision that took it from readers.
    """

    registry_revision: int
    access_revision: int
    entries: dict[str, Entry]
    retired: dict[str, int]
    principals: dict[str, Principal] = field(default_factory=dict)
    history: str = ""
    feedback_revision: int = 0
    # By capability_id; what nobody has told anything of is not in it.
    confidences: dict[str, Score] = field(default_factory=dict)
    # Room for lists made of these entries; they go when the entries go.
    answers: OrderedDict[Any, Any] = field(default_factory=OrderedDict, compare=False, repr=False)

    def confidence(self, entry: Entry) -> Score | None:
        """How much a playbook can be trusted; None for what is no playbook."""
        return self.confidences.get(entry.capability_id, NEUTRAL) if entry.is_playbook else None

    @cached_property
    def ids(self) -> list[str]:
        """All ids that can be loaded, in order."""
        return list(self.entries)

    @cached_property
    def names(self) -> dict[str, str]:
        """`{capability_id: name}`."""
        return {entry.capability_id: entry.name for entry in self.entries.values()}


EMPTY = Snapshot(0, 0, {}, {})


class Counters(NamedTuple):
    """What tells that something has moved."""

    registry_revision: int = 0
    access_revision: int = 0
    history: str = ""
    feedback_revision: int = 0


def counters() -> Counters:
    """As they stand in the database: one query."""
    row = RegistryState.objects.filter(id=1).values_list(*Counters._fields).first()
    return Counters(*row) if row is not None else Counters()


def read_snapshot(old: Snapshot) -> Snapshot:
    """The snapshot at the counters of now; what has not moved since `old` is taken over from it.

    Nothing of another history is: after a restore the same keys may belong to other rows.
    """
    now = counters()
    if now.history != old.history:
        old = EMPTY
    entries, retired, answers = old.entries, old.retired, old.answers
    if now.registry_revision != old.registry_revision:
        entries, retired = _moved(old, now.registry_revision)
        answers = OrderedDict()
    has_moved = now.access_revision != old.access_revision or not old.access_revision
    principals = read_principals() if has_moved else old.principals
    has_moved = now.feedback_revision != old.feedback_revision
    confidences = read_confidences() if has_moved else old.confidences
    return Snapshot(
        *(now.registry_revision, now.access_revision, entries, retired, principals),
        *(now.history, now.feedback_revision, confidences, answers),
    )


def _moved(old: Snapshot, registry_revision: int) -> tuple[dict[str, Entry], dict[str, int]]:
    # A database that was restored from a backup counts lower: then nothing of the old snapshot holds.
    since = old.registry_revision if old.registry_revision < registry_revision else 0
    base = old if since else EMPTY
    released = Release.objects.filter(registry_revision__lte=registry_revision, registry_revision__gt=since)
    return _with(released, dict(base.entries), dict(base.retired))


def _with(
    released: QuerySet[Release], entries: dict[str, Entry], retired: dict[str, int]
) -> tuple[dict[str, Entry], dict[str, int]]:
    """The two maps with the last of these releases of each capability put in."""
    for release in last_releases(released):
        capability_id = release.capability.capability_id
        # Kept by id: the first request for an unknown one finds all of them ready.
        letter_pairs(capability_id)
        if release.status in LISTED:
            entries[capability_id] = entry_of(release)
            retired.pop(capability_id, None)
        else:
            entries.pop(capability_id, None)
            retired[capability_id] = release.registry_revision
    return dict(sorted(entries.items())), retired


def snapshot_at(registry_revision: int, *, newer: Snapshot = EMPTY) -> Snapshot:
    """The registry as it was at a past revision, read back from its releases; without keys.

    What has not moved since then is taken from a newer snapshot: only the rest is read.
    """
    entries = {name: entry for name, entry in newer.entries.items() if entry.changed_at <= registry_revision}
    retired = {name: at for name, at in newer.retired.items() if at <= registry_revision}
    released = Release.objects.filter(registry_revision__lte=registry_revision)
    if newer is not EMPTY:
        moved = Release.objects.filter(registry_revision__gt=registry_revision)
        released = released.filter(capability__in=moved.values("capability"))
    return Snapshot(registry_revision, 0, *_with(released, entries, retired))


def last_releases(released: QuerySet[Release]) -> Iterable[Release]:
    """The last one of each capability."""
    last = released.values("capability").annotate(last=Max("registry_revision")).values("last")
    heavy = ("revision__skill_md", "revision__tools_json", "revision__ui_schemas_json")
    found = Release.objects.filter(registry_revision__in=last).select_related("capability", "revision").defer(*heavy)
    return found.iterator(chunk_size=500)


def entry_of(release: Release) -> Entry:
    """A release as readers see it."""
    revision = release.revision
    fields = _listed_fields(release)
    return Entry(
        capability_id=release.capability.capability_id,
        status=release.status,
        replaced_by=release.replaced_by or None,
        revision_id=revision.pk,
        revision=revision.number,
        digest=revision.digest,
        changed_at=release.registry_revision,
        name=fields["name"],
        skill_groups=tuple(fields["skill_groups"]),
        os=tuple(fields["os"]),
        rendered=orjson.dumps(fields),
        rendered_minimal=orjson.dumps({key: fields[key] for key in MINIMAL_FIELDS}),
        is_playbook=_is_playbook(revision.capability_json),
    )


def _is_playbook(capability_json: str | None) -> bool:
    try:
        return bool(json.loads(capability_json or "").get("skill_profile") == "playbook")
    except (ValueError, AttributeError):
        return False


def _listed_fields(release: Release) -> dict[str, Any]:
    revision = release.revision
    try:
        capability = json.loads(revision.capability_json or "")
        return list_entry(
            capability, digest=revision.digest, status=release.status, replaced_by=release.replaced_by or None
        )
    except (ValueError, KeyError, TypeError):
        # A damaged row stays listed by what is known of it: loading it tells the incident.
        known = {"capability_id": release.capability.capability_id, "name": revision.name, "description": revision.name}
        return list_entry(known, digest=revision.digest, status=release.status, replaced_by=release.replaced_by or None)


def read_principals() -> dict[str, Principal]:
    """`{SHA-256 of the key: who it is}` of all keys in force."""
    rows = AgentKey.objects.filter(revoked_at__isnull=True).values_list("key_hash", "name", "scopes")
    return {key_hash: Principal(name, frozenset(scopes)) for key_hash, name, scopes in rows}


def read_confidences() -> dict[str, Score]:
    """`{capability_id: score}` of all capabilities that anything was told of."""
    rows = Confidence.objects.filter(revision=0)
    columns = ("capability__capability_id", "hundredths", "uses", "confirmed")
    return {name: Score(*score) for name, *score in rows.values_list(*columns)}
