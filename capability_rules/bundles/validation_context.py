"""What validation knows of the rest of the registry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

# Whether a reader may know of a capability_id.
VisibilityFilter = Callable[[str], bool]


@dataclass(frozen=True)
class ValidationContext:
    """For collisions and look-alikes: two questions, asked once a bundle.

    `tool_owners` maps each tool name to the capability_id that has it; `capability_ids` are all published ids, or an
    `IdIndex` of them. A reader who must not know some of it has `is_visible`.
    """

    tool_owners: Mapping[str, str] = field(default_factory=dict)
    capability_ids: Collection[str] = frozenset()
    is_visible: VisibilityFilter | None = None

    def visible_to(self, is_visible: VisibilityFilter, *, own: str) -> ValidationContext:
        """The same for a reader who must not know some of it. `own` is the capability that is validated."""
        return replace(self, is_visible=lambda capability_id: capability_id == own or is_visible(capability_id))

    def owners_of(self, names: Iterable[str]) -> dict[str, str]:
        """The owner of each tool name that is taken: its capability_id, or empty where that is not visible."""
        # Each looked up once: another thread may take one out meanwhile.
        owners = ((name, self.tool_owners.get(name)) for name in names)
        return {name: owner if self._shows(owner) else "" for name, owner in owners if owner is not None}

    def ids_like(self, word: str) -> set[str]:
        """The published ids that an id could be taken for, itself included where it is published; or more."""
        near: Callable[[str], Iterable[str]] | None = getattr(self.capability_ids, "near", None)
        return {each for each in (self.capability_ids if near is None else near(word)) if self._shows(each)}

    def _shows(self, capability_id: str) -> bool:
        return self.is_visible is None or self.is_visible(capability_id)
