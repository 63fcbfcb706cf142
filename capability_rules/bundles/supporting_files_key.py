"""Edits `metadata.supporting_files`, which names supporting files outside of the three folders, in a text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from capability_rules.bundles import json_reader
from capability_rules.bundles.json_edits import TextEdit, add_key, apply_edits, remove_value, replace_value
from capability_rules.bundles.supporting_files import FOLDERS_TEXT, METADATA_KEY, named_paths
from capability_rules.errors import InvalidRequest


def add_supporting_files_key(text: str, *, add: Collection[str] = (), drop: Collection[str] = ()) -> str:
    """The text of capability.json with these paths added, and those removed; the rest stays as it is written.

    Raises `InvalidRequest` for a text that cannot be read, or whose metadata has another form.
    """
    value = json_reader.read_json(text)
    before = tuple(named_paths(value.value))
    kept = [name for name in before if name not in drop]
    after = [*kept, *(name for name in dict.fromkeys(add) if name not in kept)]
    if tuple(after) == before:
        return text
    metadata = value.value.get("metadata", {}) if isinstance(value.value, dict) else None
    if value.faults or not isinstance(metadata, dict):
        raise InvalidRequest(
            "capability.json cannot be read, and a file outside of the folders has to be named there: fix it first, "
            f"or choose one of {FOLDERS_TEXT}"
        )
    return apply_edits(text, [_edit(text, value.value, "\n".join(after))])


def _edit(text: str, value: dict[str, Any], mark: str) -> TextEdit:
    metadata = value.get("metadata")
    if metadata is None:
        return add_key(text, (), "metadata", {METADATA_KEY: mark})
    if METADATA_KEY not in metadata:
        return add_key(text, ("metadata",), METADATA_KEY, mark)
    if mark:
        return replace_value(text, ("metadata", METADATA_KEY), mark)
    return remove_value(text, ("metadata", METADATA_KEY) if len(metadata) > 1 else ("metadata",))
