"""Fill a new data directory: `DATA_DIR=... python bench/fill.py COUNT` publishes capabilities and keeps a key."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

import django

django.setup()

from django.conf import settings
from django.core.management import call_command

from registry import keys, publishing
from registry.actors import SYSTEM


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


def main(count: int) -> None:
    call_command("migrate", verbosity=0)
    seconds = []
    for number in range(count):
        started = time.perf_counter()
        outcome = publishing.publish(files=bundle(number, 8), by=SYSTEM)
        seconds.append(time.perf_counter() - started)
        if outcome.status != "published":
            raise SystemExit(f"{number}: {outcome.status} {[f.message for f in outcome.findings]}")
    key = keys.create_key(name="bench", by=SYSTEM)[1]
    (Path(settings.DATA_DIR) / "key").write_text(key)
    seconds.sort()
    middle, late = (seconds[int(len(seconds) * share)] * 1000 for share in (0.5, 0.95))
    print(f"{count} published; p50 {middle:.1f} ms, p95 {late:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]))
