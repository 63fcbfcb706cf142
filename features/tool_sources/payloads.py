"""Sources of tools as JSON, for the operator API and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from features.tool_sources.models import ToolBinding, ToolSource


def describe_source(source: ToolSource) -> dict[str, Any]:
    """A source with its operations (schemas/api/tool_source.schema.json)."""
    operations = [
        {
            "key": item.key,
            "method": item.method,
            "name": item.name,
            "summary": item.summary,
            "tags": item.tags,
            "kind": "read" if item.is_read else "write",
            "deprecated": item.is_deprecated,
            "losses": item.losses,
            "refused": item.refused,
        }
        for item in source.items.defer("contract")
    ]
    facts = {"title": source.title, "form": source.form, "version": source.version, "skipped": source.skipped}
    return {"source_id": source.pk, **facts, "operations": operations}


def describe_changes(source_id: int, changed: Iterable[ToolBinding]) -> dict[str, Any]:
    """The bindings whose operations changed (schemas/api/tool_source_changes.schema.json)."""
    rows = [
        {
            "capability_id": one.capability.capability_id,
            "tool": one.tool_name,
            "key": one.key,
            "state": one.state,
            "changes": one.changes,
        }
        for one in changed
    ]
    return {"source_id": source_id, "changed": rows}
