from typing import Any

import pytest

from capability_kit.bundles.tool_export import VENDORS, export_tools
from capability_rules.bundles.json_edits import to_json
from capability_rules.validation import validate_bundle
from capability_rules.validation.rules.tools import check_tools
from features.tool_sources.mapping.contract import MappedTool, digest_contract, map_operation
from features.tool_sources.operation import ApiOperation
from features.tool_sources.tests.openapi_documents import first_operation, openapi, posting

STRING = {"type": "string", "description": "A text"}


def mapped(document: dict[str, Any], name: str = "run") -> MappedTool:
    return map_operation(first_operation(document), name)


def check(tool: MappedTool) -> set[str]:
    """The codes of what the product says of the tool, which no vendor's export may leave out."""
    for vendor in VENDORS:
        assert not export_tools({"x": tool.contract}, vendor).left_out
    return {problem.code for problem in check_tools([tool.contract])}


def test_contract_of_a_get_reads_and_of_a_post_writes_with_approval() -> None:
    assert mapped(openapi({"/p": {"get": {}}})).contract["policy"] == {"kind": "read"}
    assert mapped(openapi({"/p": {"post": {}}})).contract["policy"] == {"kind": "write", "requires_approval": True}


def test_contract_has_parameters_and_body_beside_each_other() -> None:
    document = posting({"type": "object", "properties": {"name": STRING}, "required": ["name"]})
    document["paths"]["/pets"]["post"]["parameters"] = [{"name": "dry", "in": "query", "schema": STRING}]
    tool = mapped(document)
    assert tool.contract["args_schema"] == {
        "type": "object",
        "properties": {"dry": STRING, "name": STRING},
        "required": ["name"],
        "additionalProperties": False,
    }
    assert check(tool) == set()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": STRING},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "additionalProperties": STRING},
        {"type": "object", "properties": {"a": STRING}, "anyOf": [{"required": ["a"]}]},
    ],
)
def test_contract_has_a_body_that_vendors_refuse_at_the_root_as_one_argument(schema: Any) -> None:
    tool = mapped(posting(schema))
    assert list(tool.contract["args_schema"]["properties"]) == ["body"]
    assert tool.contract["args_schema"]["required"] == ["body"]
    assert check(tool) == set()


def test_contract_renames_arguments_that_vendors_refuse_and_says_so() -> None:
    given = [{"name": name, "in": "query", "schema": STRING} for name in ("page[size]", "X-Id", "x_id", "größe", "名")]
    tool = mapped(openapi({"/p": {"get": {"parameters": given}}}))
    properties = tool.contract["args_schema"]["properties"]
    assert list(properties) == ["page_size", "x_id", "query_x_id", "grosse", "argument"]
    assert properties["page_size"]["description"] == "A text Sent as `page[size]` in the query."
    assert {loss.code for loss in tool.losses} == {"IMPORT_SCHEMA_REWRITTEN"}
    assert check(tool) == set()


def test_contract_says_which_vendor_refuses_a_name_of_the_body() -> None:
    tool = mapped(posting({"properties": {"a": {"description": "A", "properties": {"b.c": STRING}}}}))
    assert any("Gemini" in loss.message and "`b.c`" in loss.message for loss in tool.losses)


def test_contract_embeds_what_it_refers_to() -> None:
    node = {"type": "object", "description": "A node", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    tool = mapped(posting({"properties": {"node": {"$ref": "#/components/schemas/Node"}}}, Node=node))
    assert list(tool.contract["args_schema"]["$defs"]) == ["Node"]
    assert check(tool) <= {"TOOL_PROPERTY_UNDESCRIBED"}


def test_contract_cuts_a_schema_that_is_too_large_and_says_where() -> None:
    def level(number: int) -> dict[str, Any]:
        many = {f"p{index}": {"type": "string", "description": "words " * 20} for index in range(30)}
        below = {"below": {"$ref": f"#/components/schemas/L{number + 1}"}} if number < 9 else {}
        return {"type": "object", "description": f"Level {number}", "properties": many | below}

    tool = mapped(
        posting({"properties": {"a": {"$ref": "#/components/schemas/L0"}}}, **{f"L{n}": level(n) for n in range(10)})
    )
    assert list(tool.contract["args_schema"]["$defs"]) == ["L0", "L1", "L2"]
    cut = tool.contract["args_schema"]["$defs"]["L2"]["properties"]["below"]
    assert cut == {"type": "object", "description": "Level 3"}
    assert any("followed 3 deep, and 1 of them" in loss.message for loss in tool.losses)
    assert check(tool) <= {"TOOL_PROPERTY_UNDESCRIBED"}


@pytest.mark.parametrize(("levels", "is_refused"), [(30, False), (31, True)])
def test_contract_that_nests_deeper_than_a_bundle_is_refused(levels: int, is_refused: bool) -> None:
    schema: dict[str, Any] = STRING
    for _ in range(levels):
        schema = {"type": "object", "description": "More", "properties": {"a": schema}}
    tool = mapped(posting(schema))
    assert ("64" in tool.refused) == is_refused
    files = {"tools.json": to_json([tool.contract])}
    assert ("JSON_TOO_DEEP" in {one.code for one in validate_bundle(files).findings}) == is_refused


def test_contract_leaves_out_a_default_that_its_schema_refuses() -> None:
    tool = mapped(posting({"properties": {"size": {"type": "integer", "default": "big", "description": "Size"}}}))
    assert "default" not in tool.contract["args_schema"]["properties"]["size"]
    assert check(tool) == set()


def test_contract_keeps_a_reference_below_a_property_named_default() -> None:
    theme = {"type": "string", "description": "A theme"}
    schema = {"properties": {"themes": {"properties": {"default": {"$ref": "#/components/schemas/Theme"}}}}}
    tool = mapped(posting(schema, Theme=theme))
    assert list(tool.contract["args_schema"]["$defs"]) == ["Theme"]


@pytest.mark.parametrize(
    ("summary", "description", "made"),
    [
        ("List pets", "All of <b>them</b>, see [docs](http://x/y).", "List pets. All of them, see docs."),
        ("List pets.", "List pets by name.", "List pets by name."),
        ("", "", "GET /p"),
        ("", "a\u200bb\u202ec\n\n## d", "abc d"),
    ],
)
def test_contract_description_is_plain(summary: str, description: str, made: str) -> None:
    given = {"get": {"summary": summary, "description": description}}
    assert mapped(openapi({"/p": given})).contract["description"] == made


def test_contract_description_ends_with_a_sentence() -> None:
    made = mapped(openapi({"/p": {"get": {"description": "One more sentence. " * 200}}})).contract["description"]
    assert len(made) <= 1024
    assert made.endswith("sentence.")


def test_contract_of_a_given_definition_keeps_its_root() -> None:
    arguments = {"type": "object", "properties": {"a": STRING}, "additionalProperties": True}
    tool = map_operation(ApiOperation("find", "find", is_read=True, arguments=arguments), "find")
    assert tool.contract["args_schema"] == {**arguments}


def test_digest_does_not_depend_on_the_name() -> None:
    document = openapi({"/p": {"get": {"summary": "Reads"}}})
    assert mapped(document, "a").digest == mapped(document, "b").digest
    document["paths"]["/p"]["get"]["summary"] = "Reads more"
    assert mapped(document, "a").digest != digest_contract(mapped(openapi({"/p": {"get": {}}}), "a").contract)
