"""The safety net: our own verdict and a2ui-core's agree, and what is known of their difference is told."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.a2ui_core import refusal
from capability_rules.tests.validation.a2ui.forms import (
    ADDED,
    Entry,
    add,
    check,
    components,
    data,
    errors,
    note_form,
)
from capability_rules.validation.a2ui.catalog import generate


def icon(name: str, drawing: str) -> dict[str, Any]:
    return {"id": name, "component": "Icon", "name": drawing}


def with_icons(*icons: dict[str, Any]) -> Entry:
    return add(note_form(), {"id": "icons", "component": "Row", "children": [each["id"] for each in icons]}, *icons)


def test_a_text_that_is_taken_for_the_id_of_its_own_component() -> None:
    assert errors(add(note_form(), icon("mail", "mail"))) == [("UI_A2UI_REJECTED", f"{ADDED}/name")]


def test_texts_that_are_taken_for_ids_in_a_circle() -> None:
    form = with_icons(icon("mail", "send"), icon("send", "add"), icon("add", "mail"), icon("other", "mail"))
    assert errors(form) == [("UI_A2UI_REJECTED", f"/0/definition/components/{index}/name") for index in (6, 7, 8)]


def test_a_text_that_is_some_id_harms_nobody_without_a_circle() -> None:
    assert check(with_icons(icon("mail", "send"), icon("send", "add"))) == []


@pytest.mark.parametrize("extra", [{"child": "nope"}, {"componentId": 5, "note": "nope"}, {"child": ["nope"]}])
def test_a_child_inside_accessibility(extra: dict[str, Any]) -> None:
    line = {"id": "line", "component": "Divider", "accessibility": extra}
    assert errors(add(note_form(), line)) == [("UI_A2UI_REJECTED", f"{ADDED}/accessibility")]


def test_data_that_is_taken_for_a_binding() -> None:
    form = note_form()
    data(form)["files"] = [{"path": "C:/a"}, {"path": "~tmp"}]
    assert errors(form) == [("UI_A2UI_REJECTED", "/0/definition/dataModel/files/1/path")]


def test_data_that_looks_like_a_call_harms_nobody() -> None:
    form = note_form()
    data(form)["log"] = [{"call": "x", "args": {"functionCall": {}}}, {"path": "/any/where"}]
    assert check(form) == []


def test_data_that_is_taken_for_nested_calls() -> None:
    value: Any = 1
    for _ in range(6):
        value = {"call": "x", "args": value}
    form = note_form()
    data(form)["calls"] = value
    assert errors(form) == [("UI_A2UI_REJECTED", "/0/definition/dataModel/calls" + "/args" * 5)]


def test_a_key_that_is_taken_for_a_call() -> None:
    form = note_form()
    call = {"call": "required", "args": {"value": {"function": "x"}}}
    components(form)[1]["checks"] = [{"condition": call, "message": "m"}]
    place = "/0/definition/components/1/checks/0/condition/args/value/function"
    assert errors(form) == [("UI_A2UI_REJECTED", place)]


def test_nothing_of_this_is_told_beside_an_error() -> None:
    form = add(note_form(), icon("mail", "mail"), {"id": "more", "component": "Divider"})
    assert errors(form) == [("UI_COMPONENT_ORPHAN", "/0/definition/components/6")]


@pytest.mark.slow
def test_the_real_one_refuses_what_we_say_it_refuses() -> None:
    assert refusal(note_form()["definition"]) is None
    refused = [add(note_form(), icon("mail", "mail")), with_icons(icon("mail", "send"), icon("send", "mail"))]
    for form in refused:
        assert refusal(form["definition"]) is not None
    assert refusal(with_icons(icon("mail", "send"), icon("send", "add"))["definition"]) is None
    data(refused[0])["x"] = {"path": "~"}
    assert refusal({"components": [[]]}) is not None


@pytest.mark.slow
def test_the_catalogue_is_what_the_installed_a2ui_core_gives() -> None:
    assert generate.TARGET.read_text(encoding="utf-8") == generate.render()
