"""What products write into the front matter of a SKILL.md, and the key of capability.json that means the same.

One table for both doors: the registry's import and a folder of skills. A value that does not fit stays where it was:
nothing is lost, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from capability_kit.bundles import front_matter_values

FieldMapper = Callable[[Any], Any]
Path = tuple[str, ...]
# `source path -> (path in capability.json, how the value is read)`; a path into `dependencies` adds to what is there.
_ENVIRONMENT: Final[dict[Path, tuple[Path, FieldMapper]]] = {
    ("emoji",): (("emoji",), front_matter_values.parse_emoji),
    ("os",): (("os",), front_matter_values.parse_systems),
    ("dependency_level",): (("dependency_level",), front_matter_values.parse_level),
    ("skill_group",): (("skill_groups",), front_matter_values.parse_groups),
    ("skill_groups",): (("skill_groups",), front_matter_values.parse_groups),
    ("bins",): (("dependencies", "bins"), front_matter_values.parse_names),
    ("python_packages",): (("dependencies", "python"), front_matter_values.parse_names),
    ("external_tools",): (("dependencies", "apps"), front_matter_values.parse_names),
    ("api_key_env",): (("dependencies", "env"), front_matter_values.parse_env_names),
    ("system_auth",): (("dependencies", "permissions"), front_matter_values.parse_names),
    ("dependencies", "python"): (("dependencies", "python"), front_matter_values.parse_names),
    ("dependencies", "bins"): (("dependencies", "bins"), front_matter_values.parse_names),
    ("dependencies", "apps"): (("dependencies", "apps"), front_matter_values.parse_names),
    ("dependencies", "env"): (("dependencies", "env"), front_matter_values.parse_env_names),
    ("dependencies", "permissions"): (("dependencies", "permissions"), front_matter_values.parse_names),
    ("dependencies", "mcp_servers"): (("dependencies", "mcp_servers"), front_matter_values.parse_server_names),
    ("dependencies", "skills"): (("dependencies", "skills"), front_matter_values.parse_skill_ids),
    ("requires", "bins"): (("dependencies", "bins"), front_matter_values.parse_names),
    ("requires", "env"): (("dependencies", "env"), front_matter_values.parse_env_names),
}
# Blocks below `metadata`, each of a different product.
BLOCKS: Final = ("nebo", "xiaodazi", "openclaw", "moltbot", "clawdbot", "clawdis")
TOP_LEVEL: Final[dict[str, tuple[Path, FieldMapper]]] = {
    "triggers": (("intent_triggers",), front_matter_values.parse_phrases),
    "intent_triggers": (("intent_triggers",), front_matter_values.parse_phrases),
    "priority": (("priority",), front_matter_values.parse_integer),
    "max_turns": (("max_turns",), front_matter_values.parse_integer),
    "language": (("language",), front_matter_values.parse_language),
    "tools": (("allowed_tools",), front_matter_values.parse_strings),
    **{key: _ENVIRONMENT[key,] for key in ("emoji", "os", "dependency_level", "skill_group", "skill_groups")},
}


def move_top_level(front_matter: dict[str, Any], capability: dict[str, Any]) -> list[tuple[Path, Path]]:
    """Move the keys of the first level that mean something here, out of `front_matter`; each path with its target."""
    moved: list[tuple[Path, Path]] = []
    for key, (target, read) in TOP_LEVEL.items():
        if key in front_matter and _put(capability, target, read(front_matter[key])):
            del front_matter[key]
            moved.append(((key,), target))
    named = front_matter.get("dependencies")
    if isinstance(named, dict):
        nested = {"dependencies": dict(named)}
        moved += _move_paths(nested, capability)
        front_matter.pop("dependencies")
        front_matter.update(nested)
    return moved


def move_block(block: Mapping[str, Any], capability: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[Path, Path]]]:
    """As `move_top_level` for one product's block below metadata: what is left of it, and each path with its target."""
    rest: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in block.items()}
    moved = _move_paths(rest, capability)
    return rest, moved


def _move_paths(holder: dict[str, Any], capability: dict[str, Any]) -> list[tuple[Path, Path]]:
    """Move what `_ENVIRONMENT` names and what fits, out of `holder`; each path with its target."""
    moved = []
    for path, (target, read) in _ENVIRONMENT.items():
        inner: Any = holder if len(path) == 1 else holder.get(path[0])
        if isinstance(inner, dict) and path[-1] in inner and _put(capability, target, read(inner[path[-1]])):
            del inner[path[-1]]
            moved.append((path, target))
            if not inner and len(path) > 1:
                del holder[path[0]]
    return moved


def _put(capability: dict[str, Any], target: Path, value: Any) -> bool:
    """Whether the value fits and the place is free."""
    holder: dict[str, Any] = capability
    if value is None:
        return False
    if len(target) > 1:
        holder = capability.get(target[0], {})
    if target[-1] in holder:
        return False
    holder[target[-1]] = value
    if len(target) > 1:
        capability[target[0]] = holder
    return True
