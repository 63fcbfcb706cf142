"""The first draft of a new capability: complete enough that it could be published as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from capability_rules.bundles.json_edits import to_json

PROFILES: Final = ("capability", "playbook", "runbook", "agent_skill")

_BODIES: Final = {
    profile: (Path(__file__).parent / "skill_templates" / f"{profile}.md").read_text("utf-8") for profile in PROFILES
}


def list_placeholders(skill_profile: str) -> list[str]:
    """The lines of a profile's first draft that say what to write there, in their order."""
    lines = (line.strip() for line in _BODIES[skill_profile].splitlines())
    return [line for line in lines if line and not line.startswith("#") and "{" not in line]


PLACEHOLDERS: Final = frozenset(line for profile in PROFILES for line in list_placeholders(profile))


def build_scaffold(*, capability_id: str, name: str, description: str, skill_profile: str) -> dict[str, str]:
    """The texts of the four bundle files of a new capability of a profile."""
    capability: dict[str, Any] = {
        "capability_id": capability_id,
        "name": name,
        "description": description,
        "intent_triggers": [name.lower()],
    }
    if skill_profile != "capability":
        capability["skill_profile"] = skill_profile
    if skill_profile == "playbook":
        capability["playbook"] = {"problem": description, "conditions": [], "keywords": [name.lower()]}
    return {
        "capability.json": to_json(capability),
        "skill.md": _BODIES[skill_profile].format(name=" ".join(name.split()), description=description.strip()),
        "tools.json": "[]\n",
        "ui_schemas.json": "[]\n",
    }
