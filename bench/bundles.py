"""The bundles that benches publish."""

from __future__ import annotations

import json


def bundle(number: int, tools: int) -> dict[str, bytes | str]:
    """A valid bundle with a few tools; eight tools and their text make about 10 KB."""
    capability_id = f"bench_{number:03}"
    names = [f"{capability_id}_tool_{index}" for index in range(tools)]
    schema = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": f"What the argument {name} means, in a sentence of usual length."}
            for name in ("first_value", "second_value", "third_value", "fourth_value")
        },
        "required": ["first_value"],
        "additionalProperties": False,
    }
    contracts = [
        {"name": name, "description": "A tool of usual length.", "args_schema": schema, "policy": {"kind": "read"}}
        for name in names
    ]
    listed = "\n".join(f"- `{name}`: call it when its answer is needed." for name in names)
    skill = f"""# Bench {number}

## When to use

When the bench asks for number {number}. {"The agent reads a paragraph of usual length here. " * 40}

## Default behavior

Answer in one sentence.

## Tools

### Read

{listed}

## Examples

User: a question. Agent: an answer.
"""
    capability = {
        "capability_id": capability_id,
        "name": f"Bench {number}",
        "description": "A capability of usual length, which says what it does and when to use it.",
        "intent_triggers": [f"bench {number}", f"number {number}", "measure"],
    }
    return {"capability.json": json.dumps(capability), "skill.md": skill, "tools.json": json.dumps(contracts)}
