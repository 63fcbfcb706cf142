"""Tool definitions of OpenAI, Anthropic, Gemini and MCP are recognized and converted, and what is lost is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.vendor_tools import convert_tools, find_tool_list, find_vendor
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle, tool
from tests.sweeps import check_each

ARGUMENTS = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}},
    "required": ["city"],
    "additionalProperties": False,
}
RESULT = {"type": "object", "properties": {"degrees": {"type": "number"}}}
ABOUT: dict[str, Any] = {"name": "weather_get", "description": "The weather of a city."}
OPENAI: dict[str, Any] = {"type": "function", "function": {**ABOUT, "parameters": ARGUMENTS, "strict": True}}
RESPONSES: dict[str, Any] = {"type": "function", **ABOUT, "parameters": ARGUMENTS, "strict": False}
ANTHROPIC: dict[str, Any] = {**ABOUT, "input_schema": ARGUMENTS, "cache_control": {"type": "ephemeral"}}
MCP: dict[str, Any] = {
    **ABOUT, "title": "Weather", "inputSchema": ARGUMENTS, "outputSchema": RESULT,
    "annotations": {"readOnlyHint": True, "openWorldHint": True},
}  # fmt: skip
GEMINI: dict[str, Any] = {
    "functionDeclarations": [
        {
            **ABOUT,
            "parameters": {
                "type": "OBJECT",
                "properties": {
                    "city": {"type": "STRING", "description": "Where.", "nullable": True},
                    "days": {"type": "ARRAY", "items": {"type": "INTEGER", "format": "int32"}},
                },
                "required": ["city"],
                "propertyOrdering": ["city", "days"],
            },
        }
    ]
}
WRITE = {"kind": "write", "requires_approval": True}
FORMS = {"OpenAI": OPENAI, "OpenAI, Responses": RESPONSES, "Anthropic": ANTHROPIC, "MCP": MCP, "Gemini": GEMINI}


def _bundle(document: Any) -> dict[str, str]:
    return {**bundle(), "tools.json": json.dumps(document, indent=2)}


def test_each_form_becomes_a_contract_without_an_error() -> None:
    def check(name: str) -> None:
        converted = convert_tools([FORMS[name]])
        assert converted is not None
        assert converted.vendors == [name.partition(",")[0]]
        (contract,) = converted.tools
        assert {key: contract[key] for key in ABOUT} == ABOUT
        assert contract["args_schema"]["required"] == ["city"]
        errors = [one for one in validate_bundle(_bundle(converted.tools)).errors if one.file == "tools.json"]
        assert errors == []

    check_each(FORMS, check)


def test_what_is_lost_or_supposed_is_said() -> None:
    converted = convert_tools([OPENAI, ANTHROPIC, GEMINI])
    assert converted is not None
    said = " ".join(converted.losses)
    assert "`strict`" in said
    assert "`cache_control`" in said
    assert "`propertyOrdering`" in said
    assert "weather_get, weather_get, weather_get wait for approval" in said
    assert [one["policy"] for one in converted.tools] == [WRITE] * 3


def test_a_tool_of_mcp_that_only_reads_is_a_read_with_its_result() -> None:
    converted = convert_tools([MCP, {**MCP, "annotations": {"readOnlyHint": False}}])
    assert converted is not None
    assert [one["policy"] for one in converted.tools] == [{"kind": "read"}, WRITE]
    assert converted.tools[0]["result_schema"] == RESULT


def test_types_of_gemini_and_of_python_are_those_of_json_schema() -> None:
    converted = convert_tools([GEMINI])
    assert converted is not None
    properties = converted.tools[0]["args_schema"]["properties"]
    assert properties["city"]["type"] == ["string", "null"]
    assert properties["days"] == {"type": "array", "items": {"type": "integer", "format": "int32"}}
    python = {**ABOUT, "parameters": {"type": "dict", "properties": {"a": {"type": "float"}, "b": {"type": "any"}}}}
    converted = convert_tools([python])
    assert converted is not None
    assert converted.tools[0]["args_schema"] == {"type": "object", "properties": {"a": {"type": "number"}, "b": {}}}


@pytest.mark.parametrize(
    "given",
    [{**ABOUT, "inputSchema": None}, {"type": "function", "function": ABOUT}, {**ABOUT, "input_schema": {}}],
)
def test_tool_without_arguments_takes_none(given: dict[str, Any]) -> None:
    converted = convert_tools([given])
    assert converted is not None
    assert converted.tools[0]["args_schema"]["type"] == "object"


@pytest.mark.parametrize(
    ("name", "valid"),
    [("repo.search", "repo_search"), ("3d/render", "tool_3d_render"), ("größe lesen", "gr_e_lesen"), ("ok-1", "ok-1")],
)
def test_name_that_contracts_do_not_take_is_changed_and_said(name: str, valid: str) -> None:
    converted = convert_tools([{**MCP, "name": name}])
    assert converted is not None
    assert converted.tools[0]["name"] == valid
    assert any("Renamed" in one for one in converted.losses) == (name != valid)


@pytest.mark.parametrize(
    "document",
    [[OPENAI], {"tools": [OPENAI]}, OPENAI, {"result": {"tools": [MCP]}, "jsonrpc": "2.0", "id": 1}, GEMINI, [GEMINI],
     {"function_declarations": GEMINI["functionDeclarations"]}],
)  # fmt: skip
def test_list_is_found_however_it_is_wrapped(document: Any) -> None:
    found = find_tool_list(document)
    assert found is not None
    converted = convert_tools(found[1])
    assert converted is not None
    assert [one["name"] for one in converted.tools] == ["weather_get"]


@pytest.mark.parametrize("document", [tool("alpha_list"), {}, {"name": "x"}, 7, None, {"name": "x", "parameters": []}])
def test_what_is_a_contract_or_nothing_known_is_left_alone(document: Any) -> None:
    assert find_vendor(document) == ""
    assert convert_tools([document]) is None


def test_contract_beside_a_vendors_definition_stays_as_it_is() -> None:
    own = tool("alpha_list")
    converted = convert_tools([own, MCP])
    assert converted is not None
    assert converted.tools[0] is own


def test_half_converted_tool_keeps_the_policy_that_its_author_wrote() -> None:
    converted = convert_tools([{**ABOUT, "parameters": ARGUMENTS, "policy": {"kind": "read"}}])
    assert converted is not None
    assert converted.tools[0]["policy"] == {"kind": "read"}
    assert converted.losses == []


# Where it is met


def test_check_says_it_once_for_all_tools() -> None:
    def check(name: str) -> None:
        document = {"tools": [FORMS[name]]} if name != "Gemini" else FORMS[name]
        report = validate_bundle(_bundle(document))
        errors = [one for one in report.errors if one.file == "tools.json"]
        assert [one.code for one in errors] == ["TOOL_FORM_OTHER"]
        assert errors[0].line is not None
        assert name.partition(",")[0] in errors[0].message

    check_each(FORMS, check)


def test_import_converts_and_says_what_that_left_out() -> None:
    taken = import_skill(SourceBundle("alpha", _bundle([OPENAI, ANTHROPIC])))
    assert taken.files is not None
    assert [one["args_schema"]["type"] for one in json.loads(str(taken.files["tools.json"]))] == ["object", "object"]
    (finding,) = taken.findings
    assert (finding.code, finding.severity) == ("IMPORT_TOOLS_CONVERTED", "warning")
    assert "OpenAI and Anthropic" in finding.message
    assert "`strict`" in finding.hint


def test_deep_and_odd_schemas_are_converted_without_a_crash() -> None:
    deep: dict[str, Any] = {"type": "OBJECT"}
    for _ in range(2000):
        deep = {"type": "OBJECT", "properties": {"a": deep}}
    odd = [deep, {"type": 7, "properties": {"a": 7, "b": [1]}, "items": [1, {"type": "STRING"}]}, [], "x", 7]
    for schema in odd:
        assert convert_tools([{**ABOUT, "input_schema": schema}]) is not None
