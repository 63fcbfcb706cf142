"""Group 1: keys, types, names, versions and sizes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.forms import (
    add,
    check,
    components,
    errors,
    formatted,
    note_form,
    problems,
    with_text,
)


def test_a_sound_form_has_no_finding() -> None:
    assert check(note_form()) == []


def test_no_form_at_all_has_no_finding() -> None:
    assert check([], tools=[]) == []


@pytest.mark.parametrize("document", [None, "x", 5, True, {"NoteForm.v1": {}}])
def test_the_file_must_hold_a_list(document: Any) -> None:
    found = problems(document if not isinstance(document, dict) else (document,), tools=[])
    assert [(each.code, each.path) for each in found] == [("UI_FILE_NOT_ARRAY", ())]


@pytest.mark.parametrize("entry", [None, "NoteForm.v1", 5, [], True])
def test_an_entry_must_be_an_object(entry: Any) -> None:
    assert errors([entry], tools=[]) == [("UI_ENTRY_SHAPE", "/0")]


@pytest.mark.parametrize("key", ["dataModel", "theme", "sendDataModel"])
def test_what_a_definition_may_leave_out(key: str) -> None:
    form = note_form()
    form["definition"].pop(key, None)
    assert errors(form) == []


def test_all_keys_may_be_given() -> None:
    form = note_form() | {"title": "Keep a note", "description": "One note.", "a2ui_version": "v0.9"}
    form["definition"] |= {"theme": {"primaryColor": "#00bfff", "mood": "calm"}, "sendDataModel": True}
    assert check(form) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"schema_id": 5}, "/0/schema_id"),
        ({"title": 5}, "/0/title"),
        ({"title": "x" * 121}, "/0/title"),
        ({"description": "x" * 501}, "/0/description"),
        ({"actions": []}, "/0/actions"),
        ({"Title": "x"}, "/0/Title"),
    ],
)
def test_odd_entries(change: dict[str, Any], place: str) -> None:
    assert errors(note_form() | change, tools=[]) == [("UI_ENTRY_SHAPE", place)]


def test_texts_may_be_as_long_as_the_contract_says() -> None:
    assert check(note_form() | {"title": "x" * 120, "description": "x" * 500}) == []


@pytest.mark.parametrize("key", ["schema_id", "definition"])
def test_required_keys_of_an_entry(key: str) -> None:
    form = note_form()
    del form[key]
    assert errors(form, tools=[]) == [("UI_ENTRY_SHAPE", "/0")]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"components": []}, "/components"),
        ({"components": {}}, "/components"),
        ({"components": [5]}, "/components/0"),
        ({"dataModel": []}, "/dataModel"),
        ({"sendDataModel": "yes"}, "/sendDataModel"),
        ({"theme": 5}, "/theme"),
        ({"theme": {"primaryColor": "blue"}}, "/theme/primaryColor"),
        ({"datamodel": {}}, "/datamodel"),
    ],
)
def test_odd_definitions(change: dict[str, Any], place: str) -> None:
    form = note_form()
    form["definition"] |= change
    assert errors(form) == [("UI_DEFINITION_SHAPE", f"/0/definition{place}")]


@pytest.mark.parametrize("key", ["catalogId", "components"])
def test_required_keys_of_a_definition(key: str) -> None:
    form = note_form()
    del form["definition"][key]
    assert errors(form) == [("UI_DEFINITION_SHAPE", "/0/definition")]


def test_a_definition_must_be_an_object() -> None:
    assert errors(note_form() | {"definition": []}) == [("UI_DEFINITION_SHAPE", "/0/definition")]


@pytest.mark.parametrize("version", ["v0.8", "v1.0", "0.9", 0.9, None, ["v0.9"]])
def test_versions_that_are_refused_end_the_check_of_the_entry(version: Any) -> None:
    form = note_form() | {"a2ui_version": version}
    form["definition"] = {"root": "x"}
    assert errors(form) == [("UI_VERSION_UNSUPPORTED", "/0/a2ui_version")]


@pytest.mark.parametrize("catalog", ["", 5, None, "https://a2ui.org/specification/v0_9_1/catalogs/basic/catalog.json"])
def test_catalogues_that_are_refused(catalog: Any) -> None:
    form = note_form()
    form["definition"]["catalogId"] = catalog
    assert errors(form) == [("UI_CATALOG_UNSUPPORTED", "/0/definition/catalogId")]


@pytest.mark.parametrize("schema_id", ["noteForm.v1", "NoteForm", "NoteForm.v0", "NoteForm.v01", "Note_Form.v1", ""])
def test_names_that_are_refused(schema_id: str) -> None:
    assert ("UI_SCHEMA_ID_FORMAT", "/0/schema_id") in errors(note_form() | {"schema_id": schema_id})


@pytest.mark.parametrize(
    ("schema_id", "suggestion"),
    [("note_form", "NoteForm.v1"), ("note-form.v3", "NoteForm.v3"), ("NoteForm.v0", "NoteFormV0.v1")],
)
def test_a_refused_name_comes_with_one_that_is_allowed(schema_id: str, suggestion: str) -> None:
    hints = [each.hint for each in problems(note_form() | {"schema_id": schema_id}, tools=[])]
    assert hints[0].endswith(f": {suggestion}")


def test_a_misspelt_key_is_named() -> None:
    form = note_form()
    form["definition"]["datamodel"] = form["definition"].pop("dataModel")
    (found,) = (each for each in problems(form) if each.code == "UI_DEFINITION_SHAPE")
    assert (found.at_key, found.hint) == (True, "Did you mean 'dataModel'?")


def test_the_second_of_two_entries_with_one_id_is_told_and_goes_no_further() -> None:
    broken = note_form()
    components(broken)[0]["component"] = "Colum"
    assert errors([note_form(), broken]) == [("UI_SCHEMA_ID_DUPLICATE", "/1/schema_id")]


def test_a_faulty_entry_does_not_hide_the_next() -> None:
    second = note_form() | {"schema_id": "Other.v1", "title": 5}
    found = errors([{"schema_id": "x"}, second], tools=[])
    assert ("UI_ENTRY_SHAPE", "/1/title") in found


def test_fifty_entries_are_allowed() -> None:
    entries = [note_form() | {"schema_id": f"Note{n}.v1"} for n in range(50)]
    assert errors(entries, tools=[{"name": "note_save"}]) == []


def test_at_most_fifty_entries_are_checked() -> None:
    entries = [note_form() | {"schema_id": f"Note{n}.v1"} for n in range(51)]
    entries[50]["title"] = 5
    assert errors(entries, tools=[{"name": "note_save"}]) == [("UI_LIMIT_EXCEEDED", "")]


def test_an_entry_may_have_64_kib() -> None:
    form = note_form()
    form["definition"]["dataModel"]["filler"] = "ü"
    left = 65_536 - len(json.dumps(form, ensure_ascii=False, separators=(",", ":")).encode())
    form["definition"]["dataModel"]["filler"] += "x" * left
    assert errors(form) == []
    form["definition"]["dataModel"]["filler"] += "x"
    assert errors(form) == [("UI_LIMIT_EXCEEDED", "/0")]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_a_definition_may_have_fifty_levels() -> None:
    form = note_form()
    # The definition and its data model are the first two levels, the text inside the lists is the last.
    form["definition"]["dataModel"]["deep"] = nested(47)
    assert check(form) == []
    form["definition"]["dataModel"]["deep"] = nested(48)
    assert errors(form) == [("UI_LIMIT_EXCEEDED", "/0/definition")]


def test_depth_outside_the_definition() -> None:
    assert errors(note_form() | {"actions": {"save": nested(60)}}, tools=[]) == [("UI_LIMIT_EXCEEDED", "/0")]


def call(levels: int) -> Any:
    value: Any = {"path": "/text"}
    for _ in range(levels):
        value = {"call": "not", "args": {"value": value}, "returnType": "boolean"}
    return value


def test_calls_may_be_nested_five_deep() -> None:
    form = note_form()
    components(form)[1]["checks"] = [{"condition": call(5), "message": "Write something."}]
    assert check(form) == []
    components(form)[1]["checks"] = [{"condition": call(6), "message": "Write something."}]
    place = "/0/definition/components/1/checks/0/condition" + "/args/value" * 5
    assert errors(form) == [("UI_LIMIT_EXCEEDED", place)]


def test_expressions_may_have_ten_thousand_characters() -> None:
    assert check(with_text(formatted("${/text}" + "." * 9_992))) == []
    assert errors(with_text(formatted("${/text}" + "." * 9_993))) == [
        ("UI_LIMIT_EXCEEDED", "/0/definition/components/5/text/args/value")
    ]


def test_two_hundred_components_are_allowed() -> None:
    form = note_form()
    for number in range(195):
        add(form, {"id": f"line_{number}", "component": "Divider"})
    assert check(form) == []


def test_more_findings_than_anyone_reads_are_cut_with_a_word() -> None:
    form = note_form() | {f"key{number}": 1 for number in range(300)}
    found = check(form)
    assert len(found) == 201
    assert ("UI_LIMIT_EXCEEDED", "/0", "warning") in found


def test_in_a_map_the_hint_for_actions_says_that_a_list_is_needed() -> None:
    entry = {"schema_id": "NoteForm.v1", "definition": note_form()["definition"]}
    found = problems([entry], tools=[], map_form=True)
    assert [each.code for each in found] == ["UI_ACTION_UNBOUND"]
    assert "array" in found[0].hint
