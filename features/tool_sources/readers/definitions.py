"""Definitions of tools in the form of OpenAI, Anthropic, Gemini or MCP, such as the result of `tools/list`."""

from __future__ import annotations

from typing import Any, Final, get_args

from capability_rules.bundles.vendor_tools import convert_tools, find_tool_list
from capability_rules.errors import SourceUnreadable
from features.tool_sources.descriptions import clean_text
from features.tool_sources.operation import ApiOperation, Catalog, Form, Json, Loss
from features.tool_sources.readers.limits import OPERATIONS_MAX
from features.tool_sources.readers.references import ReferenceTable
from features.tool_sources.readers.schemas import SchemaConverter

_FORMS: Final[tuple[Form, ...]] = get_args(Form)


def read_definitions(document: Any) -> Catalog | None:
    """The tools of a list in a vendor's form; None where there is none. Raises `SourceUnreadable` beyond the limits."""
    found = find_tool_list(document)
    if found is None:
        return None
    if len(found[1]) > OPERATIONS_MAX:
        raise SourceUnreadable(f"The list has {len(found[1]):,} tools; at most {OPERATIONS_MAX:,} are read")
    converted = convert_tools(found[1])
    if converted is None:
        return None
    form = next(one for one in _FORMS if one == converted.vendors[0])
    by_key: dict[str, ApiOperation] = {}
    for tool, name in zip(converted.tools, converted.names, strict=True):
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            # Two names may become one; the second keeps its own as its key.
            keys = (str(tool["name"])[:200], str(name)[:200])
            key = next((one for one in keys if one not in by_key), "")
            if key:
                by_key[key] = _operation(tool, key, str(name))
    # Annotations of MCP are read, and what else it says of a tool is for people.
    skipped = [words for words in converted.losses if words.startswith("Left out") and form != "MCP"]
    twice = len(converted.tools) - len(by_key)
    skipped += (
        [f"{twice} of {len(converted.tools)} definitions are left out: without a name, or with one that is there"]
        if twice
        else []
    )
    return Catalog(form, f"Tools in the form of {form}", "", tuple(by_key.values()), tuple(skipped))


def _operation(tool: Json, key: str, name: str) -> ApiOperation:
    """`name` is what the source calls the tool."""
    given = tool.get("args_schema")
    references = ReferenceTable(given)
    sent = SchemaConverter(references, "sent")
    schema, losses = sent.convert_root(given)
    result = tool.get("result_schema")
    received = SchemaConverter(ReferenceTable(result), "received")
    made, result_losses = received.convert_root(result) if isinstance(result, dict) else (None, frozenset[Loss]())
    policy = tool.get("policy")
    if name != tool["name"]:
        losses |= {Loss("IMPORT_SCHEMA_REWRITTEN", f"The tool is called `{clean_text(name, most=200)}` in its source")}
    return ApiOperation(
        key=key,
        name=str(tool["name"])[:200],
        is_read=isinstance(policy, dict) and policy.get("kind") == "read",
        description=str(tool.get("description") or "")[:20_000],
        summary=clean_text(tool.get("description"), most=200),
        arguments=schema,
        result=made,
        definitions=sent.definitions,
        result_definitions=received.definitions,
        losses=losses,
        result_losses=result_losses,
    )
