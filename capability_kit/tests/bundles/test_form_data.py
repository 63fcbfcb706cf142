"""What a form begins with: what a model knows, and nothing of the author's sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from capability_kit.bundles.form_data import FormDataInvalid, binding_of, fill_form, find_inputs, format_shape
from capability_kit.json_schema.coercion import coerce
from capability_kit.ui.form_text import press_button
from tests.servers import ROOT

ROW: dict[str, Any] = {"measured_on": "2026-01-13", "weight": 188.2, "unit": "lb", "include": True}


def _form(capability_id: str, schema_id: str) -> dict[str, Any]:
    entries = json.loads((ROOT / "examples" / capability_id / "ui_schemas.json").read_text("utf-8"))
    found: dict[str, Any] = next(each for each in entries if each["schema_id"] == schema_id)
    return found


ENTRY = _form("weights", "WeightEntryForm.v1")
BATCH = _form("weights", "WeightBatchEditor.v1")


def _tools(capability_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "examples" / capability_id / "tools.json").read_text("utf-8"))
    return found


def _requiring(tool: dict[str, Any], name: str) -> dict[str, Any]:
    schema = tool["args_schema"]
    return {**tool, "args_schema": {**schema, "required": [*schema["required"], name]}}


def _errors(entry: dict[str, Any], data: Any) -> str:
    with pytest.raises(FormDataInvalid) as error:
        fill_form(entry, data)
    return str(error.value)


def test_a_form_without_data_begins_empty_and_not_with_the_samples() -> None:
    assert fill_form(ENTRY, {}) == {"entries": [{"measured_on": "", "weight": "", "unit": [], "note": ""}]}
    assert fill_form(_form("introduction", "AskName.v1"), {}) == {"name": ""}


def test_values_of_tools_become_what_the_widgets_keep() -> None:
    data = {"source": "chat", "entries": [ROW, {"measured_on": "2026-01-14", "weight": 188.0, "unit": ["KG"]}]}
    assert fill_form(BATCH, data) == {
        "source": "chat",
        "entries": [
            {"measured_on": "2026-01-13", "weight": "188.2", "unit": ["lb"], "include": True},
            {"measured_on": "2026-01-14", "weight": "188", "unit": ["kg"], "include": False},
        ],
    }


def test_a_box_that_the_model_leaves_out_begins_with_the_default() -> None:
    rows = [{key: value for key, value in ROW.items() if key != "include"}]
    filled = fill_form(BATCH, {"source": "chat", "entries": rows}, tools=_tools("weights"))
    assert [row["include"] for row in filled["entries"]] == [True]


def _example_forms() -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for folder in sorted((ROOT / "examples").iterdir()):
        if (folder / "ui_schemas.json").exists() and (folder / "tools.json").exists():
            for entry in json.loads((folder / "ui_schemas.json").read_text("utf-8")):
                yield entry, _tools(folder.name)


@pytest.mark.parametrize(("entry", "tools"), [pytest.param(*one, id=one[0]["schema_id"]) for one in _example_forms()])
def test_form_of_an_example_sends_nothing_that_nobody_chose(entry: dict[str, Any], tools: list[dict[str, Any]]) -> None:
    try:
        filled = fill_form(entry, {}, tools=tools)
    except FormDataInvalid:
        return  # The model has to give what the call requires, and no field asks for.
    schemas = {tool["name"]: tool["args_schema"] for tool in tools}
    for button in (one["id"] for one in entry["definition"]["components"] if "event" in one.get("action", {})):
        event = press_button(entry["definition"], filled, button)
        schema = schemas.get(entry["actions"][event["name"]].get("tool"))
        if schema is not None:
            sent = coerce(event["context"], schema)
            written = {name for name, value in event["context"].items() if isinstance(value, str) and value}
            defaults = {name for name, one in schema["properties"].items() if "default" in one}
            assert set(sent) <= {*schema["required"], *defaults, *written}


def test_what_no_field_asks_for_has_to_be_given() -> None:
    assert _errors(BATCH, {"entries": [ROW]}) == "source: give a text: no field of the form asks for it"
    tools = _tools("weights")
    assert fill_form(BATCH, {"entries": [ROW]}, tools=tools)["source"] is None, "the tool does not require it"
    required = [_requiring(tool, "source") for tool in tools]
    with pytest.raises(FormDataInvalid, match="source: give one of chat, scale, import"):
        fill_form(BATCH, {"entries": [ROW]}, tools=required)
    question = _form("introduction", "AskCapabilities.v1")
    assert fill_form(question, {"prompt": "Which?"}, request_id="form_1") == {
        "request_id": "form_1",
        "prompt": "Which?",
        "choices": [],
    }


@pytest.mark.parametrize(
    ("entry", "data", "expected"),
    [
        (ENTRY, {"weight": 1}, "weight: the form has no such value; there are: entries"),
        (ENTRY, {"entries": {"weight": 1}}, "entries: a list is expected, not an object"),
        (ENTRY, {"entries": [{}, {}]}, "entries: the form has room for 1, not for 2"),
        (ENTRY, {"entries": [{"unit": "stone"}]}, "entries/0/unit: 'stone' is none of lb, kg"),
        (ENTRY, {"entries": [{"unit": ["lb", "kg"]}]}, "entries/0/unit: one of them is expected, not several"),
        (
            ENTRY,
            {"entries": [{"measured_on": "today"}]},
            "entries/0/measured_on: 'today' is not a date such as 2026-01-15",
        ),
        (ENTRY, {"entries": [{"weight": True}]}, "entries/0/weight: a text is expected, not true or false"),
        (BATCH, {"source": 1, "entries": [3]}, "entries/0: an object is expected, not a number"),
        (
            BATCH,
            {"source": "x", "entries": [{"include": "perhaps"}]},
            "entries/0/include: true or false is expected, not a text",
        ),
        (BATCH, {"source": "x", "entries": [ROW] * 201}, "entries: at most 200 rows, not 201"),
        (BATCH, {"source": ["x"], "entries": []}, "source: a text is expected, not a list"),
    ],
)
def test_data_that_does_not_fit_is_named_by_its_place(entry: Any, data: Any, expected: str) -> None:
    assert _errors(entry, data) == expected


def test_all_errors_are_named_at_most_ten() -> None:
    found = _errors(BATCH, {"source": "x", "entries": [{"unit": "stone"}] * 12})
    assert found.count("stone") == 10
    assert found.endswith("and 2 more")


def test_null_is_as_left_out() -> None:
    assert fill_form(ENTRY, {"entries": None}) == fill_form(ENTRY, {})
    assert fill_form(ENTRY, {"entries": [{"weight": None}]}) == fill_form(ENTRY, {})


def test_a_form_without_a_data_model_takes_what_is_given() -> None:
    entry = {"definition": {"components": [{"id": "root", "component": "Text", "text": "hello"}]}}
    assert fill_form(entry, {"a": 1}) == {"a": 1}
    assert format_shape(entry) == ""


def test_a_form_with_a_cycle_ends() -> None:
    components = [
        {"id": "root", "component": "Column", "children": ["a", "root"]},
        {"id": "a", "component": "List", "children": {"componentId": "a", "path": "b"}},
    ]
    assert find_inputs({"components": components}) == {}


def test_a_list_that_is_only_shown_takes_any_number_of_rows() -> None:
    components = [
        {"id": "root", "component": "List", "children": {"componentId": "row", "path": "/days"}},
        {"id": "row", "component": "Text", "text": {"path": "day"}},
    ]
    entry = {"definition": {"components": components, "dataModel": {"days": [{"day": "Monday"}]}}}
    assert fill_form(entry, {"days": [{"day": "a"}, {"day": "b"}]}) == {"days": [{"day": "a"}, {"day": "b"}]}
    assert fill_form(entry, {"days": []}) == {"days": []}
    assert _errors(entry, {}).startswith("days/0/day: give a text")


def test_the_shape_names_what_data_may_hold() -> None:
    assert format_shape(BATCH) == "{entries: [{include, measured_on, unit, weight}], source}"
    assert format_shape(_form("introduction", "AskCapabilities.v1")) == "{choices, prompt}"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/entries/0", ("entries", "0")),
        ("unit", ("rows", "*", "unit")),
        (".", ("rows", "*")),
        ("", ("rows", "*")),
        ("/", ()),
        ("/entries//0/", ("entries", "0")),
        ("a~1b", ("rows", "*", "a/b")),
    ],
)
def test_a_path_means_what_the_renderer_makes_of_it(path: str, expected: tuple[str, ...]) -> None:
    assert binding_of({"path": path}, ("rows", "*")) == expected
