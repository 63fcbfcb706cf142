"""From what a form holds to what a tool takes."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings

from capability_kit.json_schema.coercion import coerce
from capability_rules.tests.validation.a2ui.test_hostile import JUNK
from tests import costs
from tests.sweeps import check_each


def test_what_is_converted() -> None:
    def check(cell: tuple[Any, Any, Any]) -> None:
        schema, value, expected = cell
        result = coerce(value, schema)
        assert result == expected
        assert type(result) is type(expected)

    check_each(
        [
            ({"type": "number"}, "187.6", 187.6),
            ({"type": "number"}, "5", 5),
            ({"type": "number"}, " -2.5e3 ", -2500),
            ({"type": "number"}, ".5", 0.5),
            ({"type": "integer"}, "5", 5),
            ({"type": "integer"}, "5.0", 5),
            ({"type": "integer"}, "5.5", 5.5),
            ({"type": "boolean"}, "true", True),
            ({"type": "boolean"}, "false", False),
            ({"type": "string"}, ["lb"], "lb"),
            ({"type": "number"}, ["5"], 5),
            ({"type": "object", "properties": {"n": {"type": "number"}}}, [{"n": "5"}], {"n": 5}),
            ({"type": "array", "items": {"type": "number"}}, ["5"], [5]),
            ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}}, ["5", "6"], ["5", 6]),
            ({"type": ["number", "null"]}, "5", 5),
            ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
            ({"enum": ["lb", "kg"]}, ["lb"], "lb"),
            ({"enum": [1, 2]}, "2", 2),
            ({"const": True}, "true", True),
            ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "1"}, {"a": 1}),
            ({"type": "object"}, {"note": "", "size": 0}, {"size": 0}),
            ({"type": "object", "required": ["note"]}, {"note": ""}, {"note": ""}),
            ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}, "5", 5),
        ],
        check,
    )


def test_what_is_left_as_it_is() -> None:
    def check(cell: tuple[Any, Any]) -> None:
        schema, value = cell
        assert coerce(value, schema) == value

    check_each(
        [
            ({"type": "number"}, "about 5"),
            ({"type": "number"}, "5,5"),
            ({"type": "number"}, ""),
            ({"type": "number"}, "１"),
            ({"type": "number"}, "1e999"),
            ({"type": "number"}, "nan"),
            ({"type": "number"}, "9" * 5000),
            ({"type": "boolean"}, "True"),
            ({"type": "boolean"}, "yes"),
            ({"type": "string"}, 5),
            ({"type": "string"}, "5"),
            ({"type": ["string", "number"]}, "5"),
            ({"type": "string"}, []),
            ({"type": "string"}, ["a", "b"]),
            ({"type": "array"}, "a"),
            ({"type": ["array", "string"]}, ["a"]),
            ({}, ["a"]),
            (True, ["a"]),
            ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "5"),
            ({"$ref": "https://example.org/x"}, "5"),
            ({"$ref": "#"}, "5"),
            ({"$ref": "#/$defs/none"}, "5"),
        ],
        check,
    )


def test_a_property_uses_the_references_of_its_document() -> None:
    document = {"$defs": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert coerce("5", document["properties"]["a"], document) == 5


def test_the_input_is_not_changed() -> None:
    value = {"entries": [{"weight": "187.6", "unit": ["lb"], "note": ""}]}
    before = copy.deepcopy(value)
    entry = {"type": "object", "properties": {"weight": {"type": "number"}, "unit": {"type": "string"}}}
    schema = {"type": "object", "properties": {"entries": {"type": "array", "items": entry}}}
    assert coerce(value, schema) == {"entries": [{"weight": 187.6, "unit": "lb"}]}
    assert value == before


@settings(max_examples=150, deadline=None)
@given(JUNK, JUNK)
def test_junk_never_raises(value: Any, schema: Any) -> None:
    coerce(value, schema)


def test_many_items_and_a_great_schema_take_no_time() -> None:
    schema = {"items": {"type": "object", "required": [f"k{n}" for n in range(10_000)]}, "type": "array"}
    with costs.at_most(100):
        coerce([{"a": ""}] * 10_000, schema)
