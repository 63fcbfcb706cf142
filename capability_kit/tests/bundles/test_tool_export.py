"""Tools in each vendor's form, every published example held to each vendor's rules (CLIENTS 7)."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import jsonschema_rs
import pytest

from capability_client.tests.registries import examples
from capability_kit.bundles.tool_export import VENDORS, can_be_strict, export_schema, export_tools
from capability_kit.bundles.tool_names import wire_name
from capability_kit.json_schema.graph import SchemaGraph

EVERY = {wire_name(each.capability_id, tool["name"]): tool for each in examples() for tool in each.tools}
TOOL = {"name": "t", "description": "Does it.", "policy": {"kind": "read"}}


def _schemas(vendor: Any, *, strict: bool = False) -> list[tuple[str, dict[str, Any]]]:
    tools = export_tools(EVERY, vendor, strict=strict).tools
    if vendor == "openai":
        return [(each["function"]["name"], each["function"]["parameters"]) for each in tools]
    if vendor == "openai_responses":
        return [(each["name"], each["parameters"]) for each in tools]
    if vendor == "anthropic":
        return [(each["name"], each["input_schema"]) for each in tools]
    if vendor == "gemini":
        return [(each["name"], each["parametersJsonSchema"]) for each in tools[0]["functionDeclarations"]]
    return [(each["name"], each["inputSchema"]) for each in tools]


def _nodes(value: Any) -> Any:
    if isinstance(value, dict):
        yield value
        for key, item in value.items():
            if key not in ("properties", "$defs"):
                yield from _nodes(item)
            elif isinstance(item, dict):
                for inner in item.values():
                    yield from _nodes(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _nodes(item)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_example_is_taken_by_every_vendor(vendor: Any) -> None:
    before = copy.deepcopy(EVERY)
    found = _schemas(vendor)
    assert [name for name, _ in found] == list(EVERY)
    for name, schema in found:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name)
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & set(schema)
        jsonschema_rs.Draft202012Validator(schema, offline=True)
    assert before == EVERY, "an export changes nothing of the bundle"


@pytest.mark.parametrize("vendor", VENDORS)
def test_no_keyword_of_an_example_is_lost_on_the_way_to_a_vendor(vendor: Any) -> None:
    for name, schema in _schemas(vendor):
        for ours, theirs in zip(_nodes(EVERY[name]["args_schema"]), _nodes(schema), strict=True):
            assert set(ours) - {"$schema"} <= set(theirs), (name, ours)


def test_the_wrappers() -> None:
    tools = {"a__t": {**TOOL, "args_schema": {"type": "object"}}}
    (chat,) = export_tools(tools, "openai").tools
    assert chat == {
        "type": "function",
        "function": {
            "name": "a__t",
            "description": "Does it.",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
    }
    (flat,) = export_tools(tools, "openai_responses").tools
    assert flat == {"type": "function", **chat["function"]}
    (anthropic,) = export_tools(tools, "anthropic").tools
    assert set(anthropic) == {"name", "description", "input_schema"}
    (gemini,) = export_tools(tools, "gemini").tools
    assert set(gemini["functionDeclarations"][0]) == {"name", "description", "parametersJsonSchema"}
    (mcp,) = export_tools(tools, "mcp").tools
    assert mcp["annotations"] == {"readOnlyHint": True, "destructiveHint": False}
    assert export_tools({}, "gemini").tools == []
    with pytest.raises(ValueError, match="vendor"):
        export_tools(tools, "other")  # type: ignore[arg-type]


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_strict_schemas_are_closed_and_name_every_property(vendor: Any) -> None:
    strict = [
        (name, schema) for name, schema in _schemas(vendor, strict=True) if can_be_strict(EVERY[name]["args_schema"])
    ]
    assert len(strict) >= 10
    for _, schema in strict:
        for node in _nodes(schema):
            if node.get("type") == "object" or "properties" in node:
                assert node["additionalProperties"] is False
                assert sorted(node["required"]) == sorted(node["properties"])
            assert not {"minLength", "maxLength", "uniqueItems", "default", "oneOf", "allOf"} & set(node)
            if vendor == "anthropic":
                assert not {"minimum", "maximum", "exclusiveMinimum", "maxItems"} & set(node)
                assert node.get("minItems", 0) in (0, 1)


def test_strict_keeps_in_words_what_it_may_not_say() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5, "enum": ["x"]}}}
    made = export_schema(schema, "openai", strict=True)
    assert made["properties"]["a"] == {"type": ["string", "null"], "enum": ["x", None], "description": "(maxLength: 5)"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}},
        {"type": "object", "allOf": [{"required": ["a"]}]},
    ],
)
def test_what_strict_cannot_say_is_exported_plainly(schema: dict[str, Any]) -> None:
    (made,) = export_tools({"a__t": {**TOOL, "args_schema": schema}}, "openai", strict=True).tools
    assert made["function"]["strict"] is False


def test_combinators_at_the_root_are_left_to_the_gate_and_said() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}]}
    for vendor in ("openai", "anthropic", "gemini"):
        made = export_schema(schema, vendor)
        assert "anyOf" not in made
        assert "anyOf" in made["description"]


def test_gemini_gets_its_own_words() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {"a": {"const": "x"}, "b": {"type": "number", "exclusiveMinimum": 0}, "c": True},
        "patternProperties": {},
    }
    made = export_schema(schema, "gemini")
    assert made == {
        "type": "object",
        "properties": {
            "a": {"enum": ["x"]},
            "b": {"type": "number", "description": "(exclusiveMinimum: 0)"},
            "c": {},
        },
    }


def test_a_property_name_that_a_vendor_refuses_leaves_the_tool_out_and_says_why() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b-c": {"type": "string"}}}}}
    tools = {"a__t": {**TOOL, "args_schema": schema}}
    found = export_tools(tools, "gemini")
    assert found.tools == []
    assert found.left_out == {"a__t": "gemini takes no property named 'b-c'"}
    assert export_tools(tools, "anthropic").left_out == {}
    assert len(json.dumps(export_tools(tools, "openai").tools)) > 100


def _properties(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = _properties(inner=schema)
    return schema


CHOICES = [f"choice {number}" for number in range(1_001)]


@pytest.mark.parametrize("vendor", ["openai_responses", "anthropic"])
@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        (_deep(10), True),
        (_deep(11), False),
        (_properties(a={"type": "string", "enum": CHOICES[:1_000]}), True),
        (_properties(a={"type": "string", "enum": CHOICES}), False),
        (_properties(a={"type": "string", "enum": ["x" * 120_001]}), False),
        (_properties(**{f"p{number}": {"type": "string"} for number in range(5_001)}), False),
        # Closed, an object of whatever keys could hold none.
        (_properties(a={"type": "object"}), False),
        (_properties(a={"type": ["object", "null"]}), False),
        (_properties(a={"type": "array", "items": {"type": "object"}}), False),
        (_properties(a={"type": "object", "additionalProperties": False}), True),
        ({"type": "object"}, True),
    ],
)
def test_a_tool_is_strict_where_strict_mode_can_hold_it(vendor: Any, schema: dict[str, Any], is_strict: bool) -> None:
    (made,) = export_tools({"a__t": {**TOOL, "args_schema": schema}}, vendor, strict=True).tools
    assert made.get("strict", False) is is_strict


def test_rules_that_a_dialect_has_no_word_for_are_told_of() -> None:
    inner = {"type": "object", "description": "A range.", "not": {"required": ["b"]}, "allOf": [{"required": ["a"]}]}
    made = export_schema(_properties(a=inner), "gemini")
    assert made["properties"]["a"]["description"] == "A range. (further rules apply: not, allOf)"
    either = {"oneOf": [{"type": "string"}, {"type": "integer"}], "type": ["string", "integer"]}
    schema = _properties(a=either) | {"required": ["a"]}
    assert "oneOf" in export_schema(schema, "openai", strict=True)["properties"]["a"]["description"]
    assert "description" not in export_schema(schema, "anthropic", strict=True)["properties"]["a"]


@pytest.mark.parametrize("vendor", VENDORS)
def test_deferred_tools_and_examples_where_the_vendor_knows_them(vendor: Any) -> None:
    schema = {"type": "object", "properties": {"weight": {"type": "number"}}, "examples": [{"weight": 80}, "odd"]}
    tools = {"a__t": {**TOOL, "args_schema": schema}, "a__u": {**TOOL, "args_schema": {"type": "object"}}}
    made = export_tools(tools, vendor, deferred=["a__t"]).tools
    rows = made[0]["functionDeclarations"] if vendor == "gemini" else made
    assert [row.get("defer_loading") for row in rows] == [
        True if vendor in ("anthropic", "openai_responses") else None,
        None,
    ]
    assert [row.get("input_examples") for row in rows] == [[{"weight": 80}] if vendor == "anthropic" else None, None]


# References

REFERRING = {
    "type": "object",
    "$id": "https://schemas.example/order",
    "properties": {
        "first": {"$ref": "#/definitions/line", "title": "First", "description": "The first line."},
        "next": {"$ref": "#line"},
        "whole": {"$ref": "https://schemas.example/order"},
        "keyed": {"$ref": "#/patternProperties/^x"},
        "both": {"$ref": "#/allOf/0"},
    },
    "patternProperties": {"^x": {"type": "string"}},
    "allOf": [{"type": "object", "properties": {"n": {"$dynamicRef": "#node"}}}],
    "definitions": {
        "line": {"$anchor": "line", "type": "object", "properties": {"after": {"$ref": "#line", "title": "After"}}}
    },
    "$defs": {"node": {"$dynamicAnchor": "node", "type": "integer"}},
}


def _references(value: Any) -> Any:
    if isinstance(value, dict):
        yield from ([value] if isinstance(value.get("$ref"), str) else [])
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _references(item)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("vendor", VENDORS)
def test_every_reference_of_an_export_has_its_target_in_it(vendor: Any, strict: bool) -> None:
    tool = TOOL | {"args_schema": REFERRING, "result_schema": REFERRING}
    made = export_tools({"t": tool}, vendor, strict=strict)
    assert made.left_out == {}
    text = json.dumps(made.tools)
    assert not any(word in text for word in ("schemas.example", "#line", "#node", "dynamicRef"))
    for name in ("parameters", "input_schema", "parametersJsonSchema", "inputSchema", "outputSchema"):
        for schema in _found(made.tools, name):
            assert SchemaGraph(schema).is_resolved
            found = list(_references(schema))
            assert len(found) >= 4
            assert {each["$ref"].removeprefix("#/$defs/") for each in found} <= set(schema["$defs"])
            if vendor == "gemini":
                assert all(len(each) == 1 for each in found)


def _found(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        yield from ([value[name]] if name in value else [])
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _found(item, name)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_tool_whose_reference_leads_nowhere_is_left_out_with_the_reason(vendor: Any) -> None:
    bad = TOOL | {"args_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}}}
    good = TOOL | {"args_schema": {"type": "object"}}
    made = export_tools({"bad": bad, "good": good}, vendor)
    assert list(made.left_out) == ["bad"]
    assert "#/$defs/nowhere" in made.left_out["bad"]
    assert "good" in json.dumps(made.tools)


def test_gemini_gets_what_stands_beside_a_reference_with_a_copy_of_its_target() -> None:
    line = {
        "type": "object",
        "description": "A line.",
        "properties": {"after": {"$ref": "#/$defs/line", "title": "After"}},
    }
    properties = {"first": {"$ref": "#/$defs/line", "description": "The first."}, "$ref": {"enum": ["a"]}}
    made = export_schema({"type": "object", "properties": properties, "$defs": {"line": line}}, "gemini")
    copied = {"type": "object", "description": "The first.", "properties": {"after": {"$ref": "#/$defs/line"}}}
    assert made["properties"] == {"first": copied, "$ref": {"enum": ["a"]}}
    assert made["$defs"]["line"]["properties"]["after"]["title"] == "After"


def test_a_required_name_that_is_not_a_property_is_said_and_never_lost() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    for vendor in ("openai", "anthropic"):
        exported = export_tools({"t": TOOL | {"args_schema": schema}}, vendor, strict=True).tools[0]
        assert exported.get("function", exported).get("strict") in (None, False)
        assert next(iter(_found(exported, "required"))) == ["a", "b"]
    gemini = export_schema(schema, "gemini")
    assert (gemini["required"], "b" in gemini["description"]) == (["a"], True)
