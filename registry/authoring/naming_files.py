"""The mark of capability.json that names supporting files outside of the three folders, written into its text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from registry.authoring.text_edits import Edit, add_key, apply_edits, remove, replace_value
from registry.errors import InvalidRequest
from registry.validation import json_text
from registry.validation.supporting import FOLDERS_SAID, MARK, named_places


def with_named(text: str, *, add: Collection[str] = (), drop: Collection[str] = ()) -> str:
    """The text of capability.json with these paths named too, and those named no more; the rest stays as it is written.

    Raises `InvalidRequest` for a text that cannot be read, or whose metadata has another form.
    """
    value = json_text.read(text)
    before = tuple(named_places(value.value))
    kept = [name for name in before if name not in drop]
    after = [*kept, *(name for name in dict.fromkeys(add) if name not in kept)]
    if tuple(after) == before:
        return text
    metadata = value.value.get("metadata", {}) if isinstance(value.value, dict) else None
    if value.faults or not isinstance(metadata, dict):
        raise InvalidRequest(
            "capability.json cannot be read, and a file outside of the folders has to be named there: mend it first, "
            f"or choose one of {FOLDERS_SAID}"
        )
    return apply_edits(text, [_edit(text, value.value, "\n".join(after))])


def _edit(text: str, value: dict[str, Any], mark: str) -> Edit:
    metadata = value.get("metadata")
    if metadata is None:
        return add_key(text, (), "metadata", {MARK: mark})
    if MARK not in metadata:
        return add_key(text, ("metadata",), MARK, mark)
    if mark:
        return replace_value(text, ("metadata", MARK), mark)
    return remove(text, ("metadata", MARK) if len(metadata) > 1 else ("metadata",))
