"""Values judged by untrusted schemas: the same verdict as another validator's, and only where it ends soon."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from capability_kit.json_schema.evaluator import EvaluationTooLong, SchemaEvaluator, SchemaUnsafe
from capability_kit.json_schema.graph import SchemaGraph
from capability_kit.tests.json_schema.schemas import COSTLY, VALUES, Schema, schemas_with_references


def _fits(schema: Schema, value: Any) -> bool:
    graph = SchemaGraph(schema)
    return SchemaEvaluator(graph).find_error(graph.root, value) is None


@given(schemas_with_references(), VALUES)
def test_verdict_is_that_of_another_validator(schema: Schema, value: Any) -> None:
    try:
        fits = _fits(schema, value)
    except SchemaUnsafe:
        return
    assert fits == Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("kind", COSTLY)
def test_costly_schema_is_unsafe_and_a_small_one_of_its_kind_is_judged(kind: str) -> None:
    value = {"x": {"a": 1}} if kind == "unevaluated" else {"x": 1}
    if kind != "recursive anchor":
        assert _fits(COSTLY[kind](4), value)
    with pytest.raises(SchemaUnsafe):
        _fits(COSTLY[kind](25), value)


def test_outermost_dynamic_anchor_counts() -> None:
    tree = {"$id": "urn:x:tree", "$dynamicAnchor": "node", "properties": {"kids": {"items": {"$dynamicRef": "#node"}}}}
    strict = {"$id": "urn:x:strict", "$dynamicAnchor": "node", "$ref": "urn:x:tree", "unevaluatedProperties": False}
    schema = {"$ref": "urn:x:strict", "$defs": {"tree": tree, "strict": strict}}
    assert _fits(schema, {"kids": [{"kids": []}]})
    assert not _fits(schema, {"kids": [{"kisd": []}]})
    assert _fits({**schema, "$ref": "urn:x:tree"}, {"kids": [{"kisd": []}]})


def test_subschema_is_judged_in_the_place_where_it_is_written() -> None:
    inner = {"$id": "urn:x:in", "properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}
    graph = SchemaGraph({"properties": {"o": inner}, "$defs": {"a": {"type": "integer"}}})
    part = next(node for node in graph.nodes if node.path == ("properties", "o", "properties", "p"))
    evaluator = SchemaEvaluator(graph)
    assert evaluator.find_error(part, "text") is None
    assert evaluator.find_error(part, 1) is not None


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"allOf": [{"minimum": n} for n in range(9_000)]}}, [1] * 100_000),
        ({"items": {"enum": [str(n) for n in range(20_000)]}}, ["z"] * 100_000),
        ({"pattern": "1[01]{3000}x"}, "01" * 100_000),
        ({"pattern": "(?=[^b]*b)a"}, "c" * 100_000),
        ({"propertyNames": {"pattern": "(?=[^b]*b)a"}}, {"c" * 100_000: 1}),
        ({"patternProperties": {"(?=[^b]*b)a": {}}}, {"c" * 100_000: 1}),
    ],
)
def test_value_that_is_too_much_for_the_schema_is_not_evaluated(schema: Schema, value: Any) -> None:
    with pytest.raises(EvaluationTooLong):
        _fits(schema, value)


def test_deep_value_of_a_recursive_schema_counts_as_what_it_is() -> None:
    """An upper bound by depth alone would be 2^60."""
    value: Any = {"v": 1}
    for _ in range(60):
        value = {"left": value}
    tree = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "v": {"type": "integer"}}}
    assert _fits(tree, value)


@pytest.mark.parametrize("schema", [{"type": "no type"}, {"minimum": "1"}, {"items": [{}]}, {"$ref": "#/$defs/a"}])
def test_broken_schema_is_unsafe(schema: Schema) -> None:
    with pytest.raises(SchemaUnsafe):
        _fits(schema, {})
