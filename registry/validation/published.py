"""What validation knows of the rest of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Published:
    """For collisions and look-alikes.

    `tool_owners` maps each tool name to the capability_id that has it; `capability_ids` are all published ids.
    """

    tool_owners: Mapping[str, str] = field(default_factory=dict)
    capability_ids: frozenset[str] = frozenset()
