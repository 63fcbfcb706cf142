"""Group 2: component types, their properties, functions, expressions and addresses."""

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
    formatted,
    note_form,
    problems,
    with_text,
)
from capability_rules.validation.a2ui.catalog import component_names, document


def hint_for(component: dict[str, Any]) -> str:
    return next(each.hint for each in problems(add(note_form(), component)))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Dropdown", "ChoicePicker"), ("select", "ChoicePicker"), ("Texfield", "TextField"), ("button", "Button")],
)
def test_an_unknown_type_comes_with_the_one_that_is_meant(written: str, meant: str) -> None:
    assert meant in hint_for({"id": "more", "component": written})


@pytest.mark.parametrize("kind", ["Dropdown", "", 5, None, [], {"Text": {"text": "x"}}])
def test_types_that_are_not_in_the_catalogue(kind: Any) -> None:
    form = add(note_form(), {"id": "more", "component": kind})
    assert errors(form) == [("UI_COMPONENT_UNKNOWN", f"{ADDED}/component")]


@pytest.mark.parametrize("identity", [None, 5, ["x"], {}, ""])
def test_an_id_must_be_a_text(identity: Any) -> None:
    form = note_form()
    components(form).append({"id": identity, "component": "Divider"})
    assert errors(form) == [("UI_COMPONENT_INVALID", f"{ADDED}/id")]


def test_a_component_without_type_or_id() -> None:
    form = note_form()
    components(form).append({})
    assert set(errors(form)) == {("UI_COMPONENT_INVALID", ADDED)}
    assert len(errors(form)) == 2


def test_each_missing_property_is_told() -> None:
    form = add(note_form(), {"id": "more", "component": "Slider"})
    assert errors(form) == [("UI_COMPONENT_INVALID", ADDED)] * 2


def test_several_faults_of_one_component_are_told_at_once() -> None:
    form = add(note_form(), {"id": "more", "component": "Text", "text": 5, "variant": "h9", "colour": "red"})
    assert errors(form) == [
        ("UI_COMPONENT_INVALID", ADDED),
        ("UI_COMPONENT_INVALID", f"{ADDED}/text"),
        ("UI_COMPONENT_INVALID", f"{ADDED}/variant"),
    ]


def test_a_misspelt_property_is_named() -> None:
    assert hint_for({"id": "more", "component": "Text", "text": "x", "varient": "h1"}) == "Did you mean 'variant'?"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (5, "expected a string"),
        (None, "expected a string"),
        ({"path": "/text", "default": ""}, "nothing else"),
        ({"path": 5}, "nothing else"),
        ({"literalString": "x"}, "v0.8"),
        ({"call": "required", "args": {"value": 1}, "returnType": "boolean"}, "returns a string"),
        ({}, "found an object"),
    ],
)
def test_values_that_are_no_text(text: Any, words: str) -> None:
    found = problems(with_text(text))
    assert [each.code for each in found] == ["UI_COMPONENT_INVALID"]
    assert words in found[0].message


@pytest.mark.parametrize(
    ("action", "place"),
    [
        (None, ""),
        (5, ""),
        ({}, ""),
        ({"event": {}}, "/event"),
        ({"event": {"name": 5}}, "/event/name"),
        ({"event": {"name": "save"}, "functionCall": {"call": "not"}}, ""),
        ({"event": {"name": "save", "context": {"text": {}}}}, "/event/context/text"),
    ],
)
def test_odd_actions(action: Any, place: str) -> None:
    form = add(note_form(), {"id": "more", "component": "Button", "child": "save_label", "action": action})
    assert ("UI_COMPONENT_INVALID", f"{ADDED}/action{place}") in errors(form)


@pytest.mark.parametrize("children", ["text", 5, None, [5], [{}], {"componentId": "text"}, {"path": "/text"}])
def test_odd_children(children: Any) -> None:
    form = add(note_form(), {"id": "more", "component": "Row", "children": children})
    assert {code for code, _ in errors(form)} == {"UI_COMPONENT_INVALID"}


@pytest.mark.parametrize(
    "bound", ["2026-01-15", "08:30", "2026-01-15T08:30:00", "2026-01-15T08:30:00Z", "", {"path": "/day"}]
)
def test_dates_may_be_bounded_by_what_the_widget_writes(bound: Any) -> None:
    day = {"id": "day", "component": "DateTimeInput", "value": {"path": "/day"}, "min": bound}
    form = add(note_form(), day)
    data(form)["day"] = "2026-01-15"
    assert check(form) == []


def test_a_bound_that_is_no_date() -> None:
    day = {"id": "day", "component": "DateTimeInput", "value": {"path": "/text"}, "min": "tomorrow"}
    assert errors(add(note_form(), day)) == [("UI_COMPONENT_INVALID", f"{ADDED}/min")]


def test_a_pattern_of_a_text_field_must_be_readable() -> None:
    form = note_form()
    components(form)[1]["validationRegexp"] = "[a-"
    assert errors(form) == [("UI_COMPONENT_INVALID", "/0/definition/components/1/validationRegexp")]


def test_of_a_long_list_the_first_faults_are_told_and_a_late_one_alone_too() -> None:
    good, bad = {"label": "a", "value": "a"}, {"label": "a"}
    form = note_form()
    components(form)[2]["options"] = [good] * 500 + [bad]
    assert errors(form) == [("UI_COMPONENT_INVALID", "/0/definition/components/2/options/500")]


def condition(call: Any) -> dict[str, Any]:
    form = note_form()
    components(form)[1]["checks"] = [{"condition": call, "message": "Correct it."}]
    return form


CHECKED = "/0/definition/components/1/checks/0/condition"


@pytest.mark.parametrize(
    "call",
    [
        {"call": "required", "args": {"value": {"path": "/text"}}},
        {"call": "regex", "args": {"value": {"path": "/text"}, "pattern": "^(?!x)(?<first>[a-z]+)\\d{2}$"}},
        {"call": "length", "args": {"value": {"path": "/text"}, "max": 10}},
        {"call": "numeric", "args": {"value": {"path": "/text"}, "min": 1, "max": 2}, "returnType": "boolean"},
        {"call": "not", "args": {"value": {"call": "email", "args": {"value": {"path": "/text"}}}}},
    ],
)
def test_calls_that_fit(call: Any) -> None:
    assert check(condition(call)) == []


@pytest.mark.parametrize(
    ("call", "place"),
    [
        ({"call": "required"}, ""),
        ({"call": "required", "args": {}}, "/args"),
        ({"call": "required", "args": {"value": None}}, "/args/value"),
        ({"call": "required", "args": {"value": 1, "other": 1}}, "/args"),
        ({"call": "length", "args": {"value": "x", "min": -1}}, "/args/min"),
        ({"call": "length", "args": {"value": "x"}}, "/args"),
        ({"call": "and", "args": {"values": [True]}}, "/args/values"),
        ({"call": "regex", "args": {"value": "x", "pattern": "(?P<a>x)"}}, "/args/pattern"),
        ({"call": "not", "args": {"value": {"call": "email", "args": {}}}}, "/args/value/args"),
    ],
)
def test_calls_that_do_not_fit(call: Any, place: str) -> None:
    assert errors(condition(call)) == [("UI_FUNCTION_ARGS", CHECKED + place)]


def test_an_unknown_function_inside_another_comes_with_the_one_that_is_meant() -> None:
    form = condition({"call": "not", "args": {"value": {"call": "Required", "args": {"value": 1}}}})
    (found,) = problems(form)
    assert (found.code, found.path[-4:]) == ("UI_FUNCTION_UNKNOWN", ("condition", "args", "value", "call"))
    assert found.hint == "Did you mean 'required'?"


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "costs \\${5}",
        "${/text} and ${ /text }",
        "${formatDate(value: ${/text}, format: 'dd.MM')}",
        "${formatNumber(value: 12.5, grouping: false)}",
        "${pluralize(value: 1, one: 'one', other: \"it's many\")}",
        "${${/text}}",
        "${/u\u0308/é_1}",
        "",
    ],
)
def test_expressions_that_can_be_read(text: str) -> None:
    samples = {"u\u0308": {"é_1": "x"}}
    assert check(with_text(formatted(text), **samples)) == []


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("a ${/text", 2),
        ("${/text ~1}", 8),
        ("${formatDate('x')}", 13),
        ("${formatDate(value: 1", 2),
        ("${'open}", 2),
        ("${/a +}", 5),
        ("${1x}", 2),
        ("${" * 60, 0),
    ],
)
def test_expressions_that_cannot_be_read(text: str, offset: int) -> None:
    found = problems(with_text(formatted(text)))
    assert [(each.code, each.path[-1]) for each in found] == [("UI_FUNCTION_ARGS", "value")]
    assert found[0].offset is not None
    assert found[0].offset >= offset


def test_faults_in_an_expression_point_at_the_character() -> None:
    found = problems(with_text(formatted("${/text} ${now()} ${formatNumber(wert: 1)}")))
    assert sorted((each.code, each.offset) for each in found) == [
        ("UI_FUNCTION_ARGS", 20),
        ("UI_FUNCTION_ARGS", 20),
        ("UI_FUNCTION_UNKNOWN", 11),
    ]


def test_too_many_expressions_in_one_text() -> None:
    assert errors(with_text(formatted("${/text}" * 501)))[0][0] == "UI_FUNCTION_ARGS"


@pytest.mark.parametrize("kind", ["Image", "Video", "AudioPlayer"])
@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://example.org/a.png", True),
        ("HTTPS://example.org", True),
        ("http://example.org", False),
        ("//example.org", False),
        ("/a.png", False),
        ("javascript:alert(1)", False),
        ("data:image/png;base64,AAAA", False),
        ("https://", False),
        ("https:///path", False),
        ("https://[bad", False),
        (" https://example.org", False),
        ("https://example.org/\n", False),
        (formatted("https://example.org/${/text}"), True),
        (formatted("${/text}"), True),
        (formatted("javascript:${/text}"), False),
        ({"path": "/text"}, True),
    ],
)
def test_addresses(kind: str, url: Any, is_allowed: bool) -> None:
    form = add(note_form(), {"id": "media", "component": kind, "url": url})
    place = f"{ADDED}/url/args/value" if isinstance(url, dict) else f"{ADDED}/url"
    assert errors(form) == ([] if is_allowed else [("UI_URL_NOT_ALLOWED", place)])


def test_an_address_inside_an_expression_is_checked_too() -> None:
    found = errors(with_text(formatted("${openUrl(url: 'http://example.org')}")))
    assert ("UI_URL_NOT_ALLOWED", f"{ADDED}/text/args/value") in found


def test_the_icon_of_a_theme_is_an_address() -> None:
    form = note_form()
    form["definition"]["theme"] = {"iconUrl": "http://example.org/i.png"}
    assert errors(form) == [("UI_URL_NOT_ALLOWED", "/0/definition/theme/iconUrl")]


def test_errors_in_components_end_the_check_of_the_entry() -> None:
    form = add(note_form(), {"id": "more", "component": "Dropdown"}, {"id": "orphan", "component": "Divider"})
    assert errors(form) == [("UI_COMPONENT_UNKNOWN", f"{ADDED}/component")]


def test_the_catalogue_has_what_the_format_promises() -> None:
    assert len(component_names()) == 18
    assert len(document()["functions"]) == 14
