"""What the head of a capability's pages says: its name, who owns it, and what there is of it."""

from __future__ import annotations

from dataclasses import dataclass

from registry.catalog.facets import list_facets
from registry.models import Capability


@dataclass(frozen=True, slots=True)
class CapabilityHead:
    """From what is published, else from the draft. `owner` is the team, or who `metadata.owner` names."""

    name: str
    emoji: str
    owner: str
    groups: tuple[str, ...]
    has_draft: bool
    files: int
    revisions: int
    first_trigger: str


def describe_head(capability: Capability) -> CapabilityHead:
    """In two queries, beside those that have read the capability."""
    drafts = capability.drafts.filter(discarded_at__isnull=True)
    draft = drafts.values_list("capability_json", "supporting_files").first()
    revision = capability.published_revision
    text = revision.capability_json if revision else draft[0] if draft else None
    facets = list_facets(text)
    editable = draft[1] if draft else revision.supporting_files if revision else {}
    return CapabilityHead(
        name=facets.name_or(capability.capability_id),
        emoji=facets.emoji,
        owner=capability.team.name if capability.team else facets.owner,
        groups=tuple(sorted(facets.groups)),
        has_draft=draft is not None,
        files=len(editable) if isinstance(editable, dict) else 0,
        revisions=capability.revisions.count() if revision else 0,
        first_trigger=next(iter(facets.known.triggers), ""),
    )
