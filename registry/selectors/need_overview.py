"""What a capability needs beside its own tools, and who needs it: a part of its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from capability_kit.environment.readiness import list_names
from capability_rules.bundles.needed_skills import get_needed_skills
from registry.core.published_index import INDEX
from registry.core.queries import list_published_names


@dataclass(frozen=True, slots=True)
class NeededSkill:
    """A capability on one side of a need: `name` is its id where it was never published."""

    capability_id: str
    name: str
    is_loadable: bool


@dataclass(frozen=True, slots=True)
class NeedOverview:
    """What a capability says it needs beside its own tools, and which capabilities say that they need it."""

    mcp_servers: Sequence[str] = ()
    skills: Sequence[NeededSkill] = ()
    needed_by: Sequence[NeededSkill] = ()

    def __bool__(self) -> bool:
        return bool(self.mcp_servers or self.skills or self.needed_by)


def describe_needs(capability: Mapping[str, Any]) -> NeedOverview:
    """Of a published capability.json; one query for names where there is something to name."""
    index, own = INDEX.refreshed(), str(capability.get("capability_id", ""))
    skills, needing = get_needed_skills(capability), index.list_needing(own)
    dependencies = capability.get("dependencies")
    servers = list_names(dependencies.get("mcp_servers")) if isinstance(dependencies, dict) else []
    names = list_published_names([*skills, *needing]) if skills or needing else {}

    def rows(ids: Iterable[str]) -> list[NeededSkill]:
        return [NeededSkill(one, names.get(one, one), index.is_loadable(one)) for one in ids]

    return NeedOverview(servers, rows(skills), rows(needing))
