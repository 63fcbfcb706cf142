"""Takes a change of a source over into a draft, field by field.

What an author has edited is written over only where the person says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_rules.bundles.json_edits import add_key, apply_edits, remove_value, replace_value
from capability_rules.bundles.tool_list import list_tool_contracts, locate_tool
from capability_rules.errors import InvalidRequest
from features.tool_sources.mapping.contract import named_contract
from features.tool_sources.models import ToolBinding, ToolSourceItem
from features.tool_sources.source_store import record_event
from registry.catalog import drafts
from registry.catalog.drafts import SavedDraft
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.core.queries import get_capability
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction

Field = Literal["description", "args_schema", "result_schema", "policy"]
FIELDS: Final[tuple[Field, ...]] = ("description", "args_schema", "result_schema", "policy")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of a tool that the source has changed: what the draft has, and what the source has now.

    `is_edited`: an author has changed it too, so that taking it over loses that.
    """

    name: Field
    mine: Any
    theirs: Any
    is_edited: bool


@dataclass(frozen=True, slots=True)
class Takeover:
    """What taking a change over comes to, before it is done."""

    binding: ToolBinding
    item: ToolSourceItem
    fields: tuple[FieldChange, ...]
    files: Mapping[str, str]
    draft_version: int | None

    @property
    def seen(self) -> str:
        """A digest of what a person sees of it, and of the draft that it goes into: a later plan may be another one."""
        shown = [[one.name, one.mine, one.theirs, one.is_edited] for one in self.fields]
        text = json.dumps([self.item.digest, self.draft_version, shown], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def get_binding(capability_id: str, tool_name: str) -> ToolBinding:
    """Raises `CapabilityNotFound`, and `NotFound` for a tool that came from no source."""
    capability = get_capability(capability_id)
    found = ToolBinding.objects.filter(capability=capability, tool_name=tool_name).select_related(
        "source", "capability"
    )
    return get_row(found, NotFound(f"The tool '{tool_name[:64]}' of '{capability_id}' came from no source"))


def plan_takeover(capability_id: str, tool_name: str) -> Takeover:
    """The fields that differ. Raises as `get_binding`, and `InvalidRequest` where there is nothing to take over."""
    binding = get_binding(capability_id, tool_name)
    files, version = drafts.editable_files(binding.capability)
    mine = list_tool_contracts(files).get(tool_name)
    if mine is None:
        raise InvalidRequest(f"'{capability_id}' has no tool '{tool_name}' any more")
    item = _item(binding)
    fields = tuple(_field_changes(binding.contract, mine, item.contract))
    return Takeover(binding, item, fields, files, version)


def _item(binding: ToolBinding) -> ToolSourceItem:
    gone = InvalidRequest(f"The source has no '{binding.key[:100]}' any more: remove the tool, or bind it to another")
    return get_row(ToolSourceItem.objects.filter(source=binding.source_id, key=binding.key), gone)


def _field_changes(base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[FieldChange]:
    return [
        FieldChange(name, mine.get(name), theirs.get(name), is_edited=mine.get(name) != base.get(name))
        for name in FIELDS
        if theirs.get(name) not in (base.get(name), mine.get(name))
    ]


def take_over(
    *, capability_id: str, tool_name: str, by: Actor, overwrite: Collection[str] = (), seen: str
) -> SavedDraft:
    """The draft with the source's fields; of those that an author has edited, the ones in `overwrite` alone.

    `seen` is that of the plan that the person saw. Raises as `plan_takeover`, `StatusConflict` where it is another one
    by now, `DraftConflict` and `Forbidden`.
    """
    plan = plan_takeover(capability_id, tool_name)
    if plan.seen != seen:
        raise StatusConflict("The source or the draft has changed since this was shown")
    wanted = [one for one in plan.fields if not one.is_edited or one.name in overwrite]
    files = {**plan.files, "tools.json": _changed(plan.files["tools.json"], tool_name, wanted)}
    with write_transaction():
        saved = drafts.save_draft(capability_id=capability_id, files=files, based_on=plan.draft_version, by=by)
        taken = {"contract": named_contract(plan.item.contract, tool_name), "digest": plan.item.digest}
        update_row(plan.binding, **taken, state="same", changes=[], noticed_at=None)
        detail = {"capability_id": capability_id, "tool": tool_name, "fields": [one.name for one in wanted]}
        record_event(plan.binding.source, "take_over", by, detail)
    return saved


def _changed(text: str, tool_name: str, fields: list[FieldChange]) -> str:
    """The text of tools.json with these fields, everything else as it is written."""
    for field in fields:
        at, tool = locate_tool(text, tool_name), list_tool_contracts({"tools.json": text})[tool_name]
        if field.theirs is None:
            edit = remove_value(text, (*at, field.name))
        elif field.name in tool:
            edit = replace_value(text, (*at, field.name), field.theirs)
        else:
            edit = add_key(text, at, field.name, field.theirs)
        text = apply_edits(text, [edit])
    return text
