"""The first draft of a new capability: complete enough that it could be published as it is."""

from __future__ import annotations

import json
from typing import Any, Final

PROFILES: Final = ("capability", "playbook", "runbook", "agent_skill")

_BODIES: Final = {
    "capability": """# {name}

## When to use

{description}

## Default behavior

Say here what the agent does unless the user asks for something else.

## Examples

**User:** what a user would say
**Agent:** what the agent does then
""",
    "playbook": """# {name}

## Goal

{description}

## Prerequisites

- What must be true before the first step.

## Steps

### 1. The first step

**Do:** What the agent does.
**Check:** What must be true before going on.
**Say:** What to tell the customer.

## Edge Cases

- A condition → what to do instead.

## Escalation

When to hand over to a person, and with what.
""",
    "runbook": """# {name}

## Meaning

{description}

## Impact

Who is affected, and how badly.

## Diagnosis

How to find the cause.

## Mitigation

How to make it stop.
""",
    "agent_skill": """# {name}

{description}
""",
}


# The lines of the bodies above that say what to write there.
PLACEHOLDERS: Final = frozenset(
    line.strip()
    for body in _BODIES.values()
    for line in body.splitlines()
    if line.strip() and not line.startswith("#") and "{" not in line
)


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
        "capability.json": json.dumps(capability, indent=2, ensure_ascii=False) + "\n",
        "skill.md": _BODIES[skill_profile].format(name=" ".join(name.split()), description=description.strip()),
        "tools.json": "[]\n",
        "ui_schemas.json": "[]\n",
    }
