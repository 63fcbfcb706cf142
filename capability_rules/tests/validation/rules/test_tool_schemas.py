"""What is said of a type that there is not."""

from __future__ import annotations

import pytest

from capability_kit.tests.json_schema.schemas import COSTLY
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle, to_json, tool


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("int", 'Write "integer".'),
        ("List", 'Write "array".'),
        ("String", 'Write "string".'),
        ("strin", 'Write "string".'),
        ("any", "Leave the type out: then any value is allowed."),
        ("whole", "Write one of these."),
        ("", "Write one of these."),
    ],
)
def test_a_wrong_type_is_answered_with_one_that_there_is(word: str, hint: str) -> None:
    tools = [tool("alpha_list", properties={"limit": {"type": word, "description": "How many."}})]
    found = [one for one in validate_bundle(bundle() | {"tools.json": to_json(tools)}).findings if "SCHEMA" in one.code]
    assert [one.hint for one in found] == [hint]


@pytest.mark.parametrize("kind", COSTLY)
def test_schema_that_unfolds_without_end_in_any_way_is_too_complex(kind: str) -> None:
    schema = COSTLY[kind](30)
    schema["properties"]["x"] |= {"default": 1, "description": "A number."}
    tools = [tool("alpha_list") | {"args_schema": schema | {"type": "object"}}]
    report = validate_bundle(bundle() | {"tools.json": to_json(tools)})
    assert "TOOL_SCHEMA_TOO_COMPLEX" in {one.code for one in report.errors}


def test_anchor_that_is_written_twice_is_found_at_the_second_one() -> None:
    definitions = {"a": {"$anchor": "n", "type": "string"}, "b": {"$anchor": "n", "type": "integer"}}
    tools = [tool("alpha_list") | {"args_schema": {"type": "object", "$defs": definitions}}]
    report = validate_bundle(bundle() | {"tools.json": to_json(tools)})
    (found,) = (one for one in report.errors if one.file == "tools.json")
    assert (found.code, found.pointer) == ("TOOL_SCHEMA_INVALID", "/0/args_schema/$defs/b/$anchor")


OLDER = [
    ({"type": "array", "items": [{"type": "string"}]}, "prefixItems"),
    ({"type": "integer", "maximum": 5, "exclusiveMaximum": True}, '"exclusiveMaximum": 5'),
    ({"type": "integer", "minimum": 5, "exclusiveMinimum": False}, '"exclusiveMinimum": 5'),
    ({"type": "string", "required": True}, "list of names"),
    ({"type": "string", "$id": "#name"}, '"$anchor": "name"'),
]


@pytest.mark.parametrize(("schema", "words"), OLDER)
def test_a_form_of_an_older_draft_is_named_with_that_of_2020_12(schema: dict[str, object], words: str) -> None:
    tools = [tool("alpha_list", properties={"limit": {"description": "How many.", **schema}})]
    found = [one for one in validate_bundle(bundle() | {"tools.json": to_json(tools)}).findings if "SCHEMA" in one.code]
    assert [words in one.hint for one in found] == [True]


def test_a_required_name_is_looked_for_where_the_object_alone_says_its_properties() -> None:
    def codes(**schema: object) -> list[tuple[str, str]]:
        properties = {"hours": {"type": "number", "description": "Hours."}}
        tools = [tool("alpha_list") | {"args_schema": {"type": "object", "properties": properties, **schema}}]
        found = validate_bundle(bundle() | {"tools.json": to_json(tools)}).findings
        return [(one.pointer, one.hint) for one in found if one.code == "TOOL_REQUIRED_UNKNOWN"]

    assert codes(required=["hours"]) == []
    assert codes(required=["hours", "hour"]) == [("/0/args_schema/required/1", "Did you mean 'hours'?")]
    assert codes(required=["zzz"])[0][1] == "Add it to properties, or take it off required."
    assert codes(required=["x"], allOf=[{"properties": {"x": {}}}]) == []
    assert codes(required=["x"], patternProperties={"^x": {}}) == []
