"""What other products write into the front matter of a SKILL.md, and the key of capability.json that means the same.

A value that does not fit stays where it was and is kept under metadata: nothing is lost, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from registry.agent_skills import value_parsers
from registry.agent_skills.loss_report import LossReport

FieldMapper = Callable[[Any], Any]
Path = tuple[str, ...]
# `source path -> (path in capability.json, how the value is read)`; a path into `dependencies` adds to what is there.
_ENVIRONMENT: Final[dict[Path, tuple[Path, FieldMapper]]] = {
    ("emoji",): (("emoji",), value_parsers.parse_emoji),
    ("os",): (("os",), value_parsers.parse_systems),
    ("dependency_level",): (("dependency_level",), value_parsers.parse_level),
    ("skill_group",): (("skill_groups",), value_parsers.parse_groups),
    ("skill_groups",): (("skill_groups",), value_parsers.parse_groups),
    ("bins",): (("dependencies", "bins"), value_parsers.parse_names),
    ("python_packages",): (("dependencies", "python"), value_parsers.parse_names),
    ("external_tools",): (("dependencies", "apps"), value_parsers.parse_names),
    ("api_key_env",): (("dependencies", "env"), value_parsers.parse_env_names),
    ("system_auth",): (("dependencies", "permissions"), value_parsers.parse_names),
    ("dependencies", "python"): (("dependencies", "python"), value_parsers.parse_names),
    ("dependencies", "bins"): (("dependencies", "bins"), value_parsers.parse_names),
    ("dependencies", "apps"): (("dependencies", "apps"), value_parsers.parse_names),
    ("dependencies", "env"): (("dependencies", "env"), value_parsers.parse_env_names),
    ("dependencies", "permissions"): (("dependencies", "permissions"), value_parsers.parse_names),
    ("requires", "bins"): (("dependencies", "bins"), value_parsers.parse_names),
    ("requires", "env"): (("dependencies", "env"), value_parsers.parse_env_names),
}
# Blocks below `metadata`, each of a different product.
BLOCKS: Final = ("nebo", "xiaodazi", "openclaw", "moltbot", "clawdbot", "clawdis")
_TOP: Final[dict[str, tuple[Path, FieldMapper]]] = {
    "triggers": (("intent_triggers",), value_parsers.parse_phrases),
    "intent_triggers": (("intent_triggers",), value_parsers.parse_phrases),
    "priority": (("priority",), value_parsers.parse_integer),
    "max_turns": (("max_turns",), value_parsers.parse_integer),
    "tools": (("allowed_tools",), value_parsers.parse_strings),
    "emoji": (("emoji",), value_parsers.parse_emoji),
    "os": (("os",), value_parsers.parse_systems),
    "dependency_level": (("dependency_level",), value_parsers.parse_level),
    "skill_group": (("skill_groups",), value_parsers.parse_groups),
    "skill_groups": (("skill_groups",), value_parsers.parse_groups),
}


def map_top_level(front_matter: dict[str, Any], capability: dict[str, Any], losses: LossReport) -> None:
    """Move the keys of the front matter's first level that mean something here; what does not fit stays."""
    for key, (target, read) in _TOP.items():
        if key in front_matter and _put(capability, target, read(front_matter[key])):
            del front_matter[key]
            losses.add("IMPORT_KEY_MAPPED", f"'{key}' became {'.'.join(target)}", key=key)
    named = front_matter.get("dependencies")
    if isinstance(named, dict):
        nested = {"dependencies": dict(named)}
        for path, target in _move_paths(nested, capability):
            message = f"'{'.'.join(path)}' became {'.'.join(target)}"
            losses.add("IMPORT_KEY_MAPPED", message, key=path[0], below=path[1])
        front_matter.pop("dependencies")
        front_matter.update(nested)


def map_block(name: str, block: Mapping[str, Any], capability: dict[str, Any], losses: LossReport) -> dict[str, Any]:
    """As `map_top_level` for one product's block below metadata; returns what is left of it."""
    rest: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in block.items()}
    for path, target in _move_paths(rest, capability):
        message = f"'metadata.{name}.{'.'.join(path)}' became {'.'.join(target)}"
        losses.add("IMPORT_KEY_MAPPED", message, key="metadata", below=name)
    return rest


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
