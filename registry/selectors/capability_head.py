"""What the head of a capability's pages says: its name, who owns it, and what there is of it."""

from __future__ import annotations

from dataclasses import dataclass

from capability_kit.json_text import parse_json
from registry.catalog.facets import list_facets
from registry.models import Capability


@dataclass(frozen=True, slots=True)
class CapabilityHead:
    """From what is published, else from the draft. `owner` is the team, or who `metadata.owner` names; `tools`,
    `forms`, `files` and `revisions` are numbers of them."""

    name: str
    emoji: str
    owner: str
    groups: tuple[str, ...]
    has_draft: bool
    tools: int
    forms: int
    files: int
    revisions: int
    first_trigger: str


def describe_head(capability: Capability) -> CapabilityHead:
    """In two queries, beside those that have read the capability."""
    drafts = capability.drafts.filter(discarded_at__isnull=True)
    draft = drafts.only("capability_json", "tools_json", "ui_schemas_json", "supporting_files").first()
    revision = capability.published_revision
    shown, edited = revision or draft, draft or revision
    facets = list_facets(shown.capability_json, shown.tools_json) if shown else list_facets(None)
    forms = parse_json(shown.ui_schemas_json) if shown else None
    editable = edited.supporting_files if edited else {}
    return CapabilityHead(
        name=facets.name_or(capability.capability_id),
        emoji=facets.emoji,
        owner=capability.team.name if capability.team else facets.owner,
        groups=tuple(sorted(facets.groups)),
        has_draft=draft is not None,
        tools=facets.reads + facets.writes,
        forms=len(forms) if isinstance(forms, list | dict) else 0,
        files=len(editable) if isinstance(editable, dict) else 0,
        revisions=capability.revisions.count() if revision else 0,
        first_trigger=next(iter(facets.known.triggers), ""),
    )
