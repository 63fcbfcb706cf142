"""The keys of other products in a SKILL.md as those of capability.json, each move named in the report of an import.

Which key means which is in agent_client.bundles.front_matter_keys: agents that read a folder have the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_client.bundles import front_matter_keys
from registry.agent_skills.loss_report import LossReport


def map_top_level(front_matter: dict[str, Any], capability: dict[str, Any], losses: LossReport) -> None:
    """Move the keys of the front matter's first level that mean something here; what does not fit stays."""
    for path, target in front_matter_keys.move_top_level(front_matter, capability):
        message = f"'{'.'.join(path)}' became {'.'.join(target)}"
        losses.add("IMPORT_KEY_MAPPED", message, key=path[0], below=path[1] if len(path) > 1 else "")


def map_block(name: str, block: Mapping[str, Any], capability: dict[str, Any], losses: LossReport) -> dict[str, Any]:
    """As `map_top_level` for one product's block below metadata; returns what is left of it."""
    rest, moved = front_matter_keys.move_block(block, capability)
    for path, target in moved:
        message = f"'metadata.{name}.{'.'.join(path)}' became {'.'.join(target)}"
        losses.add("IMPORT_KEY_MAPPED", message, key="metadata", below=name)
    return rest
