"""The bundles that benches publish."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

_PARAGRAPH = " ".join(f"The agent reads sentence {number} of usual length here." for number in range(37))


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
    listed = "\n".join(f"- `{name}`: lists what is stored, the newest first." for name in names)
    skill = f"""# Bench {number}

## When to use

When the bench asks for number {number}. {_PARAGRAPH}

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


def new_bundle(number: int, tools: int = 8) -> dict[str, bytes | str]:
    """As `bundle`, of sentences of customers, each with a number so that no other bundle has it; with fewer than eight
    tools the instructions are shorter too, so that two make about 3 KB."""
    chosen = random.Random(number)
    files = bundle(number, tools)
    skill, contracts = str(files["skill.md"]), json.loads(files["tools.json"])
    length = len(_PARAGRAPH) if tools >= 8 else len(_PARAGRAPH) // 2
    paragraph = "\n".join(_new_sentence(chosen) for _ in range(60))[:length]
    for tool in contracts:
        tool["description"] = _new_sentence(chosen)
        for argument in tool["args_schema"]["properties"].values():
            argument["description"] = _new_sentence(chosen)
    return files | {"skill.md": skill.replace(_PARAGRAPH, paragraph), "tools.json": json.dumps(contracts)}


def _new_sentence(chosen: random.Random) -> str:
    return f"{chosen.choice(_customer_sentences()).rstrip('.?! ').capitalize()} ({chosen.randrange(10**6)})."


@cache
def _customer_sentences() -> list[str]:
    folder = Path(__file__).resolve().parent / "security_cases" / "everyday"
    return [
        line for name in ("banking77", "clinc150") for line in (folder / f"{name}.txt").read_text("utf-8").splitlines()
    ]
