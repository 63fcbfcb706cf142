"""What other products write into the front matter of a SKILL.md, and the key of capability.json that means the same.

A value that does not fit stays where it was and is kept under metadata: nothing is lost, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from registry.agent_skills import values
from registry.agent_skills.losses import Losses

Reader = Callable[[Any], Any]
Path = tuple[str, ...]
# `source path -> (path in capability.json, how the value is read)`; a path into `dependencies` adds to what is there.
_ENVIRONMENT: Final[dict[Path, tuple[Path, Reader]]] = {
    ("emoji",): (("emoji",), values.emoji),
    ("os",): (("os",), values.systems),
    ("dependency_level",): (("dependency_level",), values.level),
    ("skill_group",): (("skill_groups",), values.groups),
    ("skill_groups",): (("skill_groups",), values.groups),
    ("bins",): (("dependencies", "bins"), values.names),
    ("python_packages",): (("dependencies", "python"), values.names),
    ("external_tools",): (("dependencies", "apps"), values.names),
    ("api_key_env",): (("dependencies", "env"), values.env_names),
    ("system_auth",): (("dependencies", "permissions"), values.names),
    ("requires", "bins"): (("dependencies", "bins"), values.names),
    ("requires", "env"): (("dependencies", "env"), values.env_names),
}
# Blocks below `metadata`, each of a product of its own.
BLOCKS: Final = ("nebo", "xiaodazi", "openclaw", "moltbot", "clawdbot", "clawdis")
_TOP: Final[dict[str, tuple[Path, Reader]]] = {
    "triggers": (("intent_triggers",), values.phrases),
    "intent_triggers": (("intent_triggers",), values.phrases),
    "priority": (("priority",), values.whole_number),
    "max_turns": (("max_turns",), values.whole_number),
    "tools": (("allowed_tools",), values.texts),
    "emoji": (("emoji",), values.emoji),
    "os": (("os",), values.systems),
    "dependency_level": (("dependency_level",), values.level),
    "skill_group": (("skill_groups",), values.groups),
    "skill_groups": (("skill_groups",), values.groups),
}


def take_top(front_matter: dict[str, Any], capability: dict[str, Any], losses: Losses) -> None:
    """Move the keys of the front matter's first level that mean something here; what does not fit stays."""
    for key, (target, read) in _TOP.items():
        if key in front_matter and _put(capability, target, read(front_matter[key])):
            del front_matter[key]
            losses.add("IMPORT_KEY_MAPPED", f"'{key}' became {'.'.join(target)}", key=key)


def take_block(name: str, block: Mapping[str, Any], capability: dict[str, Any], losses: Losses) -> dict[str, Any]:
    """As `take_top` for one product's block below metadata; answers what is left of it."""
    rest: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in block.items()}
    for path, (target, read) in _ENVIRONMENT.items():
        holder: Any = rest if len(path) == 1 else rest.get(path[0])
        if isinstance(holder, dict) and path[-1] in holder and _put(capability, target, read(holder[path[-1]])):
            del holder[path[-1]]
            message = f"'metadata.{name}.{'.'.join(path)}' became {'.'.join(target)}"
            losses.add("IMPORT_KEY_MAPPED", message, key="metadata", below=name)
            if not holder and len(path) > 1:
                del rest[path[0]]
    return rest


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
