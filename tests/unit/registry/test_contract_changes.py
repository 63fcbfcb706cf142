"""What a release changes for those who rely on it, in words."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from registry.bundles import Bundle
from registry.contract_changes import contract_changes
from registry.validation import validate
from tests.factories import bundle, tool

NUMBER = {"type": "number", "description": "N.", "minimum": 0, "maximum": 10}
UNIT = {"type": "string", "description": "U.", "enum": ["kg", "lb"]}


def _bundle(tools: list[dict[str, Any]], **fields: Any) -> Bundle:
    found = validate(bundle(tools=tools, **fields)).bundle
    assert found is not None
    return found


def _changes(old: list[dict[str, Any]], new: list[dict[str, Any]], **fields: Any) -> list[tuple[str, str]]:
    return [(change.effect, change.words) for change in contract_changes(_bundle(old), _bundle(new, **fields))]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            tool("a", "read"),
            tool("a", "write"),
            [("loosens", "`a` writes where it read"), ("changes", "`a` now needs approval")],
        ),
        (
            tool("a", "write"),
            tool("a", "write", requires_approval=False),
            [("loosens", "`a` no longer needs approval")],
        ),
        (tool("a", allowed_roles=["x"]), tool("a"), [("loosens", "Every role may call `a`")]),
        (
            tool("a", allowed_roles=["x"]),
            tool("a", allowed_roles=["x", "z", "y"]),
            [("loosens", "The roles y, z may now call `a`")],
        ),
        (tool("a"), tool("a", allowed_roles=["x"]), [("breaks", "Only the roles x may call `a`")]),
        (tool("a"), tool("a", allowed_roles=[]), [("breaks", "Only the roles (none) may call `a`")]),
        (
            tool("a", allowed_roles=["x", "y"]),
            tool("a", allowed_roles=["y", "x"]),
            [],
        ),
        (
            tool("a", allowed_roles=["x", "y"]),
            tool("a", allowed_roles=["y"]),
            [("breaks", "The roles x may no longer call `a`")],
        ),
        (
            tool("a", "write"),
            tool("a", "read", requires_approval=True),
            [("changes", "`a` is declared read where it was write")],
        ),
        (tool("a", "read", requires_approval=False), tool("a", "read"), []),
    ],
)
def test_policies(old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert _changes([old], [new]) == expected


def _with(**changes: Any) -> dict[str, Any]:
    """The properties of these tests, changed; None takes one away."""
    properties: dict[str, dict[str, Any]] = {"hours": NUMBER, "unit": UNIT}
    for name, value in changes.items():
        if value is None:
            del properties[name]
        else:
            properties[name] = properties.get(name, {}) | value
    return {name: {key: item for key, item in value.items() if item is not None} for name, value in properties.items()}


@pytest.mark.parametrize(
    ("properties", "required", "expected"),
    [
        (_with(), ["hours"], [("breaks", "`hours` of `a` became required")]),
        (_with(unit={"enum": ["kg"]}), [], [("breaks", "`unit` of `a` no longer takes lb")]),
        (_with(unit={"enum": ["kg", "lb", "st"]}), [], [("changes", "`unit` of `a` takes more values")]),
        (_with(unit={"enum": None}), [], [("changes", "`unit` of `a` takes any value where it had a list")]),
        (_with(hours={"enum": [1, 2]}), [], [("breaks", "`hours` of `a` takes only 1, 2")]),
        (_with(hours=None), [], [("breaks", "The argument `hours` of `a` is gone")]),
        (_with(days={"type": "integer", "description": "D."}), [], [("changes", "The argument `days` of `a` is new")]),
        (_with(hours={"minimum": 1}), [], [("breaks", "`minimum` of `hours` of `a` is 1 where it was 0")]),
        (_with(hours={"maximum": 24}), [], [("changes", "`maximum` of `hours` of `a` is 24 where it was 10")]),
        (_with(hours={"maximum": None}), [], [("changes", "`maximum` of `hours` of `a` is gone")]),
        (_with(hours={"exclusiveMaximum": 9}), [], [("breaks", "`exclusiveMaximum` of `hours` of `a` is 9")]),
        (_with(unit={"maxLength": 2}), [], [("breaks", "`maxLength` of `unit` of `a` is 2")]),
        (_with(hours={"type": "string"}), [], [("breaks", "The type of `hours` of `a` is string where it was number")]),
        (
            _with(hours={"type": "integer"}),
            [],
            [("breaks", "The type of `hours` of `a` is integer where it was number")],
        ),
        (
            _with(hours={"type": ["number", "null"]}),
            [],
            [("changes", "The type of `hours` of `a` is ['number', 'null'] where it was number")],
        ),
        (_with(hours={"description": "Hours."}), [], []),
    ],
)
def test_arguments(properties: dict[str, Any], required: list[str], expected: list[tuple[str, str]]) -> None:
    old = tool("a", properties={"hours": NUMBER, "unit": UNIT}, required=[])
    assert _changes([old], [tool("a", properties=properties, required=required)]) == expected


def test_a_whole_number_that_becomes_any_number_breaks_nobody() -> None:
    old = tool("a", properties={"n": {"type": "integer", "description": "N."}})
    new = tool("a", properties={"n": {"type": "number", "description": "N."}})
    assert _changes([old], [new]) == [("changes", "The type of `n` of `a` is number where it was integer")]


def test_nested_objects_and_lists_are_walked() -> None:
    inner = {"type": "object", "description": "O.", "properties": {"unit": UNIT}}
    old = tool("a", properties={"entries": {"type": "array", "description": "E.", "items": inner}})
    new = copy.deepcopy(old)
    new["args_schema"]["properties"]["entries"]["items"] |= {"required": ["unit"]}
    new["args_schema"]["properties"]["entries"]["items"]["properties"]["unit"] = UNIT | {"enum": ["kg"]}
    (first, second) = contract_changes(_bundle([old]), _bundle([new]))
    assert first.words == "`entries[].unit` of `a` became required"
    assert second.words == "`entries[].unit` of `a` no longer takes lb"
    assert second.path == (0, "args_schema", "properties", "entries", "items", "properties", "unit")


def test_further_arguments_that_are_no_longer_taken() -> None:
    old = tool("a")
    del old["args_schema"]["additionalProperties"]
    assert _changes([old], [tool("a")]) == [("breaks", "`a` takes no further arguments than those named")]


def test_tools_come_and_go() -> None:
    assert _changes([tool("a"), tool("b")], [tool("b"), tool("c", "write")]) == [
        ("breaks", "The tool `a` is gone"),
        ("changes", "The write, approved tool `c` is new"),
    ]


def test_the_order_of_tools_is_no_change() -> None:
    assert _changes([tool("a"), tool("b")], [tool("b"), tool("a")]) == []


def test_triggers_and_what_loosens_comes_first() -> None:
    assert _changes([tool("a")], [tool("a", "write")], intent_triggers=["other"]) == [
        ("loosens", "`a` writes where it read"),
        ("changes", "`a` now needs approval"),
        ("changes", "The trigger “other” is new"),
        ("changes", "The trigger “alpha please” is gone"),
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        [7],
        [{}],
        [{"name": "a"}],
        [{"name": "a", "policy": {}}],
        [{"name": [], "policy": {}}],
        [
            {
                "name": "a",
                "policy": {"kind": "read", "allowed_roles": 7},
                "args_schema": {"required": 7, "properties": 7, "enum": 7},
            }
        ],
    ],
)
def test_a_damaged_old_release_never_stops_a_new_one(damaged: list[Any]) -> None:
    new = _bundle([tool("a", properties={"unit": UNIT})])
    for capability in ({}, {"intent_triggers": 7}):
        old = Bundle(files={}, capability=capability, skill_doc="", tools=damaged, ui_schemas=[7, {}])
        json.dumps([change.words for change in contract_changes(old, new)])
