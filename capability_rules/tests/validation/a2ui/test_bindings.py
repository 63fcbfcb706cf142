"""Group 4: paths, scopes, templates, and samples that suit their widgets."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.forms import (
    ADDED,
    Entry,
    add,
    check,
    components,
    data,
    errors,
    formatted,
    note_form,
    note_tools,
    problems,
    with_list,
    with_text,
)

INNER = "/0/definition/components/6"


def text(name: str, path: str) -> dict[str, Any]:
    return {"id": name, "component": "Text", "text": {"path": path}}


@pytest.mark.parametrize(
    "path",
    ["/text", "/", "", "/kind/0", "/a~1b", "/c~0d", "/e/f/1/g", "//e//f", "/ü", "/e/f/0/", "/null"],
)
def test_paths_that_lead_somewhere(path: str) -> None:
    samples = {"a/b": "1", "c~d": "2", "e": {"f": [{}, {"g": "3"}]}, "ü": "4", "null": None}
    assert check(with_text({"path": path}, **samples)) == []


@pytest.mark.parametrize("path", ["/nope", "/text/0", "/kind/1", "/kind/00", "/kind/-1", "/kind/x", "/kind/-"])
def test_paths_that_lead_nowhere(path: str) -> None:
    assert check(with_text({"path": path})) == [("UI_PATH_UNRESOLVED", f"{ADDED}/text/path", "error")]


@pytest.mark.parametrize("path", ["/a~", "/a~2b", "~", "a~b", "a//~x"])
def test_paths_that_cannot_be_read(path: str) -> None:
    assert errors(with_text({"path": path})) == [("UI_PATH_SYNTAX", f"{ADDED}/text/path")]


def test_a_misspelt_step_is_mended_in_the_hint() -> None:
    form = with_text({"path": "/entry/wieght/kg"}, entry={"weight": {"kg": "1"}})
    (found,) = problems(form)
    assert found.hint == 'Did you mean "/entry/weight/kg"?'


def test_without_sample_data_paths_are_only_warned_about() -> None:
    form = note_form()
    del form["definition"]["dataModel"]
    assert errors(form) == []
    assert {code for code, _, _ in check(form)} == {"UI_PATH_UNRESOLVED"}


def test_empty_sample_data_is_an_error() -> None:
    form = note_form()
    form["definition"]["dataModel"] = {}
    assert len(errors(form)) == 4


def test_a_relative_path_outside_a_list() -> None:
    form = with_text({"path": "text"})
    assert errors(form) == [("UI_PATH_RELATIVE_OUTSIDE_TEMPLATE", f"{ADDED}/text/path")]
    assert problems(form)[0].hint == 'Write "/text".'


def test_a_relative_path_in_a_list_starts_at_the_item() -> None:
    samples = {"lines": [{"label": "One"}, {"label": "Two"}]}
    assert check(with_list("/lines", text("line", "label"), **samples)) == []
    assert errors(with_list("/lines", text("line", "lable"), **samples)) == [
        ("UI_PATH_UNRESOLVED", f"{INNER}/text/path")
    ]


def test_an_absolute_path_in_a_list_starts_at_the_root() -> None:
    assert check(with_list("/lines", text("line", "/text"), lines=[{}])) == []
    form = with_list("/lines", text("line", "/label"), lines=[{"label": "One"}])
    assert problems(form)[0].hint == 'Inside a list\'s template, write "label".'


@pytest.mark.parametrize("path", [".", ""])
def test_an_item_itself_can_be_bound(path: str) -> None:
    assert check(with_list("/lines", text("line", path), lines=["One", "Two"])) == []


def test_a_fault_of_the_second_item_is_told_once() -> None:
    samples = [{"label": "One"}, {}, {}]
    assert errors(with_list("/lines", text("line", "label"), lines=samples)) == [
        ("UI_PATH_UNRESOLVED", f"{INNER}/text/path")
    ]


def test_scope_reaches_through_containers() -> None:
    card = {"id": "card", "component": "Card", "child": "line"}
    assert check(with_list("/lines", card, text("line", "label"), lines=[{"label": "One"}])) == []


def nested(inner_path: str, leaf: dict[str, Any]) -> Entry:
    inner = {"id": "inner", "component": "Column", "children": {"componentId": "leaf", "path": inner_path}}
    days = [{"name": "Monday", "sets": [{"reps": "5"}]}, {"name": "Tuesday", "sets": [{"reps": "8"}]}]
    return with_list("/days", inner, leaf, days=days)


def test_a_list_inside_a_list() -> None:
    assert check(nested("sets", text("leaf", "reps"))) == []
    assert check(nested("/days/0/sets", text("leaf", "reps"))) == []
    assert errors(nested("sets", text("leaf", "name"))) == [
        ("UI_PATH_UNRESOLVED", "/0/definition/components/7/text/path")
    ]
    assert errors(nested("set", text("leaf", "reps"))) == [("UI_PATH_UNRESOLVED", f"{INNER}/children/path")]


def test_a_component_inside_and_outside_of_a_list() -> None:
    form = with_list("/lines", text("line", "label"), lines=[{"label": "One"}])
    components(form)[0]["children"].append("line")
    assert errors(form) == [("UI_PATH_RELATIVE_OUTSIDE_TEMPLATE", f"{INNER}/text/path")]


def test_a_template_needs_a_list() -> None:
    form = with_list("/lines", text("line", "label"), lines={"label": "One"})
    assert errors(form) == [("UI_TEMPLATE_NOT_ARRAY", f"{ADDED}/children/path")]


def test_a_template_outside_of_a_list_needs_an_absolute_path() -> None:
    form = with_list("lines", text("line", "label"), lines=[{"label": "One"}])
    assert errors(form) == [("UI_PATH_RELATIVE_OUTSIDE_TEMPLATE", f"{ADDED}/children/path")]


def test_a_template_whose_path_cannot_be_read() -> None:
    form = with_list("/lines~", text("line", "label"), lines=[])
    assert errors(form) == [("UI_PATH_SYNTAX", f"{ADDED}/children/path")]


def test_an_empty_list_leaves_relative_paths_unchecked_and_absolute_ones_not() -> None:
    row = {"id": "row", "component": "Row", "children": ["a", "b"]}
    form = with_list("/lines", row, text("a", "label"), text("b", "/nope"), lines=[])
    assert check(form) == [
        ("UI_PATH_UNRESOLVED", "/0/definition/components/8/text/path", "error"),
        ("UI_TEMPLATE_NO_SAMPLE", f"{ADDED}/children/path", "warning"),
    ]


def test_paths_inside_texts() -> None:
    assert check(with_text(formatted("${/text}, ${/kind/0}"))) == []
    (found,) = problems(with_text(formatted("${/text}, ${/knid}")))
    assert (found.code, found.offset, found.hint) == ("UI_PATH_UNRESOLVED", 12, 'Did you mean "/kind"?')
    (found,) = problems(with_text(formatted("${text}")))
    assert found.code == "UI_PATH_RELATIVE_OUTSIDE_TEMPLATE"


def test_paths_inside_texts_inside_lists() -> None:
    line = {"id": "line", "component": "Text", "text": formatted("${label}: ${/text} ${formatNumber(value: ${size})}")}
    assert check(with_list("/lines", line, lines=[{"label": "One", "size": 5}])) == []
    assert len(errors(with_list("/lines", line, lines=[{"label": "One"}]))) == 1


def test_two_faults_in_one_text_are_two_findings() -> None:
    found = problems(with_text(formatted("${/a} ${/b}")))
    assert [each.offset for each in found] == [2, 8]


INPUTS: list[tuple[dict[str, Any], Any, Any]] = [
    ({"component": "TextField", "label": "x"}, "1", 1),
    ({"component": "DateTimeInput"}, "2026-01-15", None),
    ({"component": "CheckBox", "label": "x"}, True, "true"),
    ({"component": "Slider", "max": 5}, 2.5, True),
    ({"component": "ChoicePicker", "options": [{"label": "A", "value": "a"}]}, ["a"], "a"),
    ({"component": "ChoicePicker", "options": [{"label": "A", "value": "a"}]}, [], ["a", 1]),
]


@pytest.mark.parametrize(("widget", "good", "bad"), INPUTS)
def test_samples_must_suit_their_widgets(widget: dict[str, Any], good: Any, bad: Any) -> None:
    form = add(note_form(), {"id": "more", "value": {"path": "/more"}, **widget})
    data(form)["more"] = good
    assert check(form) == []
    data(form)["more"] = bad
    assert errors(form) == [("UI_BINDING_TYPE", f"{ADDED}/value/path")]


def test_a_sample_of_a_list_item_must_suit_its_widget() -> None:
    box = {"id": "box", "component": "CheckBox", "label": "Done", "value": {"path": "done"}}
    assert errors(with_list("/lines", box, lines=[{"done": True}, {"done": "no"}])) == [
        ("UI_BINDING_TYPE", f"{INNER}/value/path")
    ]


@pytest.mark.parametrize("value", ["", {"call": "formatString", "args": {"value": "x"}, "returnType": "string"}])
def test_an_input_that_is_not_bound(value: Any) -> None:
    form = add(note_form(), {"id": "more", "component": "TextField", "label": "x", "value": value})
    assert check(form) == [("UI_INPUT_NOT_BOUND", f"{ADDED}/value", "warning")]


def test_an_input_without_a_value() -> None:
    form = add(note_form(), {"id": "more", "component": "TextField", "label": "x"})
    assert check(form) == [("UI_INPUT_NOT_BOUND", ADDED, "warning")]


def test_choices_that_are_no_options() -> None:
    options = [{"label": "A", "value": "a"}]
    form = add(note_form(), {"id": "more", "component": "ChoicePicker", "options": options, "value": ["a", "b"]})
    assert check(form) == [
        ("UI_CHOICE_VALUE_UNKNOWN", f"{ADDED}/value", "warning"),
        ("UI_INPUT_NOT_BOUND", f"{ADDED}/value", "warning"),
    ]


def test_a_choice_in_a_list_that_the_tool_refuses_too_is_told_once() -> None:
    kinds = {"type": "array", "items": {"type": "object", "properties": {"kind": {"enum": ["task"]}}}}
    options = [{"label": "Task", "value": "task"}]
    picker = {"id": "pick", "component": "ChoicePicker", "options": options, "value": {"path": "kind"}}
    form = with_list("/lines", picker, lines=[{"kind": ["plan"]}], more=[{"kind": ["plan"]}])
    context = components(form)[3]["action"]["event"]["context"]
    context["lines"] = {"path": "/lines"}
    refused = ("UI_ACTION_ARG_TYPE", "/0/definition/components/3/action/event/context/lines", "error")
    assert check(form, note_tools(lines=kinds)) == [refused]
    context["lines"] = {"path": "/more"}
    assert check(form, note_tools(lines=kinds)) == [
        refused,
        ("UI_CHOICE_VALUE_UNKNOWN", f"{INNER}/value/path", "warning"),
    ]


def test_a_choice_that_the_tool_refuses_too_is_told_once() -> None:
    form = note_form()
    data(form)["kind"] = ["plan"]
    assert check(form) == [("UI_ACTION_ARG_TYPE", "/0/definition/components/3/action/event/context/kind", "error")]
