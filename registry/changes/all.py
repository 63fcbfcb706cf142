"""All of it: tools, what the capability says of itself, its instructions, its forms and where it talks to."""

from __future__ import annotations

from registry.bundles import Bundle
from registry.changes.change import EFFECTS, Change
from registry.changes.forms import form_changes
from registry.changes.hosts import host_changes
from registry.changes.metadata import metadata_changes
from registry.changes.skill import skill_changes
from registry.changes.supporting import supporting_changes
from registry.changes.tools import tool_changes


def bundle_changes(old: Bundle, new: Bundle) -> list[Change]:
    """Every difference that has a meaning, by weight: what loosens first.

    `new` has passed the checks; `old` may be a damaged row, of which only what can be read is compared.
    """
    changes = [
        *tool_changes(old, new),
        *metadata_changes(old, new),
        *host_changes(old, new),
        *form_changes(old, new),
        *skill_changes(old, new),
        *supporting_changes(old, new),
    ]
    return sorted(changes, key=lambda change: EFFECTS.index(change.effect))
