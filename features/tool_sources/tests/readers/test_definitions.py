import json
from typing import Any

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers import read_source

SCHEMA = {"type": "object", "properties": {"id": {"type": "string", "description": "Its id"}}, "required": ["id"]}
TOOLS: dict[str, Any] = {
    "OpenAI": [{"type": "function", "function": {"name": "find", "description": "Finds", "parameters": SCHEMA}}],
    "Anthropic": [{"name": "find", "description": "Finds", "input_schema": SCHEMA}],
    "Gemini": [{"functionDeclarations": [{"name": "find", "description": "Finds", "parametersJsonSchema": SCHEMA}]}],
    "MCP": {"id": 1, "result": {"tools": [{"name": "find", "description": "Finds", "inputSchema": SCHEMA}]}},
}  # fmt: skip


def read(value: Any) -> Any:
    return read_source(json.dumps(value).encode())


@pytest.mark.parametrize("form", TOOLS)
def test_definitions_of_each_form_are_read(form: str) -> None:
    catalog = read(TOOLS[form])
    (operation,) = catalog
    assert catalog.form == form
    assert (operation.key, operation.description, operation.is_read) == ("find", "Finds", False)
    assert operation.arguments == SCHEMA


def test_definitions_of_openai_responses_are_read() -> None:
    (operation,) = read([{"type": "function", "name": "find", "parameters": SCHEMA, "strict": True}])
    assert operation.arguments == SCHEMA


def test_definition_with_read_only_hint_reads() -> None:
    tool = {"name": "find", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
    catalog = read({"tools": [tool]})
    assert catalog.operations[0].is_read
    assert not catalog.skipped


def test_definitions_of_one_name_count_once_and_are_said() -> None:
    catalog = read(TOOLS["Anthropic"] * 2)
    assert len(catalog.operations) == 1
    assert "1 of 2 definitions" in catalog.skipped[-1]


def test_definitions_beyond_the_limit_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="2,001 tools; at most 2,000"):
        read(TOOLS["Anthropic"] * 2001)


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], "text", [{"name": "x"}], {"tools": []}])
def test_document_that_is_neither_is_refused(value: Any) -> None:
    with pytest.raises(SourceUnreadable, match="neither an OpenAPI document nor a list of tools"):
        read(value)


def test_a_tool_keeps_the_name_that_it_has_in_its_source() -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("ns.tool/name", "ns tool name", "plain")]
    catalog = read({"tools": tools})
    assert [one.key for one in catalog] == ["ns_tool_name", "ns tool name", "plain"]
    said = [[loss.message for loss in one.losses] for one in catalog]
    assert ["`ns.tool/name`" in said[0][0], "`ns tool name`" in said[1][0], said[2]] == [True, True, []]
    assert catalog.skipped == ()
