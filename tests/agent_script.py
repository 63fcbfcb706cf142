"""The mind of a scripted model for the example `weights`: load it, save one weight, open a form for several."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

SAVE = "weights__weight_entry_save_batch"
Calls = Sequence[tuple[str, dict[str, Any]]]


def next_step(asked: str, last: Any, tools: Collection[str]) -> tuple[str, Calls]:
    """`(text, calls)` for what the user asked, the last result of a tool, and the tools that there are."""
    entries = [
        {"measured_on": f"2026-01-{day}", "weight": float(weight), "unit": "lb"}
        for day, weight in enumerate(re.findall(r"\d+\.\d+", asked), start=13)
    ]
    found = json.loads(last) if isinstance(last, str) else last
    if isinstance(found, dict) and (saved := _saved(found)) is not None:
        return f"Saved {saved}.", ()
    if SAVE not in tools:
        return "", [("capability_skill_load", {"capability_id": "weights"})]
    if len(entries) > 1:
        rows = [{**entry, "include": True} for entry in entries]
        return "", [("form_open", {"schema_id": "WeightBatchEditor.v1", "data": {"source": "chat", "entries": rows}})]
    return "", [(SAVE, {"entries": entries})]


def _saved(result: dict[str, Any]) -> Any:
    inner = result.get("result", result)
    if "error" in result:
        return f"nothing: {result['error']['message']}"
    return inner.get("saved") if isinstance(inner, dict) else None
