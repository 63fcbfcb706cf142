"""Texts of bundles for programs that do not set Django up."""

from __future__ import annotations

import json


def bundle_texts(capability_id: str, body: str) -> dict[str, str]:
    """A bundle without a finding, with one tool; `body` makes it differ."""
    name = capability_id.replace("_", " ").title()
    capability = {
        "capability_id": capability_id,
        "name": name,
        "description": f"Everything about {name}.",
        "intent_triggers": [f"{name.lower()} please"],
    }
    tool = {
        "name": f"{capability_id}_read",
        "description": f"Reads {name}.",
        "args_schema": {"type": "object", "properties": {}, "additionalProperties": False},
        "policy": {"kind": "read"},
    }
    parts = [
        f"# {name}",
        f"## When to use\n\nWhen a user asks for {name}.",
        f"## Default behavior\n\n{body}",
        f"## Tools\n\n### Read\n\n- `{tool['name']}`: {tool['description']}",
        '## Examples\n\nUser: "Show me one." Answer: "This is one."',
    ]
    return {
        "capability.json": json.dumps(capability, indent=2) + "\n",
        "skill.md": "\n\n".join(parts) + "\n",
        "tools.json": json.dumps([tool], indent=2) + "\n",
    }
