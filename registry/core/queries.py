"""Reads that several packages share, already joined."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from capability_kit.bundles.invocation_rules import list_invocation_facts
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.parsed_bundle import parse_bundle
from capability_rules.bundles.supporting_files import build_file_facts
from registry.common.errors import CapabilityNotFound, DraftNotFound, RevisionNotFound, StatusConflict
from registry.common.string_similarity import close_matches, closest_matches
from registry.core.events import TIMELINE_VERBS
from registry.core.rows import get_row
from registry.models import AuditEvent, Capability, Draft, Incident, Revision

LOADABLE_STATUSES = (Capability.Status.PUBLISHED, Capability.Status.DEPRECATED)
# What has tool names and a text that publishing and rolling back change: readers have it, or get it back.
HELD_STATUSES = (*LOADABLE_STATUSES, Capability.Status.QUARANTINED)
AVAILABLE_MAX = 100
_TEXTS = (*Revision.COLUMNS.values(), "supporting_files", "signature")
SUGGESTIONS_MAX = 5
# Of what is available, those that an agent names to its user.
NAMED_MAX = 10
# Of an unknown id, what is looked for in names and descriptions.
ID_WORDS_MAX = 8
ID_WORD_LEAST = 4


def published_ids() -> list[str]:
    """The ids that readers can load, in order."""
    found = Capability.objects.filter(status__in=LOADABLE_STATUSES)
    return list(found.order_by("capability_id").values_list("capability_id", flat=True))


def any_published() -> bool:
    """Whether there is any, drafts included."""
    return Capability.objects.exists()


def capability_ids() -> list[str]:
    """Every id that has texts, drafts included, in order."""
    return list(Capability.objects.order_by("capability_id").values_list("capability_id", flat=True))


def load_bundle(revision: Revision) -> SkillBundle:
    """The bundle of a stored revision, parsed; it passed the gate when it was stored."""
    return load_checked_bundle(revision.files)


def load_checked_bundle(files: Mapping[str, str]) -> SkillBundle:
    """The bundle of texts that passed the checks when they were stored, parsed."""
    documents = parse_bundle(files, {})
    return SkillBundle(
        files=dict(files),
        capability=documents.value("capability.json") or {},
        skill_doc=documents.skill.skill_doc,
        tools=documents.items("tools.json"),
        ui_schemas=documents.items("ui_schemas.json"),
    )


def files_digest(files: dict[str, str]) -> str:
    """SHA-256 over the stored texts as they are: cheap enough to detect a damaged row at each first load."""
    text = json.dumps(files, sort_keys=True, ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()


def build_list_entry(
    capability: dict[str, Any], *, digest: str, status: str, replaced_by: str | None
) -> dict[str, Any]:
    """One entry of `capability_registry_list` (schemas/api/registry_list.schema.json), defaults written in."""
    return {
        "capability_id": capability["capability_id"],
        "name": capability["name"],
        "description": capability["description"],
        "intent_triggers": capability.get("intent_triggers", []),
        "digest": digest,
        "status": status,
        "replaced_by": replaced_by,
        "skill_groups": capability.get("skill_groups", []),
        "os": capability.get("os", ["common"]),
        "dependency_level": capability.get("dependency_level", "builtin"),
        "priority": capability.get("priority", 0),
        # What a client has to have, so that it can say before a load whether the capability works there.
        **({"dependencies": dependencies} if (dependencies := capability.get("dependencies")) else {}),
        **({"language": language} if (language := capability.get("language")) else {}),
        **list_invocation_facts(capability),
    }


def build_load_response(
    bundle: SkillBundle, *, revision: int, digest: str, status: str, replaced_by: str | None, read_only: bool = False
) -> dict[str, Any]:
    """The response of `capability_skill_load` (schemas/api/skill_load.schema.json).

    With `read_only` the write tools are left out and named in `withheld_tools`. `digest` is then that of what is left:
    a client recomputes it from what it received, and must not treat an intact response as damaged.
    """
    withheld = bundle.write_tool_names if read_only else []
    if withheld:
        bundle = bundle.without_write_tools()
    return {
        "capability_id": bundle.capability_id,
        "version": "latest",
        "revision": revision,
        "digest": bundle.digest if withheld else digest,
        "status": status,
        "replaced_by": replaced_by,
        "skill_doc": bundle.skill_doc,
        "tools": bundle.tools,
        "ui_schemas": bundle.ui_schemas,
        "capability": bundle.public_capability,
        **({"files": build_file_facts(bundle.supporting_files)} if bundle.supporting_files else {}),
        **({"withheld_tools": withheld} if withheld else {}),
    }


def find_revision(capability: Capability, *, number: int) -> Revision:
    """A revision of a capability. Raises `RevisionNotFound`."""
    missing = RevisionNotFound(f"'{capability.capability_id}' has no revision {number}")
    return get_row(capability.revisions.filter(number=number), missing)


def get_next_number(capability: Capability) -> int:
    """Return the number that the capability's next revision gets."""
    last = capability.revisions.order_by("-number").values_list("number", flat=True).first()
    return (last or 0) + 1


def get_capability(capability_id: str) -> Capability:
    """A capability in any state, for operators. Raises `CapabilityNotFound` with all known ids."""
    found = (
        Capability.objects.select_related("published_revision", "replaced_by", "team")
        .filter(capability_id=capability_id)
        .first()
    )
    if found is None:
        raise not_found(capability_id, list(Capability.objects.values_list("capability_id", flat=True)), {})
    return found


def not_found(
    capability_id: str,
    available: Sequence[str],
    names: dict[str, str],
    words: Mapping[str, tuple[str, str]] | None = None,
) -> CapabilityNotFound:
    """The refusal for an unknown id with the ids that an agent can offer instead, nearest first.

    Ids that are alike are suggested first, then those whose name or description (`words`) has a word of the id.
    """
    near = closest_matches(capability_id, available, most=AVAILABLE_MAX)
    alike = close_matches(capability_id, near, most=SUGGESTIONS_MAX)
    sharing = _sharing_words(capability_id, words or {})
    return CapabilityNotFound(
        capability_id,
        available=near,
        available_names={name: names[name] for name in near[:NAMED_MAX] if name in names},
        available_total=len(available),
        suggestions=_suggest(dict.fromkeys([*alike, *sharing]), names),
    )


def suggest_others(capability_id: str, available: Sequence[str], names: Mapping[str, str]) -> list[dict[str, str]]:
    """What an agent can offer in place of one that it cannot use: `{"capability_id", "name"}`, the nearest first."""
    near = closest_matches(capability_id, available, most=SUGGESTIONS_MAX + 1)
    return _suggest((name for name in near if name != capability_id), names)


def _suggest(capability_ids: Iterable[str], names: Mapping[str, str]) -> list[dict[str, str]]:
    shown = islice(capability_ids, SUGGESTIONS_MAX)
    return [{"capability_id": name, "name": names.get(name, name)} for name in shown]


def _sharing_words(capability_id: str, words: Mapping[str, tuple[str, str]]) -> list[str]:
    """Those whose name or description has a word of the id: most words first, one of the name before the other."""
    parts = [part for part in capability_id.lower().split("_")[:ID_WORDS_MAX] if len(part) >= ID_WORD_LEAST]
    if not parts:
        return []
    wanted = [f" {part}" for part in dict.fromkeys(parts)]
    ranks = (
        (-sum(2 * (part in name) + (part in description) for part in wanted), known)
        for known, (name, description) in words.items()
    )
    return [known for _, known in heapq.nsmallest(SUGGESTIONS_MAX, (rank for rank in ranks if rank[0] < 0))]


@dataclass(frozen=True)
class CapabilityRow:
    """A line of the Studio's list."""

    capability_id: str
    name: str
    status: str
    revision: int | None
    digest: str | None
    has_draft: bool
    open_incidents: int
    updated_at: datetime


def list_capabilities(*, keys: Sequence[int] | None = None) -> list[CapabilityRow]:
    """Capabilities for operators in one query, whatever their number; all of them, or those with these row ids."""
    drafts = Draft.objects.filter(capability=OuterRef("pk"), discarded_at__isnull=True)
    incidents = Count("incidents", filter=Q(incidents__closed_at__isnull=True))
    found = Capability.objects.annotate(has_draft=Exists(drafts), open_incidents=incidents).order_by("capability_id")
    found = found if keys is None else found.filter(pk__in=keys)
    light = found.select_related("published_revision").defer(*(f"published_revision__{name}" for name in _TEXTS))
    return [_row(capability) for capability in light]


def _row(capability: Any) -> CapabilityRow:
    revision = capability.published_revision
    return CapabilityRow(
        capability_id=capability.capability_id,
        name=revision.name if revision else capability.capability_id,
        status=capability.status,
        revision=revision.number if revision else None,
        digest=revision.digest if revision else None,
        has_draft=capability.has_draft,
        open_incidents=capability.open_incidents,
        updated_at=capability.updated_at,
    )


def list_incidents(*, is_open: bool, kind: str = "", search: str = "", sort: str = "") -> QuerySet[Incident]:
    """Incidents that are open, or closed ones, the latest first; `sort` is `name`, `count`, `first` or `last`,
    downwards with `-`. `display_name` is what a capability is called, else its id, or where a source is."""
    found = Incident.objects.filter(closed_at__isnull=is_open).annotate(
        display_name=Coalesce("capability__published_revision__name", "capability__capability_id", "subject")
    )
    if kind:
        found = found.filter(kind=kind)
    if search:
        places = Q(capability__capability_id__icontains=search) | Q(display_name__icontains=search)
        found = found.filter(places | Q(details__icontains=search))
    columns = {"name": "display_name", "count": "count", "first": "first_seen_at", "last": "last_seen_at"}
    if sort:
        column = columns[sort.removeprefix("-")]
        found = found.order_by(f"-{column}" if sort.startswith("-") else column, "-id")
    elif not is_open:
        found = found.order_by("-closed_at", "-id")
    return found.select_related("capability", "revision").defer(*(f"revision__{name}" for name in _TEXTS))


def list_published_names(capability_ids: Iterable[str]) -> dict[str, str]:
    """What those of these ids that were published are called, in one query."""
    found = Capability.objects.filter(capability_id__in=list(capability_ids), published_revision__isnull=False)
    return dict(found.values_list("capability_id", "published_revision__name"))


def list_open_incidents() -> QuerySet[Incident]:
    """Open incidents, the latest first."""
    return Incident.objects.filter(closed_at__isnull=True).select_related("capability", "revision")


def content_digest(capability_id: str) -> str | None:
    """The content that agents can load, utterances included; None where they can load none."""
    found = Capability.objects.filter(capability_id=capability_id, status__in=LOADABLE_STATUSES)
    return found.values_list("published_revision__content_digest", flat=True).first()


# What a capability's timeline shows; each save of a draft would bury the rest.
def list_timeline(capability_id: str, *, limit: int) -> list[AuditEvent]:
    """What happened to a capability, the latest first, as the audit log has it."""
    return list(AuditEvent.objects.filter(subject=capability_id, verb__in=TIMELINE_VERBS).order_by("-id")[:limit])


def read_files(capability: Capability, *, draft: bool = False) -> dict[str, str]:
    """The texts of what is published, or of the draft. Raises `StatusConflict` or `DraftNotFound`."""
    if draft:
        missing = DraftNotFound(f"'{capability.capability_id}' has no draft")
        return get_row(capability.drafts.filter(discarded_at__isnull=True), missing).files
    if capability.published_revision is None:
        raise StatusConflict(
            f"'{capability.capability_id}' was never published; its draft can be exported with --draft"
        )
    return capability.published_revision.files
