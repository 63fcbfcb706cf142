"""Which skills are active, and until when: at most four, each for its turns, the most recent first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from capability_client.session.options import SessionOptions
from capability_kit.bundles.bundle import Bundle


@dataclass
class ActiveSkill:
    """One skill in use. It is active in its own turn and in the `ttl_turns` turns after its last use."""

    bundle: Bundle
    last_turn: int
    ttl_turns: int
    order: int
    is_explicit: bool = False
    arguments: str = ""

    @property
    def capability_id(self) -> str:
        """The `capability_id` of its bundle."""
        return self.bundle.capability_id

    def turns_left(self, turn: int) -> int:
        """How many more turns it stays without being used; negative where it is over."""
        return self.ttl_turns - (turn - self.last_turn)


class ActiveSkills:
    """The active skills. Each change returns what was dropped and why."""

    def __init__(self, options: SessionOptions) -> None:
        self._options = options
        self._held: dict[str, ActiveSkill] = {}
        self._order = 0

    def __iter__(self) -> Iterator[ActiveSkill]:
        """The most recently used first."""
        return iter(sorted(self._held.values(), key=lambda each: -each.order))

    def __reversed__(self) -> Iterator[ActiveSkill]:
        """The least recently used first."""
        return iter(sorted(self._held.values(), key=lambda each: each.order))

    def __len__(self) -> int:
        return len(self._held)

    def get(self, capability_id: str) -> ActiveSkill | None:
        """The active skill of this id."""
        return self._held.get(capability_id)

    def use(
        self, bundle: Bundle, turn: int, *, is_explicit: bool, arguments: str, exclusive: frozenset[str]
    ) -> list[tuple[ActiveSkill, str]]:
        """Make it the most recent one. A longer time to live than the new one is kept."""
        held = self._held.get(bundle.capability_id)
        explicit = is_explicit or (held is not None and held.is_explicit)
        self._order += 1
        new = ActiveSkill(bundle, turn, self._ttl(bundle, is_explicit=explicit), self._order, explicit, arguments)
        self._held[bundle.capability_id] = new
        return [*self._choose_one(new, exclusive), *self._make_room()]

    def refresh(self, capability_id: str, turn: int) -> None:
        """Note that a skill was used in this turn."""
        held = self._held[capability_id]
        self._order += 1
        held.last_turn, held.order = turn, self._order

    def restore(self, active: ActiveSkill) -> None:
        """Put back a skill of a saved session."""
        self._held[active.capability_id] = active
        self._order = max(self._order, active.order)

    def drop(self, capability_id: str) -> ActiveSkill | None:
        """Deactivate one skill and return it; None where it is not active."""
        return self._held.pop(capability_id, None)

    def expire(self, turn: int) -> list[ActiveSkill]:
        """Deactivate the skills that were not used for their number of turns."""
        over = [each for each in self if each.turns_left(turn) < 0]
        for each in over:
            del self._held[each.capability_id]
        return over

    def _ttl(self, bundle: Bundle, *, is_explicit: bool) -> int:
        """What the capability asks for, else the session's number."""
        return bundle.max_turns or (self._options.ttl_turns_by_hand if is_explicit else self._options.ttl_turns)

    def _choose_one(self, new: ActiveSkill, exclusive: frozenset[str]) -> list[tuple[ActiveSkill, str]]:
        groups = exclusive & set(new.bundle.skill_groups)
        dropped = []
        for each in list(self._held.values()):
            shared = groups & set(each.bundle.skill_groups)
            if each is not new and shared:
                del self._held[each.capability_id]
                why = f"of the group {min(shared)} only one is active, and {new.capability_id} was chosen"
                dropped.append((each, why))
        return dropped

    def _make_room(self) -> list[tuple[ActiveSkill, str]]:
        dropped = []
        while len(self._held) > self._options.active_max:
            oldest = min(self._held.values(), key=lambda each: each.order)
            del self._held[oldest.capability_id]
            why = f"at most {self._options.active_max} skills are active, and it was used longest ago"
            dropped.append((oldest, why))
        return dropped
