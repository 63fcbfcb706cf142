"""The form by which a person sees what a call would do, before they approve it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.form_data import FormDataInvalid, fill_form
from capability_kit.json_text import as_mapping
from capability_kit.tool_gate import ToolCall
from capability_rules.errors import InvalidRequest
from registry.authoring.form_generator import build_form_entry
from studio.pages.drawn_forms import DrawnForm, draw_form


def draw_approval(bundle: Bundle, call: ToolCall) -> DrawnForm | None:
    """The form of its tool, or else one made of the arguments that are there, with them in it and no button.

    None where neither takes the arguments.
    """
    for entry in _list_entries(bundle, call.tool, call.arguments):
        try:
            data = fill_form(entry, call.arguments, tools=bundle.tools)
        except FormDataInvalid:
            continue
        return draw_form(entry, data, has_buttons=False)
    return None


def _list_entries(bundle: Bundle, tool_name: str, arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    tool = next(one for one in bundle.tools if one["name"] == tool_name)
    wanted = as_mapping(tool.get("ui")).get("form")
    yield from (entry for entry in bundle.ui_schemas if entry.get("schema_id") == wanted)
    schema = as_mapping(tool["args_schema"])
    given = {name: one for name, one in as_mapping(schema.get("properties")).items() if name in arguments}
    # What is there is not optional any more.
    narrowed = {**tool, "args_schema": {**schema, "properties": given, "required": [*given]}}
    try:
        entry, _left_out = build_form_entry(narrowed, "Call")
    except InvalidRequest:
        return
    yield entry
