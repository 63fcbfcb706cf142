"""Where the references of a schema lead."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.json_schema.graph import SchemaGraph


def _targets(schema: dict[str, Any]) -> list[tuple[Any, ...]]:
    graph = SchemaGraph(schema)
    assert graph.is_resolved
    return [link.target.path for node in graph.nodes for link in node.links]


@pytest.mark.parametrize("address", ["urn:x:one", "tag:x,1:one", "data:,one", "depot://shelf/one", "https://a.b/c"])
def test_reference_in_a_resource_leads_into_this_resource(address: str) -> None:
    inner = {"$id": address, "properties": {"p": {"$ref": "#/$defs/a"}, "q": {"$ref": "#n"}}}
    inner["$defs"] = {"a": {"type": "string"}, "b": {"$anchor": "n"}}
    schema = {"$ref": address, "$defs": {"inner": inner, "a": {"type": "integer"}}}
    place = ("$defs", "inner")
    assert sorted(_targets(schema)) == [place, (*place, "$defs", "a"), (*place, "$defs", "b")]


def test_pointer_may_be_escaped_in_both_ways() -> None:
    schema = {"properties": {"p": {"$ref": "#/$defs/a~1b%25%20~0"}}, "$defs": {"a/b% ~": {}}}
    assert _targets(schema) == [("$defs", "a/b% ~")]


def test_reference_out_of_the_document_is_external_and_one_to_nothing_is_not() -> None:
    schema = {"properties": {"p": {"$ref": "urn:elsewhere"}, "q": {"$ref": "#/$defs/none"}, "r": {"$ref": "#none"}}}
    assert [bad.external for bad in SchemaGraph(schema).bad_references] == [True, False, False]


@pytest.mark.parametrize(
    ("definitions", "place"),
    [
        ({"a": {"$anchor": "n"}, "b": {"$anchor": "n"}}, ("$defs", "b", "$anchor")),
        ({"a": {"$anchor": "n"}, "b": {"$dynamicAnchor": "n"}}, ("$defs", "b", "$dynamicAnchor")),
        ({"a": {"$id": "urn:x:a"}, "b": {"$id": "urn:x:a"}}, ("$defs", "b", "$id")),
    ],
)
def test_name_that_is_written_twice_in_one_resource_is_ambiguous(definitions: Any, place: tuple[Any, ...]) -> None:
    assert SchemaGraph({"$defs": definitions}).ambiguous_names == [place]


def test_name_may_be_written_once_in_each_resource() -> None:
    definitions = {
        "a": {"$id": "urn:x:a", "$anchor": "n"},
        "b": {"$id": "urn:x:b", "$anchor": "n"},
        "c": {"$anchor": "n"},
    }
    assert SchemaGraph({"$defs": definitions}).is_resolved


def test_names_that_are_data_or_properties_are_not_read() -> None:
    schema = {"const": {"$id": "urn:x:a"}, "properties": {"$id": {}, "$anchor": {}, "p": {"enum": [{"$anchor": "n"}]}}}
    graph = SchemaGraph(schema | {"$defs": {"a": {"$id": "urn:x:a", "$anchor": "n"}}})
    assert graph.is_resolved


def test_dynamic_reference_leads_to_every_anchor_of_its_name() -> None:
    inner = {"$id": "urn:x:inner", "$dynamicRef": "#n", "$defs": {"a": {"$dynamicAnchor": "n"}}}
    graph = SchemaGraph({"$ref": "urn:x:inner", "$defs": {"inner": inner, "b": {"$dynamicAnchor": "n"}}})
    node = next(node for node in graph.nodes if "$dynamicRef" in node.schema)
    assert {one.path for one in node.in_place} == {("$defs", "inner", "$defs", "a"), ("$defs", "b")}


def test_dynamic_reference_to_a_plain_anchor_is_a_plain_reference() -> None:
    graph = SchemaGraph({"$dynamicRef": "#n", "$defs": {"a": {"$anchor": "n"}}})
    assert [link.dynamic_name for link in graph.root.links] == [""]
    assert graph.dynamic_names == set()
