"""How much work a schema is, counted and done."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from capability_kit.json_schema.graph import EXPANSIONS_MAX, SchemaGraph
from capability_kit.json_schema.measure import (
    UNEVALUATED_FACTOR,
    count_steps,
    find_endless,
    is_too_complex,
)
from capability_kit.tests.json_schema.schemas import COSTLY, VALUES, Schema, schemas_with_references

_STEPS_OF_A_VISIT = count_steps(SchemaGraph({}).root, 1, lambda _pattern, _text: 0) or 0


class _Visits:
    """Counts the subschemas that `jsonschema` really asks, by a resolver and an order that are not ours."""

    def __init__(self, most: int) -> None:
        self.count = 0
        counting: Any = extend(Draft202012Validator)  # type: ignore[no-untyped-call]
        descend, iter_errors = counting.descend, counting.iter_errors

        def visit() -> None:
            self.count += 1
            if self.count > most:
                raise OverflowError

        def counted_descend(validator: Any, *args: Any, **named: Any) -> Any:
            visit()
            return descend(validator, *args, **named)

        def counted_iter_errors(validator: Any, *args: Any, **named: Any) -> Any:
            visit()
            return iter_errors(validator, *args, **named)

        counting.descend, counting.iter_errors = counted_descend, counted_iter_errors
        self._validator = counting

    def of(self, schema: Schema, value: Any) -> int:
        errors: list[ValidationError] = list(self._validator(schema).iter_errors(value))
        del errors
        return self.count


@given(schemas_with_references(), VALUES)
def test_counted_visits_are_not_fewer_than_real_ones(schema: Schema, value: Any) -> None:
    graph = SchemaGraph(schema)
    if not graph.is_resolved or find_endless(graph) is not None or is_too_complex(graph):
        return
    steps = count_steps(graph.root, value, lambda _pattern, _text: 0)
    assert steps is not None
    counted = steps // _STEPS_OF_A_VISIT
    assert _Visits(most=counted).of(schema, value) <= counted


@pytest.mark.parametrize("kind", COSTLY)
def test_costly_schema_is_too_complex(kind: str) -> None:
    assert not is_too_complex(SchemaGraph(COSTLY[kind](4)))
    assert is_too_complex(SchemaGraph(COSTLY[kind](25)))


def test_unevaluated_keyword_asks_what_is_in_place_again() -> None:
    inner: Schema = {"properties": {"p": {}}}
    plain = count_steps(SchemaGraph({"allOf": [inner]}).root, {"p": 1}, lambda _p, _t: 0) or 0
    asked = {"allOf": [inner], "unevaluatedProperties": False}
    again = count_steps(SchemaGraph(asked).root, {"p": 1}, lambda _p, _t: 0) or 0
    own = count_steps(SchemaGraph({}).root, {"p": 1}, lambda _p, _t: 0) or 0
    assert again - own == UNEVALUATED_FACTOR * (plain - own)


@given(st.integers(1, 50))
def test_wide_value_counts_with_each_of_its_items(items: int) -> None:
    graph = SchemaGraph({"items": {"allOf": [{}] * 10}})
    one, all_of_them = (count_steps(graph.root, [[]] * n, lambda _p, _t: 0) or 0 for n in (1, items + 1))
    assert all_of_them - one == items * (one - (count_steps(graph.root, [], lambda _p, _t: 0) or 0))


def test_pattern_counts_with_the_texts_that_it_meets() -> None:
    met: list[tuple[str, str]] = []

    def pattern_steps(pattern: str, text: str) -> int:
        met.append((pattern, text))
        return 0

    schema = {"patternProperties": {"^p": {"pattern": "b"}}, "properties": {"q": {"pattern": "c"}}}
    count_steps(SchemaGraph(schema).root, {"p1": "x", "q": 5}, pattern_steps)
    # A key may match or not: what stands behind it is counted with every value.
    assert sorted(met) == [("^p", "p1"), ("^p", "q"), ("b", "x")]


def test_schema_that_asks_itself_of_the_same_value_is_endless_and_of_a_part_is_not() -> None:
    assert find_endless(SchemaGraph({"allOf": [{"$ref": "#"}]})) is not None
    assert find_endless(SchemaGraph({"properties": {"p": {"$ref": "#"}}})) is None


def test_many_properties_and_a_long_enum_are_not_complex() -> None:
    properties = {f"p{n}": {"enum": list(range(50))} for n in range(EXPANSIONS_MAX + 1)}
    assert not is_too_complex(SchemaGraph({"properties": properties, "unevaluatedProperties": False}))
