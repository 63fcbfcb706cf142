import json
from typing import Any

from capability_rules.bundles.bundle import SkillBundle
from features.tool_sources.source_tools import read_tools
from features.tool_sources.tool_documents import build_document

NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node", "description": "The next one"}}}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "node_save",
        "description": "Saves a node.",
        "args_schema": {
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/Node", "description": "The node"}},
            "required": ["node"],
            "additionalProperties": False,
            "$defs": {"Node": NODE},
        },
        "result_schema": {"type": "object", "properties": {"ok": {"type": "boolean", "description": "Done"}}},
        "policy": {"kind": "write", "requires_approval": True},
    },
    {
        "name": "node_find",
        "description": "Finds a node.",
        "args_schema": {"type": "object", "properties": {"id": {"type": "string", "description": "Its id"}}},
        "policy": {"kind": "read"},
    },
]
BUNDLE = SkillBundle({}, {"capability_id": "nodes", "name": "Nodes", "description": "Keeps nodes."}, "", TOOLS, [])


def test_tools_come_back_from_their_mcp_list() -> None:
    document = build_document(BUNDLE, "mcp")
    assert document["tools"][1]["annotations"]["readOnlyHint"] is True
    tools = {tool.name: tool.contract for tool in read_tools(json.dumps(document).encode()).tools}
    assert [tools[tool["name"]]["policy"] for tool in TOOLS] == [tool["policy"] for tool in TOOLS]
    assert tools["node_find"] == TOOLS[1]


def test_tools_come_back_from_their_openapi_document() -> None:
    document = build_document(BUNDLE, "openapi")
    assert list(document["components"]["schemas"]) == ["node_save_arguments_Node"]
    save, find = (tool.contract for tool in read_tools(json.dumps(document).encode()).tools)
    assert (save["name"], save["description"]) == ("node_save", "Saves a node.")
    assert save["args_schema"]["required"] == ["node"]
    assert save["result_schema"] == TOOLS[0]["result_schema"]
    assert find["args_schema"]["properties"] == TOOLS[1]["args_schema"]["properties"]
