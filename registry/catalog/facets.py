"""The values of capabilities by which lists are filtered, cached in memory by the rows they were read from."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from capability_kit.environment.readiness import dependency_level
from capability_kit.json_text import parse_json
from capability_rules.bundles.profile import CapabilityProfile, profile_from_json
from registry.common import caches
from registry.models import Capability, Draft, RegistryState, Revision

PROFILES: Final = ("capability", "playbook", "runbook", "agent_skill")
SYSTEMS: Final = ("common", "linux", "darwin", "win32")
LEVELS: Final = ("builtin", "lightweight", "external", "cloud_api")
_AT_ONCE: Final = 500
# A draft may be wrong in any way; a published name is no longer.
_NAME_MAX: Final = 80
_EMOJI_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class Facets:
    """`places` has a pair (os, dependency level) for each os that it names. `owner` is `metadata.owner`, or empty;
    `reads` and `writes` count its tools, and `needs_approval` says that one of them waits for a person."""

    name: str = ""
    emoji: str = ""
    profile: str = "capability"
    groups: frozenset[str] = frozenset()
    owner: str = ""
    places: frozenset[tuple[str, str]] = frozenset({("common", "builtin")})
    reads: int = 0
    writes: int = 0
    needs_approval: bool = False
    known: CapabilityProfile = field(default_factory=lambda: CapabilityProfile("", ""), repr=False)

    def name_or(self, capability_id: str) -> str:
        """What people call it, at most 80 characters; its id where it has no name yet."""
        return " ".join(self.name.split())[:_NAME_MAX] or capability_id


class FacetRow(NamedTuple):
    """A capability without its texts; they are in the published revision, else in the newest draft. A plain tuple,
    since a list makes thousands of them."""

    key: int
    capability_id: str
    status: str
    revision_key: int | None
    draft_version: int
    team: str | None = None


_NOTHING: Final = Facets()
# By a revision's row id, and by a capability's row id with the version of its newest draft.
_Key = int | tuple[int, int]
_cached_facets: dict[_Key, Facets] = {}
_epoch: str | None = None
_lock = threading.Lock()


def get_facets(rows: Sequence[FacetRow]) -> dict[int, Facets]:
    """`{capability's row id: Facets}`; only texts that are new since the last time are read, 500 in a query."""
    global _cached_facets, _epoch
    with _lock:
        epoch = RegistryState.objects.values_list("epoch", flat=True).first() or ""
        if epoch != _epoch:
            # Restored from a backup: the same row ids may refer to other texts.
            _cached_facets, _epoch = {}, epoch
        missing = [row for row in rows if _key_of(row) not in _cached_facets]
        if missing:
            _cached_facets |= _read(missing)
        found = {row.key: _cached_facets.get(_key_of(row), _NOTHING) for row in rows}
        if len(_cached_facets) > 2 * len(rows) + _AT_ONCE:
            _cached_facets = {_key_of(row): found[row.key] for row in rows}
    return found


def _key_of(row: FacetRow) -> _Key:
    return row.revision_key if row.revision_key is not None else (row.key, row.draft_version)


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    global _cached_facets
    with _lock:
        _cached_facets = {}


def _read(rows: Sequence[FacetRow]) -> dict[_Key, Facets]:
    found: dict[_Key, Facets] = {}
    published = [row.revision_key for row in rows if row.revision_key is not None]
    for at in range(0, len(published), _AT_ONCE):
        revisions = Revision.objects.filter(pk__in=published[at : at + _AT_ONCE])
        texts = revisions.values_list("pk", "capability_json", "tools_json")
        found |= {key: list_facets(text, tools) for key, text, tools in texts}
    drafted = [row.key for row in rows if row.revision_key is None]
    for at in range(0, len(drafted), _AT_ONCE):
        drafts = Draft.objects.filter(capability__in=drafted[at : at + _AT_ONCE])
        drafted_texts = drafts.values_list("capability_id", "version", "capability_json", "tools_json")
        found |= {(key, version): list_facets(text, tools) for key, version, text, tools in drafted_texts}
    return found


def get_display_name(capability: Capability) -> str:
    """Its name in what is published, else in the draft; its ID where neither has one."""
    revision = capability.published_revision
    kept = capability.drafts.filter(discarded_at__isnull=True).values_list("capability_json", flat=True)
    return list_facets(revision.capability_json if revision else kept.first()).name_or(capability.capability_id)


def find_display_names(ids: Collection[str]) -> dict[str, str]:
    """What people call these capabilities: `{id: name}`, of what is published, else of the draft; in two queries."""
    rows = Capability.objects.filter(capability_id__in=ids).values_list("capability_id", "published_revision__name")
    names = {capability_id: name or "" for capability_id, name in rows}
    unnamed = [capability_id for capability_id, name in names.items() if not name]
    drafts = Draft.objects.filter(capability__capability_id__in=unnamed, discarded_at__isnull=True)
    for capability_id, text in drafts.values_list("capability__capability_id", "capability_json"):
        names[capability_id] = list_facets(text).name_or(capability_id)
    return {capability_id: name or capability_id for capability_id, name in names.items()}


def list_facets(capability_json: str | None, tools_json: str | None = None) -> Facets:
    """From the stored texts; whatever a draft or a damaged row lacks has its default."""
    given = parse_json(capability_json)
    if not isinstance(given, dict):
        return _NOTHING
    known, policies = profile_from_json(given), _policies(tools_json)
    writes = sum(policy.get("kind") != "read" for policy in policies)
    metadata = given.get("metadata")
    owner = metadata.get("owner") if isinstance(metadata, dict) else None
    name, emoji, profile = given.get("name"), given.get("emoji"), given.get("skill_profile")
    return Facets(
        name=name if isinstance(name, str) else "",
        emoji=emoji[:_EMOJI_MAX] if isinstance(emoji, str) else "",
        profile=profile if profile in PROFILES else PROFILES[0],
        groups=frozenset(known.skill_groups),
        owner=owner.strip() if isinstance(owner, str) else "",
        places=frozenset(_places(known.os, given.get("dependency_level"))),
        reads=len(policies) - writes,
        writes=writes,
        needs_approval=any(policy.get("requires_approval") is True for policy in policies),
        known=known,
    )


def _policies(tools_json: str | None) -> list[dict[str, Any]]:
    """The policy of each tool; one that has none writes, as far as anyone can tell."""
    tools = parse_json(tools_json)
    given = [tool.get("policy") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return [policy if isinstance(policy, dict) else {} for policy in given]


def _places(systems: Iterable[str], level: Any) -> Iterator[tuple[str, str]]:
    for system in systems:
        if system in SYSTEMS:
            found = dependency_level(level, system)
            yield system, found if found in LEVELS else LEVELS[0]
