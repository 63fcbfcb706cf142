"""What a mirror's branch has to hold now, and the commits that lead to it (docs/contract.md 3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from capability_kit.errors import readable_name
from features.git_mirrors.git_branch import Step, blob_id
from features.git_mirrors.models import GitMirror
from features.sets import plugin_forms, plugins, set_store
from features.sets.plugins import PluginAddress
from features.sets.set_document import SetDocument
from features.sets.set_reader import ResolvedSet, StoredSet, resolve_set, store_set
from registry.common.errors import SkillMalformed
from registry.core import chosen_settings
from registry.models import AuditEvent, Capability
from registry.snapshot import Snapshot
from registry.snapshot.pinned_revisions import find_pinned_revision
from registry.snapshot.snapshot import PUBLIC
from registry.snapshot.store import STORE

# Folders `skills/NAME/` and nothing beside them.
SKILLS: Final = "skills"
FORMS: Final = (SKILLS, *plugin_forms.FORMS)
_GIVING: Final = {"capability.publish": "revision", "capability.rollback": "to", "capability.restore": ""}
_VERBS: Final = (
    *_GIVING,
    *(f"capability.{verb}" for verb in ("deprecate", "quarantine", "retire", "set_owner", "visibility")),
)
_WORDS: Final = {
    "capability.publish": "Publish {name}, revision {number}",
    "capability.rollback": "Roll {name} back to revision {number}",
    "capability.restore": "Restore {name}",
    "capability.deprecate": "Deprecate {name}",
    "capability.retire": "Retire {name}",
}
_GONE: Final = "Withdraw {name}"
# Of one push. What came before them is one commit with the next.
_STEPS_MAX: Final = 50
_NOTE_LENGTH_MAX: Final = 2000


@dataclass(frozen=True, slots=True)
class MirrorMembers:
    """What a mirror gives now; `waiting` has the capabilities of each team, by its row id, that has not agreed.

    `cursor` is the last row of the audit log before it was read.
    """

    snapshot: Snapshot
    found: ResolvedSet
    waiting: Mapping[int, list[str]]
    cursor: int

    @property
    def revisions(self) -> dict[str, int]:
        """The revision that is to be there, by capability_id."""
        return {each.entry.capability_id: each.revision for each in self.found.members}


@dataclass(frozen=True, slots=True)
class MirrorContent:
    """The files by path, and by capability the folder and revision; `pinned` are those that the set holds fast."""

    snapshot: Snapshot
    name: str
    version: str
    files: Mapping[str, bytes]
    folders: Mapping[str, str]
    revisions: Mapping[str, int]
    pinned: frozenset[str]
    cursor: int

    def as_pushed(self) -> dict[str, Any]:
        """As a row keeps it once it is there."""
        return {
            "files": {path: blob_id(content) for path, content in self.files.items()},
            "folders": dict(self.folders),
            "revisions": dict(self.revisions),
            "cursor": self.cursor,
            "version": self.version,
        }


def own_host() -> str:
    """What stands for this registry in commits."""
    return urlsplit(settings.PUBLIC_URL or "").hostname or "localhost"


def read_members(mirror: GitMirror) -> MirrorMembers:
    """Which capabilities go out: what a reader without a key gets of what is listed, of teams that agree.

    Raises `NotFound` where its set is deleted, `RegistryUnavailable`.
    """
    cursor = AuditEvent.objects.order_by("-id").values_list("id", flat=True).first() or 0
    snapshot = STORE.refresh()
    stored = _stored(mirror, snapshot)
    members, waiting = _agreed(mirror, stored.document.members)
    document = replace(stored.document, members=members)
    found = resolve_set(snapshot, PUBLIC, replace(stored, document=document))
    return MirrorMembers(snapshot, found, waiting, cursor)


def read_content(mirror: GitMirror) -> MirrorContent:
    """The files of all of them. Raises what `read_members` does, and `StatusConflict` where they are too large."""
    members = read_members(mirror)
    snapshot, found = members.snapshot, members.found
    address = PluginAddress((settings.PUBLIC_URL or "").rstrip("/"), needs_key=not chosen_settings.is_public_read())
    source = plugins.read_source(snapshot, found, address)
    if mirror.form == SKILLS:
        files = dict(plugin_forms.list_skill_files(source))
    else:
        files = plugin_forms.build_plugin(source, mirror.form)
    if mirror.form == "claude":
        files |= plugin_forms.describe_repository(source)
    root = f"plugins/{source.name}/" if mirror.form == "codex" else ""
    names = plugin_forms.list_folders(source.skills)
    return MirrorContent(
        snapshot,
        found.document.name,
        found.version,
        files,
        folders={each.capability_id: f"{root}skills/{name}/" for each, name in zip(source.skills, names, strict=True)},
        revisions={each.capability_id: each.revision for each in source.skills},
        pinned=frozenset(each.entry.capability_id for each in found.members if each.is_pinned),
        cursor=members.cursor,
    )


def _stored(mirror: GitMirror, snapshot: Snapshot) -> StoredSet:
    if mirror.set_id:
        return store_set(set_store.get_set(mirror.set_id))
    members = dict.fromkeys(snapshot.entries)
    host = own_host()
    return StoredSet(SetDocument("capabilities", f"Capabilities of {host}", "", members), 1, "")


def _agreed(
    mirror: GitMirror, members: Mapping[str, int | None]
) -> tuple[dict[str, int | None], dict[int, list[str]]]:  # fmt: skip
    """The members without those of teams that have not agreed, and these by team."""
    owned = Capability.objects.filter(capability_id__in=members, team__isnull=False)
    waiting: dict[int, list[str]] = {}
    for name, team in owned.order_by("capability_id").values_list("capability_id", "team_id"):
        if str(team) not in mirror.consents:
            waiting.setdefault(team, []).append(name)
    held = {name for names in waiting.values() for name in names}
    return {name: pin for name, pin in members.items() if name not in held}, waiting


def plan_steps(mirror: GitMirror, content: MirrorContent) -> list[Step]:
    """The commits from what is there to what has to be: one for each release since, with its author and message.

    What was published and is shown no more never goes out, not even in between.
    """
    plan = _Plan(mirror, content)
    events = _list_events(mirror, content) if mirror.pushed["files"] else []
    for event, later in zip(events, _verbs_after(events), strict=True):
        plan.follow(event, later)
    plan.finish()
    return plan.steps


def _verbs_after(events: Sequence[AuditEvent]) -> list[frozenset[str]]:
    """Of each event, the verbs of those about the same capability that come later."""
    seen: dict[str, frozenset[str]] = {}
    found = []
    for event in reversed(events):
        found.append(seen.get(event.subject, frozenset()))
        seen[event.subject] = found[-1] | {event.verb}
    return found[::-1]


def _list_events(mirror: GitMirror, content: MirrorContent) -> list[AuditEvent]:
    concerned = {*mirror.pushed["revisions"], *content.revisions}
    between = AuditEvent.objects.filter(id__gt=mirror.pushed["cursor"], id__lte=content.cursor, verb__in=_VERBS)
    newest = between.order_by("-id")[: _STEPS_MAX * 4]
    return [event for event in reversed(newest) if event.subject in concerned]


class _Plan:
    """The commits so far, and what is at the last of them."""

    def __init__(self, mirror: GitMirror, content: MirrorContent) -> None:
        self.mirror, self.content = mirror, content
        self.steps: list[Step] = []
        self._now: dict[str, str] = dict(mirror.pushed["files"])
        self._folders = {**mirror.pushed["folders"], **content.folders}

    def follow(self, event: AuditEvent, later: frozenset[str]) -> None:
        """The commit of one event, where it is one; `later` are the verbs that its capability met afterwards."""
        name = event.subject
        found = self._files_after(event, later)
        if found is None or name not in self._folders:
            return
        folder = self._folders[name]
        was = {path for path in self._now if path.startswith(folder)}
        self._step(event.actor_name, event, _message(event, is_shown=name in self.content.revisions), found, was)

    def _files_after(self, event: AuditEvent, later: frozenset[str]) -> dict[str, bytes] | None:
        """The folder of its capability as the event left it; None for what nothing is to be said of."""
        name, number = event.subject, event.detail.get(_GIVING.get(event.verb, ""))
        if name not in self.content.revisions:
            return {} if event.verb not in _GIVING and not later else None
        if name in self.content.pinned:
            return None
        if not later:
            folder = self.content.folders[name]
            return {path: each for path, each in self.content.files.items() if path.startswith(folder)}
        # What was taken back since is in no commit.
        is_release = {event.verb, *later} == {"capability.publish"}
        revision = find_pinned_revision(name, number=number) if is_release else None
        if revision is None:
            return None
        try:
            files = plugins.load_skill_files(self.content.snapshot, revision.revision_id)
        except SkillMalformed:
            return None
        return {f"{self.content.folders[name]}{path}": each for path, each in files.items()}

    def finish(self) -> None:
        """What is left: manifests, capabilities that came into the set or left it."""
        event = None
        if not self.mirror.pushed["files"]:
            author, message = "", f"Mirror {self.content.name}, {len(self.content.revisions)} capabilities"
        else:
            author, message = "", f"Update {self.content.name}"
            found = AuditEvent.objects.filter(verb="set.save", subject=self.mirror.set_id or "-")
            event = found.filter(id__gt=self.mirror.pushed["cursor"], id__lte=self.content.cursor).last()
            if event is not None:
                author = event.actor_name
                message = f"Change {self.content.name} to revision {event.detail.get('revision')}"
        is_more = event is None and bool(self.steps)
        self._step(author, event, message, self.content.files, set(self._now), joins=is_more)

    def _step(
        self, author: str, event: AuditEvent | None, message: str, files: Mapping[str, bytes], was: set[str], *,
        joins: bool = False,
    ) -> None:  # fmt: skip
        write = {path: each for path, each in files.items() if self._now.get(path) != blob_id(each)}
        delete = sorted(was - set(files))
        if not write and not delete:
            return
        for path in delete:
            self._now.pop(path, None)
        self._now |= {path: blob_id(each) for path, each in write.items()}
        if joins or len(self.steps) >= _STEPS_MAX:
            last = self.steps.pop()
            kept = {path: each for path, each in last.write.items() if path not in delete}
            gone = sorted({*last.delete, *delete} - set(write))
            self.steps.append(Step(last.author, last.at, last.message, {**kept, **write}, gone))
            return
        at = event.at if event is not None else self._moment()
        self.steps.append(Step(author, int(at.timestamp()), message, write, delete))

    def _moment(self) -> Any:
        """When the newest row of the log was written: the same for the same state, whenever it is asked."""
        row = (
            AuditEvent.objects.filter(id__lte=self.content.cursor).order_by("-id").values_list("at", flat=True).first()
        )
        return row or self.mirror.created_at


def _message(event: AuditEvent, *, is_shown: bool) -> str:
    number = event.detail.get(_GIVING.get(event.verb, ""), "")
    words = _WORDS.get(event.verb, _GONE if not is_shown else "Change {name}")
    head = words.format(name=readable_name(event.subject), number=number)
    note = str(event.detail.get("note") or "")[:_NOTE_LENGTH_MAX] if event.verb in _GIVING else ""
    ends = [f"Capability: {event.subject}"]
    if number:
        ends.append(f"Revision: {number}")
    return "\n\n".join(each for each in (head, note.strip(), "\n".join(ends)) if each)
