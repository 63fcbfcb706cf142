"""What one reader gets of a set, out of a snapshot: nothing of it that the reader may not see anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from features.sets.models import CapabilitySet
from features.sets.set_document import SetDocument
from features.sets.set_store import query_sets, read_document
from registry.common.errors import NotFound
from registry.core.storage import require_database
from registry.snapshot import Principal, Snapshot, SnapshotEntry
from registry.snapshot.pinned_revisions import find_pinned_revision
from registry.snapshot.visibility import list_visible, may_load_all

_KEY: Final = "sets"


@dataclass(frozen=True, slots=True)
class StoredSet:
    """A set as it is kept beside a snapshot."""

    document: SetDocument
    revision: int
    team: str


@dataclass(frozen=True, slots=True)
class SetMember:
    """One capability of a set for a reader: the revision that the set gives, pinned or the latest."""

    entry: SnapshotEntry
    revision: int
    revision_id: int
    digest: str
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class ResolvedSet:
    """A set for one reader. `left` has ids that are retired or quarantined now, with the word; `withheld` counts what
    the reader may not know of."""

    document: SetDocument
    revision: int
    team: str
    version: str
    members: tuple[SetMember, ...]
    left: tuple[tuple[str, str], ...]
    withheld: int

    @property
    def set_id(self) -> str:
        """The id of the set."""
        return self.document.set_id


def list_sets(snapshot: Snapshot, principal: Principal, *, only: str = "") -> list[ResolvedSet]:
    """The sets that the reader sees a member of, by id: the listed ones, or the one that a share link shows."""
    kept = _stored(snapshot)
    wanted = [kept[only]] if only in kept else []
    if not only:
        wanted = [each for each in kept.values() if each.document.visibility == "listed"]
    found = (resolve_set(snapshot, principal, each) for each in wanted)
    return [each for each in found if each.members]


def get_readable_set(snapshot: Snapshot, principal: Principal, set_id: str, *, only: str = "") -> ResolvedSet:
    """One of them. Raises `NotFound`, `RegistryUnavailable`."""
    found = _stored(snapshot).get(set_id)
    if found is not None and (only == set_id if only else found.document.visibility == "listed"):
        resolved = resolve_set(snapshot, principal, found)
        if resolved.members:
            return resolved
    raise NotFound(f"There is no set '{set_id[:64]}'; set_list names those there are")


def list_member_ids(snapshot: Snapshot, set_id: str) -> frozenset[str]:
    """What a share link of the set shows; nothing where there is no such set. For `Feature.set_members`."""
    found = _stored(snapshot).get(set_id)
    return frozenset(found.document.members) if found is not None else frozenset()


def resolve_set(snapshot: Snapshot, principal: Principal, stored: StoredSet) -> ResolvedSet:
    """What the set gives this reader now."""
    members: list[SetMember] = []
    left: list[tuple[str, str]] = []
    withheld, changed = 0, 0
    for name, pin in stored.document.members.items():
        entry = snapshot.entries.get(name)
        changed = max(changed, entry.changed_at if entry else 0, _gone_at(snapshot, name))
        member = _member(principal, entry, pin) if entry is not None else None
        if member is not None:
            members.append(member)
        elif entry is None and (word := _left_word(snapshot, principal, name)):
            left.append((name, word))
        else:
            withheld += 1
    return ResolvedSet(
        *(stored.document, stored.revision, stored.team, f"1.{stored.revision}.{changed}"),
        members=tuple(members),
        left=tuple(left),
        withheld=withheld,
    )


def _member(principal: Principal, entry: SnapshotEntry, pin: int | None) -> SetMember | None:
    if not may_load_all(principal, entry):
        return None
    if pin is None or pin == entry.revision:
        return SetMember(entry, entry.revision, entry.revision_id, entry.digest, is_pinned=pin is not None)
    found = find_pinned_revision(entry.capability_id, number=pin)
    if found is None or principal.sight.read_only_tools:
        # Whether an older revision has write tools is not known without reading it.
        return None
    return SetMember(entry, found.number, found.revision_id, found.digest, is_pinned=True)


def _gone_at(snapshot: Snapshot, name: str) -> int:
    return snapshot.retired.get(name) or snapshot.withdrawn.get(name) or 0


def _left_word(snapshot: Snapshot, principal: Principal, name: str) -> str:
    held_back = snapshot.quarantined.get(name)
    if held_back is not None:
        return "quarantined" if list_visible(principal, held_back) else ""
    # Of which groups a retired capability was is not kept, so that a limited reader is not told of it.
    sight = principal.sight
    return "retired" if name in snapshot.retired and sight.groups is None else ""


def _stored(snapshot: Snapshot) -> dict[str, StoredSet]:
    kept: dict[str, StoredSet] | None = snapshot.of_access.get(_KEY)
    if kept is None:
        kept = snapshot.of_access[_KEY] = _read()
    return kept


@require_database()
def _read() -> dict[str, StoredSet]:
    return {row.set_id: store_set(row) for row in query_sets()}


def store_set(row: CapabilitySet) -> StoredSet:
    """A row of the table as it is kept."""
    return StoredSet(read_document(row), row.revision, row.team.name if row.team is not None else "")


def describe_set(found: ResolvedSet) -> dict[str, Any]:
    """One entry of `{"sets": [...]}`."""
    return {
        "set_id": found.set_id,
        "name": found.document.name,
        "description": found.document.description,
        "icon": found.document.icon or None,
        "team": found.team or None,
        "revision": found.revision,
        "version": found.version,
        "members": [_describe_member(each) for each in found.members],
        "left": [{"capability_id": name, "why": word} for name, word in found.left],
        "withheld": found.withheld,
    }


def _describe_member(member: SetMember) -> dict[str, Any]:
    return {
        "capability_id": member.entry.capability_id,
        "name": member.entry.name,
        "revision": member.revision,
        "digest": member.digest,
        "pinned": member.is_pinned,
    }
