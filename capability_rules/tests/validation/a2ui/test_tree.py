"""Group 3: ids, references, cycles, orphans and extent."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.forms import (
    ADDED,
    add,
    check,
    components,
    data,
    errors,
    note_form,
    problems,
)

BASE = "/0/definition/components"


def row(name: str, *children: str) -> dict[str, Any]:
    return {"id": name, "component": "Row", "children": list(children)}


def line(name: str) -> dict[str, Any]:
    return {"id": name, "component": "Divider"}


def test_one_component_in_two_places_is_legal() -> None:
    assert check(add(note_form(), row("a", "b", "c"), row("b", "x"), row("c", "x"), line("x"))) == []


@pytest.mark.parametrize(
    ("component", "place"),
    [
        ({"component": "Card", "child": "nope"}, "/child"),
        ({"component": "Button", "child": "nope", "action": {"event": {"name": "save"}}}, "/child"),
        ({"component": "Modal", "trigger": "nope", "content": "save_label"}, "/trigger"),
        ({"component": "Modal", "trigger": "save_label", "content": "nope"}, "/content"),
        (
            {"component": "Tabs", "tabs": [{"title": "One", "child": "save_label"}, {"title": "Two", "child": "nope"}]},
            "/tabs/1/child",
        ),
        ({"component": "List", "children": ["save_label", "nope"]}, "/children/1"),
        ({"component": "List", "children": {"componentId": "nope", "path": "/kind"}}, "/children/componentId"),
    ],
)
def test_every_kind_of_reference_is_followed(component: dict[str, Any], place: str) -> None:
    assert errors(add(note_form(), {"id": "more", **component})) == [("UI_CHILD_REF_UNKNOWN", ADDED + place)]


def test_an_unknown_child_comes_with_the_nearest_id() -> None:
    form = note_form()
    components(form)[0]["children"][0] = "tex"
    assert {each.hint for each in problems(form) if each.code == "UI_CHILD_REF_UNKNOWN"} == {"Did you mean 'text'?"}


def test_a_component_that_contains_itself() -> None:
    assert errors(add(note_form(), row("a", "a"))) == [("UI_COMPONENT_CYCLE", ADDED)]


def test_a_cycle_is_told_once_where_it_is_entered_again() -> None:
    form = add(note_form(), row("a", "b", "c"), row("b", "a"), row("c", "a"))
    assert errors(form) == [("UI_COMPONENT_CYCLE", ADDED)]
    assert "a > b > a" in problems(form)[0].message


def test_a_cycle_through_root() -> None:
    assert errors(add(note_form(), row("a", "root"))) == [("UI_COMPONENT_CYCLE", f"{BASE}/0")]


@pytest.mark.parametrize(
    "middle",
    [
        {"component": "Tabs", "tabs": [{"title": "One", "child": "a"}]},
        {"component": "Modal", "trigger": "save_label", "content": "a"},
        {"component": "List", "children": {"componentId": "a", "path": "/kind"}},
    ],
)
def test_cycles_through_tabs_modals_and_templates(middle: dict[str, Any]) -> None:
    assert errors(add(note_form(), row("a", "b"), {"id": "b", **middle})) == [("UI_COMPONENT_CYCLE", ADDED)]


def test_a_cycle_apart_from_root_is_circular_and_left_over() -> None:
    form = note_form()
    components(form).extend([row("a", "b"), row("b", "a")])
    assert errors(form) == [
        ("UI_COMPONENT_CYCLE", f"{BASE}/5"),
        ("UI_COMPONENT_ORPHAN", f"{BASE}/5"),
        ("UI_COMPONENT_ORPHAN", f"{BASE}/6"),
    ]


def test_without_root_nothing_is_called_an_orphan() -> None:
    form = note_form()
    components(form)[0]["id"] = "main"
    assert errors(form) == [("UI_ROOT_MISSING", BASE)]


def test_all_faults_of_the_graph_are_told_at_once() -> None:
    form = add(note_form(), row("a", "a", "nope"))
    components(form).extend([line("extra"), line("text")])
    assert {code for code, _ in errors(form)} == {
        "UI_CHILD_REF_UNKNOWN",
        "UI_COMPONENT_CYCLE",
        "UI_COMPONENT_ID_DUPLICATE",
        "UI_COMPONENT_ORPHAN",
    }


def chain(length: int) -> dict[str, Any]:
    inner = [{"id": f"c{n}", "component": "Card", "child": f"c{n + 1}"} for n in range(length)]
    return add(note_form(), *inner, line(f"c{length}"))


def test_fifty_levels_below_root_are_allowed() -> None:
    assert check(chain(49)) == []
    assert errors(chain(50)) == [("UI_LIMIT_EXCEEDED", f"{BASE}/55")]


def doubling(levels: int) -> dict[str, Any]:
    rows = [row(f"d{n}", f"d{n + 1}", f"d{n + 1}") for n in range(levels)]
    return add(note_form(), *rows, line(f"d{levels}"))


def test_components_that_multiply_are_refused_before_a_browser_hangs() -> None:
    assert check(doubling(10)) == []
    assert errors(doubling(12)) == [("UI_LIMIT_EXCEEDED", BASE)]
    assert errors(doubling(45)) == [("UI_LIMIT_EXCEEDED", BASE)]


def test_errors_in_the_graph_end_the_check_of_the_entry() -> None:
    form = add(note_form(), {"id": "more", "component": "Text", "text": {"path": "/nope"}}, line("extra"))
    data(form)["x"] = 1
    assert errors(form) == [("UI_COMPONENT_ORPHAN", f"{BASE}/6")]
