"""The frozen values of a snapshot, and how they are read from the database."""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from django.db.models import Max, OuterRef, QuerySet
from django.utils.module_loading import import_string

from registry.common.string_similarity import bigram_bitset
from registry.core import chosen_settings
from registry.core.queries import LOADABLE_STATUSES, build_list_entry
from registry.feature import installed_features
from registry.models import (
    AgentKey,
    Capability,
    Confidence,
    Draft,
    RegistryState,
    Release,
    SkillGroup,
)
from registry.usage.confidence import NEUTRAL, ConfidenceScore
from registry.usage.reporting_keys import is_single_key

logger = logging.getLogger(__name__)

ENTRY_FIELDS = ("capability_id", "name", "description", "intent_triggers")
# Beside these in the short list too: who builds a prompt of it must know who may start a skill.
_INVOCATION_FACTS = ("disable_model_invocation", "user_invocable")


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """One capability as readers see it. `changed_at` is the registry revision that last touched it.

    `draft` is the row and the version of a draft that a key previews; `is_read_only` says that write tools are
    withheld, and `read_only_digest` is the digest then (empty: not known). `is_closed_to_model` and `is_off_menu` are
    `disable-model-invocation: true` and `user-invocable: false` of its front matter.
    """

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
    visibility: str = "listed"
    read_only_digest: str = ""
    is_read_only: bool = False
    draft: tuple[int, int] | None = None
    is_closed_to_model: bool = False
    is_off_menu: bool = False


@dataclass(frozen=True, slots=True)
class AccessScope:
    """What a key may see beyond, or short of, what is listed: keys with the same scope get the same responses."""

    redeemed: frozenset[str] = frozenset()
    groups: frozenset[str] | None = None
    read_only_tools: bool = False
    preview: bool = False
    # Of a share link that shows a set: its members, and its id.
    ids: frozenset[str] | None = None
    set_id: str = ""


# What is listed, as it is published: the sight of a public read, and of a key that was made without limits.
FULL_ACCESS = AccessScope()


@dataclass(frozen=True, slots=True)
class Principal:
    """The identity of a key; a public read has no name. registry/snapshot/visibility.py says what it may see.

    `until` is when the key ends, in seconds since 1970; None: never. `visibility_revision` is the registry revision at
    which the key was created, or its groups were last changed. `opened` has each capability that an install code showed
    to the key, with the registry revision of that: keys of one sight may have come to it at different times.
    """

    name: str
    scopes: frozenset[str]
    sight: AccessScope = FULL_ACCESS
    until: float | None = None
    visibility_revision: int = 0
    opened: frozenset[tuple[str, int]] = frozenset()

    def list_opened_since(self, registry_revision: int) -> frozenset[str]:
        """What install codes have shown to the key after a registry revision."""
        return frozenset(name for name, at in self.opened if at > registry_revision)


PUBLIC = Principal("", frozenset({"read"}))


@dataclass(frozen=True)
class Snapshot:
    """Everything the two reads need, at one registry revision.

    `entries` are ordered by capability_id. `retired` maps an id to the registry revision that took it from readers;
    what was unlisted then is in `withdrawn`; of both, what is quarantined now is in `quarantined` too, as it was
    published. What one key may see of it is in visibility.py.
    """

    registry_revision: int
    access_revision: int
    entries: dict[str, SnapshotEntry]
    retired: dict[str, int]
    principals: dict[str, Principal] = field(default_factory=dict)
    epoch: str = ""
    feedback_revision: int = 0
    # By capability_id; capabilities without feedback are not in it.
    confidences: dict[str, ConfidenceScore] = field(default_factory=dict)
    # Room for lists made of these entries; they go when the entries go.
    answers: OrderedDict[Any, Any] = field(default_factory=OrderedDict, compare=False, repr=False)
    views: OrderedDict[AccessScope, Snapshot] = field(default_factory=OrderedDict, compare=False, repr=False)
    withdrawn: dict[str, int] = field(default_factory=dict)
    first_run: str | None = None
    # Of each of these skill groups a session keeps one member active.
    exclusive: frozenset[str] = frozenset()
    # Of drafts that pass, where a key sees them.
    drafts: dict[str, SnapshotEntry] = field(default_factory=dict)
    quarantined: dict[str, SnapshotEntry] = field(default_factory=dict)
    # When the next registry revision was made; None for the newest snapshot.
    ended_at: datetime | None = None

    @property
    def counters(self) -> RevisionCounters:
        """The counters that it was read at."""
        return RevisionCounters(
            *(self.registry_revision, self.access_revision, self.epoch), *(self.feedback_revision, self.first_run)
        )

    def principal(self, key_hash: str) -> Principal | None:
        """The caller with this key; None for one that is unknown, revoked, or has ended: by the clock, without a
        notification."""
        found = self.principals.get(key_hash)
        return found if found is None or found.until is None or time.time() < found.until else None

    def confidence(self, entry: SnapshotEntry) -> ConfidenceScore | None:
        """How much a playbook can be trusted; None for what is not a playbook."""
        return self.confidences.get(entry.capability_id, NEUTRAL) if entry.is_playbook else None

    @cached_property
    def of_access(self) -> dict[str, Any]:
        """A cache for what was read beside the keys; unlike `answers` it goes with each snapshot."""
        return {}

    @property
    def readable(self) -> ReadableRevision:
        """What was read from releases, without keys and drafts."""
        return ReadableRevision(self.entries, self.retired, self.withdrawn, self.quarantined)

    @cached_property
    def has_unlisted(self) -> bool:
        """Whether there is, or was, anything that not everybody sees."""
        return bool(self.withdrawn) or any(entry.visibility != "listed" for entry in self.entries.values())

    @cached_property
    def ids(self) -> list[str]:
        """All ids that can be loaded, in order."""
        return list(self.entries)

    @cached_property
    def names(self) -> dict[str, str]:
        return {entry.capability_id: entry.name for entry in self.entries.values()}

    @cached_property
    def words(self) -> dict[str, tuple[str, str]]:
        """`{capability_id: (name, description)}` in lower case, to look for a word in."""
        return {entry.capability_id: _words(entry) for entry in self.entries.values()}

    @cached_property
    def groups(self) -> frozenset[str]:
        """The skill groups of which an entry is a member."""
        return frozenset(group for entry in self.entries.values() for group in entry.skill_groups)


class ReadableRevision(NamedTuple):
    """What releases make: what can be loaded, and what no longer can."""

    entries: dict[str, SnapshotEntry]
    retired: dict[str, int]
    withdrawn: dict[str, int]
    quarantined: dict[str, SnapshotEntry]


EMPTY = Snapshot(0, 0, {}, {})


class RevisionCounters(NamedTuple):
    """The counters that show that something has changed."""

    registry_revision: int = 0
    access_revision: int = 0
    epoch: str = ""
    feedback_revision: int = 0
    first_run: str | None = None

    def list_moved(self, before: RevisionCounters) -> set[str]:
        """The names of those that are not as they were."""
        return {name for name, now, was in zip(self._fields, self, before, strict=True) if now != was}


_COLUMNS = ("registry_revision", "access_revision", "epoch", "feedback_revision", "first_run__capability_id")


def read_counters() -> RevisionCounters:
    """The counters in the database, beside which the chosen settings are taken: one query."""
    row = RegistryState.objects.filter(id=1).values_list(*_COLUMNS, "chosen_settings").first()
    *counters, chosen = row or (None,)
    chosen_settings.hold_settings(chosen)
    return RevisionCounters(*counters)


def read_snapshot(old: Snapshot) -> Snapshot:
    """The snapshot at the counters of now; where a counter has not moved since `old`, what it counts is taken from it.

    Nothing of another history is: after a restore the same keys may belong to other rows.
    """
    now = read_counters()
    if now.epoch != old.epoch:
        old = EMPTY
    moved = now.list_moved(old.counters)
    readable = _read_changes(old, now.registry_revision) if "registry_revision" in moved else old.readable
    is_access_new = "access_revision" in moved or not old.access_revision
    principals = read_principals() if is_access_new else old.principals
    exclusive = _exclusive_groups() if is_access_new else old.exclusive
    drafts = read_drafts() if any(each.sight.preview for each in principals.values()) else {}
    is_list_moved = not moved.isdisjoint({"registry_revision", "first_run"})
    is_shown_before = not is_list_moved and (exclusive, drafts) == (old.exclusive, old.drafts)
    kept = {"answers": old.answers, "views": old.views} if is_shown_before else {}
    return Snapshot(
        *(now.registry_revision, now.access_revision, readable.entries, readable.retired, principals, now.epoch),
        feedback_revision=now.feedback_revision,
        confidences=read_confidences() if "feedback_revision" in moved else old.confidences,
        withdrawn=readable.withdrawn,
        quarantined=readable.quarantined,
        first_run=now.first_run,
        exclusive=exclusive,
        drafts=drafts,
        **kept,  # type: ignore[arg-type]
    )


def _exclusive_groups() -> frozenset[str]:
    return frozenset(SkillGroup.objects.filter(is_exclusive=True).values_list("group_id", flat=True))


def _read_changes(old: Snapshot, registry_revision: int) -> ReadableRevision:
    """What is readable at a registry revision: of the old snapshot, with the releases since.

    A database that was restored from a backup counts lower: then nothing of the old snapshot is valid.
    """
    since = old.registry_revision if old.registry_revision < registry_revision else 0
    base = old if since else EMPTY
    released = Release.objects.filter(registry_revision__lte=registry_revision, registry_revision__gt=since)
    return _apply_releases(released, ReadableRevision(*(dict(known) for known in base.readable)))  # type: ignore[arg-type]


def _apply_releases(released: QuerySet[Release], base: ReadableRevision) -> ReadableRevision:
    """The maps with the last of these releases of each capability put in."""
    for release in read_last_releases(released):
        capability_id = release.capability.capability_id
        # Kept by id: the first request for an unknown one finds all of them ready.
        bigram_bitset(capability_id)
        for known in base:
            known.pop(capability_id, None)
        if release.status in LOADABLE_STATUSES:
            base.entries[capability_id] = build_entry(release)
        else:
            gone = base.retired if release.visibility == "listed" else base.withdrawn
            gone[capability_id] = release.registry_revision
            if release.status == Capability.Status.QUARANTINED:
                base.quarantined[capability_id] = build_entry(release)
    return base._replace(entries=dict(sorted(base.entries.items())))


def snapshot_at(registry_revision: int, *, newer: Snapshot = EMPTY) -> Snapshot:
    """The registry as it was at a past revision, read back from its releases; without keys.

    What was not released since then is taken from a newer snapshot: only the rest is read.
    """
    entries = {name: entry for name, entry in newer.entries.items() if entry.changed_at <= registry_revision}
    retired, withdrawn = (
        {name: at for name, at in ids.items() if at <= registry_revision} for ids in (newer.retired, newer.withdrawn)
    )
    released = Release.objects.filter(registry_revision__lte=registry_revision)
    if newer is not EMPTY:
        since = Release.objects.filter(registry_revision__gt=registry_revision)
        released = released.filter(capability__in=since.values("capability"))
    # Who asks of the past is asked about the present too: what is quarantined there does not matter.
    read = _apply_releases(released, ReadableRevision(entries, retired, withdrawn, {}))
    following = Release.objects.filter(registry_revision__gt=registry_revision).order_by("registry_revision")
    ended_at = following.values_list("at", flat=True).first()
    return Snapshot(registry_revision, 0, read.entries, read.retired, withdrawn=read.withdrawn, ended_at=ended_at)


def read_last_releases(released: QuerySet[Release]) -> Iterable[Release]:
    """The last of these releases of each capability."""
    last = released.values("capability").annotate(last=Max("registry_revision")).values("last")
    texts = ("skill_md", "tools_json", "ui_schemas_json", "supporting_files", "signature")
    heavy = [f"revision__{name}" for name in texts]
    found = Release.objects.filter(registry_revision__in=last).select_related("capability", "revision").defer(*heavy)
    return found.iterator(chunk_size=500)


def build_entry(release: Release) -> SnapshotEntry:
    """A release as readers see it."""
    revision = release.revision
    return _entry(
        revision.capability_json,
        {"capability_id": release.capability.capability_id, "name": revision.name, "description": revision.name},
        {"digest": revision.digest, "status": release.status, "replaced_by": release.replaced_by or None},
        revision_id=revision.pk,
        revision=revision.number,
        changed_at=release.registry_revision,
        visibility=release.visibility,
        read_only_digest=revision.read_only_digest,
    )


def _entry(capability_json: str | None, known: dict[str, Any], facts: dict[str, Any], **more: Any) -> SnapshotEntry:
    try:
        capability = json.loads(capability_json or "")
        more["is_playbook"] = capability.get("skill_profile") == "playbook"
        return _made_of(build_list_entry(capability, **facts), more)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # A damaged row stays listed by what is known of it, and keeps nothing else from being read: loading it reports
        # the incident.
        return _made_of(build_list_entry(known, **facts), more)


def _words(entry: SnapshotEntry) -> tuple[str, str]:
    described = orjson.loads(entry.rendered_minimal)["description"] if entry.rendered_minimal else ""
    return f" {entry.name.lower()}", f" {described.lower()}"


def _made_of(fields: dict[str, Any], more: dict[str, Any]) -> SnapshotEntry:
    """Raises ValueError or TypeError for values that were never published so."""
    lists = [fields[key] for key in ("intent_triggers", "skill_groups", "os")]
    texts = [fields[key] for key in ("capability_id", "name", "description")]
    if not all(isinstance(one, list) for one in lists) or not all(isinstance(one, str) for one in sum(lists, texts)):
        raise ValueError("an entry is made of texts and lists of texts")
    return SnapshotEntry(
        **{key: fields[key] for key in ("capability_id", "status", "replaced_by", "digest", "name")},
        skill_groups=tuple(fields["skill_groups"]),
        os=tuple(fields["os"]),
        rendered=orjson.dumps(fields),
        rendered_minimal=orjson.dumps(
            {key: fields[key] for key in (*ENTRY_FIELDS, *_INVOCATION_FACTS) if key in fields}
        ),
        is_closed_to_model=bool(fields.get("disable_model_invocation")),
        is_off_menu=fields.get("user_invocable") is False,
        **more,
    )


def read_drafts() -> dict[str, SnapshotEntry]:
    """The drafts that passed when they were saved, as if they were published: under the number that would be next."""
    return {entry.capability_id: entry for entry in map(_draft_entry, _passing_drafts())}


def read_draft(capability_id: str) -> SnapshotEntry | None:
    """The one of `read_drafts` with this id; None where its draft is gone or does not pass."""
    found = _passing_drafts().filter(capability__capability_id=capability_id).first()
    return _draft_entry(found) if found is not None else None


def _passing_drafts() -> QuerySet[Any]:
    passed = Draft.objects.filter(discarded_at__isnull=True).exclude(digest="").select_related("capability")
    # A text that is held back is not previewed either.
    passed = passed.exclude(capability__status=Capability.Status.QUARANTINED)
    found = passed.defer("skill_md", "tools_json", "ui_schemas_json", "supporting_files")
    return found.annotate(last=Max("capability__revisions__number"))


def _draft_entry(draft: Any) -> SnapshotEntry:
    name = draft.capability.capability_id
    return _entry(
        draft.capability_json,
        {"capability_id": name, "name": name, "description": name},
        {"digest": draft.digest, "status": "draft", "replaced_by": None},
        revision_id=0,
        revision=(draft.last or 0) + 1,
        changed_at=0,
        visibility=draft.capability.visibility,
        draft=(draft.pk, draft.version),
    )


def read_principals() -> dict[str, Principal]:
    """`{SHA-256 of the key: who it is}` of all keys in force, and of those that are taken beside a newer one."""
    keys = list(AgentKey.objects.filter(revoked_at__isnull=True))
    redeemed: dict[int, set[tuple[str, int]]] = {}
    openers = (import_string(feature.opened) for feature in installed_features() if feature.opened and keys)
    for pk, *opened in (row for opener in openers for row in opener()):
        redeemed.setdefault(pk, set()).add(tuple(opened))
    found: dict[str, Principal] = {}
    for key in keys:
        try:
            principal = _principal(key, redeemed.get(key.pk, set()))
        except TypeError:
            # Scopes or groups that are not a list: this key opens nothing, and the others are unaffected.
            logger.exception("the key '%s' is damaged and refused", key.name)
            continue
        found[key.key_hash] = principal
        if key.previous_until is not None:
            ends = [key.previous_until.timestamp(), principal.until]
            found[key.previous_key_hash] = replace(principal, until=min(end for end in ends if end is not None))
    return found


def _principal(key: AgentKey, opened: set[tuple[str, int]]) -> Principal:
    groups = frozenset(key.groups) if key.groups is not None else None
    redeemed = frozenset(name for name, _ in opened)
    sight = AccessScope(redeemed, groups, key.read_only_tools, key.preview)
    until = key.expires_at.timestamp() if key.expires_at is not None else None
    # The operator API shows and changes all there is: a limited key that was made for it once does not reach it.
    is_limited = groups is not None or key.read_only_tools
    scopes = frozenset(key.scopes) - ({"publish"} if is_limited else set())
    # The one object, so that a warm read need not compare it.
    sight = FULL_ACCESS if sight == FULL_ACCESS else sight
    return Principal(key.name, scopes, sight, until, key.visibility_revision, frozenset(opened))


def read_confidences() -> dict[str, ConfidenceScore]:
    """`{capability_id: score}` of all capabilities with feedback."""
    rows = Confidence.objects.filter(revision=0).annotate(is_single_key=is_single_key(OuterRef("capability")))
    columns = ("capability__capability_id", "percent", "uses", "confirmed", "is_single_key")
    return {name: ConfidenceScore(*score) for name, *score in rows.values_list(*columns)}
