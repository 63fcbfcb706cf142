"""What a validator gets of an author's schema: pointers into `$defs` and nothing else to resolve."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from capability_kit.json_schema.graph import REFERENCES, SchemaGraph
from capability_kit.json_schema.rewriter import SchemaRewriter, TooManyForms
from capability_kit.tests.json_schema.schemas import COSTLY, Schema, schemas_with_references

_RESOLVED = {"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$schema"}


def _rewritten(schema: Schema) -> Schema:
    graph = SchemaGraph(schema)
    return SchemaRewriter(graph).document(graph.root)


def _check_document(document: Schema) -> None:
    again = SchemaGraph(document)
    assert again.is_resolved
    for node in again.nodes:
        assert not _RESOLVED & node.schema.keys()
        if "$ref" in node.schema:
            prefix, _, name = node.schema["$ref"].rpartition("/")
            assert prefix == "#/$defs"
            assert name in document["$defs"]


@pytest.mark.parametrize("kind", COSTLY)
def test_document_has_pointers_alone(kind: str) -> None:
    _check_document(_rewritten(COSTLY[kind](3)))


@given(schemas_with_references())
def test_document_of_any_references_has_pointers_alone(schema: Schema) -> None:
    if SchemaGraph(schema).is_resolved:
        _check_document(_rewritten(schema))


def test_document_keeps_what_asserts_and_the_author_keeps_the_rest() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "T", "type": "object", "x-own": 1,
        "properties": {"title": {"type": "string", "description": "D", "default": "d"}, "p": True},
        "const": {"$id": "urn:x:data", "title": 1}, "$defs": {"unused": {"type": "array"}},
    }  # fmt: skip
    copy = {**schema, "properties": dict(schema["properties"])}  # type: ignore[call-overload]
    assert _rewritten(schema) == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "p": True},
        "const": {"$id": "urn:x:data", "title": 1},
    }
    assert schema == copy


def test_references_beside_other_keywords_count_with_them() -> None:
    schema = {"$ref": "#/$defs/a", "allOf": [{"minimum": 1}], "$dynamicRef": "#b"}
    document = _rewritten(schema | {"$defs": {"a": False, "b": {"$anchor": "b", "maximum": 2}}})
    assert document["allOf"][0] == {"minimum": 1}
    assert len(document["allOf"]) == 3
    assert sorted(document["$defs"].values(), key=str) == [{"enum": []}, {"maximum": 2}]


def test_subschema_is_a_document_of_its_own_with_what_it_refers_to() -> None:
    schema = {"properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}, "b": {}}}
    graph = SchemaGraph(schema)
    part = next(node for node in graph.nodes if node.path == ("properties", "p"))
    assert SchemaRewriter(graph).document(part) == {
        "$ref": "#/$defs/0",
        "$defs": {"0": {"items": {"$ref": "#/$defs/0"}}},
    }


def test_dynamic_references_that_unfold_without_end_are_refused() -> None:
    """Each way through two resources at each of twenty levels is a form of its own."""
    definitions: dict[str, Any] = {}
    for level in range(20):
        next_level = {side: {"$ref": f"urn:x:{min(level + 1, 19)}{side}"} for side in "ab"}
        properties = {"d": {"$dynamicRef": f"#n{level}"}, **next_level}
        for side in "ab":
            anchor = {"d": {"$dynamicAnchor": f"n{level}"}}
            definitions[f"{level}{side}"] = {"$id": f"urn:x:{level}{side}", "properties": properties, "$defs": anchor}
    with pytest.raises(TooManyForms):
        _rewritten({"$ref": "urn:x:0a", "$defs": definitions})


def test_patterns_that_are_not_wanted_are_left_out_and_with_a_key_what_is_said_of_all_others() -> None:
    schema = {
        "pattern": "x", "const": {"pattern": "x"}, "anyOf": [{"pattern": "y"}], "additionalProperties": False,
        "patternProperties": {"x": {}, "y": {"pattern": "x"}}, "properties": {"pattern": {"pattern": "x"}},
    }  # fmt: skip
    graph = SchemaGraph(schema)
    assert SchemaRewriter(graph, is_unwanted=lambda pattern: pattern == "x").document(graph.root) == {
        "const": {"pattern": "x"},
        "anyOf": [{"pattern": "y"}],
        "patternProperties": {"y": {}},
        "properties": {"pattern": {}},
    }


def test_every_kind_of_reference_is_known() -> None:
    assert set(REFERENCES) == {"$ref", "$dynamicRef", "$recursiveRef"}
