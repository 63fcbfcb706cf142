"""What validation knows of the rest of the registry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

# Whether a reader may know of a capability_id.
VisibilityFilter = Callable[[str], bool]


@dataclass(frozen=True)
class ValidationContext:
    """For collisions and look-alikes.

    `tool_owners` maps each tool name to the capability_id that has it, empty for one that is not visible;
    `capability_ids` are all published ids.
    """

    tool_owners: Mapping[str, str] = field(default_factory=dict)
    capability_ids: Collection[str] = frozenset()

    def visible_to(self, is_visible: VisibilityFilter, *, own: str) -> ValidationContext:
        """The same for a reader who must not know some of it: that a tool name is taken is reported, by which one
        is not. `own` is the capability that is validated."""
        told = {name: owner if owner == own or is_visible(owner) else "" for name, owner in self.tool_owners.items()}
        ids = frozenset(each for each in self.capability_ids if each == own or is_visible(each))
        return ValidationContext(told, ids)
