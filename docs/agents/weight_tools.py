"""What stands behind the tools of the example `weights`: a list in memory, in the place of your database."""

from __future__ import annotations

from capability_client import Toolbox, ToolCall
from docs.agents import weight_types as types

tools = Toolbox()
ENTRIES: dict[str, types.WeightEntrySaveBatchEntriesItem] = {}


@tools.implements("weight_entry_save_batch")
def save(arguments: types.WeightEntrySaveBatch, call: ToolCall) -> types.WeightEntrySaveBatchResult:
    """Once for each call, however often it is tried: the key is the same for all its attempts."""
    for number, entry in enumerate(arguments["entries"]):
        ENTRIES[f"{call.idempotency_key}-{number}"] = entry
    return {"saved": len(arguments["entries"])}


@tools.implements("weight_entry_list")
def list_entries(arguments: types.WeightEntryList, call: ToolCall) -> types.WeightEntryListResult:
    """All of them, the oldest first."""
    rows = sorted(ENTRIES.items(), key=lambda row: row[1]["measured_on"])
    return {
        "entries": [
            {"entry_id": name, "measured_on": row["measured_on"], "weight": row["weight"], "unit": row["unit"]}
            for name, row in rows
        ]
    }


@tools.implements("weight_trend_get")
def get_trend(arguments: types.WeightTrendGet, call: ToolCall) -> types.WeightTrendGetResult:
    """Over what there is."""
    weights = [row["weight"] for row in ENTRIES.values()] or [0.0]
    return {"average": sum(weights) / len(weights), "change": weights[-1] - weights[0], "unit": "lb"}


@tools.implements("weight_entry_delete")
def delete(arguments: types.WeightEntryDelete, call: ToolCall) -> object:
    """Remove one."""
    return {"deleted": ENTRIES.pop(arguments["entry_id"], None) is not None}
