from typing import Any

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.operation import ApiOperation
from features.tool_sources.readers.openapi import read_openapi
from features.tool_sources.tests.openapi_documents import first_operation, posting


def body_of(operation: ApiOperation) -> Any:
    assert operation.body is not None
    return operation.body.schema


def converted(schema: Any, version: str = "3.1.0", **schemas: Any) -> Any:
    return body_of(first_operation(posting(schema, version, **schemas)))


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": False}, {"type": "integer", "minimum": 1}),
        ({"type": "file", "example": "x", "x-own": 1, "xml": {}}, {"type": "string"}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "any", "title": "T"}, {}),
        ({"required": True, "type": "string"}, {"type": "string"}),
        (True, {}),
        (False, {"not": {}}),
    ],
)
def test_schema_of_openapi_is_written_in_2020_12(given: Any, made: Any) -> None:
    assert converted(given, "3.0.3") == made


@pytest.mark.parametrize(
    "given",
    [
        {"maximum": 2**63},
        {"pattern": "(?=a)b"},
        {"pattern": "("},
        {"enum": []},
        {"minLength": -1},
        {"multipleOf": 0},
        {"unevaluatedProperties": False},
        {"default": "<|endoftext|>"},
        {"type": "quaternion"},
    ],
)
def test_schema_keyword_that_cannot_be_checked_is_left_out_and_reported(given: Any) -> None:
    operation = first_operation(posting(given))
    assert body_of(operation) == {}
    assert [loss.code for loss in operation.losses] == ["IMPORT_SCHEMA_LOST"]


def test_schema_leaves_out_what_only_the_other_side_says() -> None:
    properties = {"id": {"type": "string", "readOnly": True}, "name": {"type": "string"}}
    made = converted({"type": "object", "properties": properties, "required": ["id", "name", "size"]})
    assert made["properties"] == {"name": {"type": "string"}, "size": {}}
    assert made["required"] == ["name", "size"]


def test_schema_all_of_becomes_one_schema() -> None:
    base = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    }
    own = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}
    made = converted({"allOf": [{"$ref": "#/components/schemas/Base"}, own], "description": "A pet"}, Base=base)
    assert made == {
        "description": "A pet",
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
        "required": ["id"],
    }


def test_schema_all_of_that_does_not_fit_into_one_stays_and_is_reported() -> None:
    operation = first_operation(posting({"allOf": [{"not": {"type": "string"}}, {"not": {"type": "null"}}]}))
    assert len(body_of(operation)["allOf"]) == 2
    assert [loss.code for loss in operation.losses] == ["IMPORT_SCHEMA_REWRITTEN"]


def test_schema_one_of_is_explained() -> None:
    cat, dog = ({"type": "object", "properties": {"kind": {"const": kind}}} for kind in ("cat", "dog"))
    forms = [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]
    made = converted({"oneOf": forms, "discriminator": {"propertyName": "kind"}}, Cat=cat, Dog=dog)
    assert made["description"] == "One of: Cat, Dog, told apart by `kind`."
    assert made["oneOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]


def test_schemas_that_lead_to_each_other_end() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    loop = {"allOf": [{"$ref": "#/components/schemas/Loop"}, {"$ref": "#/components/schemas/Pong"}]}
    ping, pong = {"$ref": "#/components/schemas/Pong"}, {"$ref": "#/components/schemas/Ping"}
    document = posting({"properties": {"a": {"$ref": "#/components/schemas/Node"}, "b": loop}}, Node=node, Loop=loop,
                       Ping=ping, Pong=pong)  # fmt: skip
    definitions = first_operation(document).definitions.schemas
    assert definitions["Node"]["properties"]["next"] == {"$ref": "#/$defs/Node"}


def test_schemas_of_one_name_in_two_places_stay_apart() -> None:
    properties = {"a": {"$ref": "#/components/schemas/Pet"}, "b": {"$ref": "#/components/parameters/Pet/schema"}}
    document = posting({"properties": properties}, Pet={"type": "string"})
    document["components"]["parameters"] = {"Pet": {"schema": {"$ref": "#/components/responses/Pet"}}}
    document["components"]["responses"] = {"Pet": {"type": "integer"}}
    assert len(first_operation(document).definitions.schemas) == 3


def test_schema_deeper_than_the_limit_is_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(65):
        schema = {"items": schema}
    with pytest.raises(SourceUnreadable, match="more than 64 schemas within each other"):
        read_openapi(posting(schema))


def test_schema_all_of_through_more_references_than_the_limit_is_refused() -> None:
    schemas = {f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}, {"minLength": n}]} for n in range(100)}
    with pytest.raises(SourceUnreadable, match="More than 64 references"):
        read_openapi(posting({"$ref": "#/components/schemas/S0"}, **schemas))


def test_a_tuple_of_an_older_draft_keeps_its_places() -> None:
    given = {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    assert converted(given) == {
        "type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"not": {}},
    }  # fmt: skip
    assert first_operation(posting(given)).losses == frozenset()


@pytest.mark.parametrize("key", ["oneOf", "anyOf"])
def test_values_that_tell_forms_apart_are_said(key: str) -> None:
    told = {"propertyName": "kind", "mapping": {"c": "#/components/schemas/Cat", "d": "#/components/schemas/Dog"}}
    forms = [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]
    made = converted({key: forms, "discriminator": told}, Cat={"type": "object"}, Dog={"type": "object"})
    assert "told apart by `kind`: `c` is Cat, `d` is Dog" in made["description"]


def test_values_that_tell_kinds_apart_without_forms_are_a_loss() -> None:
    told = {"propertyName": "kind", "mapping": {"c": "#/components/schemas/Cat"}}
    operation = first_operation(posting({"type": "object", "discriminator": told}))
    assert ["`c` is Cat" in loss.message for loss in operation.losses] == [True]
