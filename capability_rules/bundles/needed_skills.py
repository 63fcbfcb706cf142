"""Other capabilities that a capability needs, and what follows from all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

SKILLS_MAX: Final = 100
# A registry in which so many lead to each other is not walked to its end.
_WALKED_MAX: Final = 1000


def get_needed_skills(capability: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids under `dependencies.skills` of a capability.json, also of a draft, each once."""
    dependencies = capability.get("dependencies")
    named = dependencies.get("skills") if isinstance(dependencies, dict) else None
    found = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    return tuple(dict.fromkeys(found[:SKILLS_MAX]))


def find_circle(capability_id: str, skills: Iterable[str], needs_of: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """The shortest way from a capability over what it needs back to itself, with it at both ends; empty without one."""
    before: dict[str, str] = {}
    waiting = [(one, capability_id) for one in skills]
    for skill, needed_by in waiting:
        if skill in before or len(before) >= _WALKED_MAX:
            continue
        before[skill] = needed_by
        if skill == capability_id:
            return _way_back(before, capability_id)
        waiting += [(one, skill) for one in needs_of(skill)]
    return ()


def _way_back(before: Mapping[str, str], capability_id: str) -> tuple[str, ...]:
    way = [capability_id, before[capability_id]]
    while way[-1] != capability_id:
        way.append(before[way[-1]])
    return tuple(reversed(way))
