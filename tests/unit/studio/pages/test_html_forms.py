"""A surface as plain fields: what is there to fill in, and what its renderer would have sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from studio.pages.html_forms import FIELDS_MAX, build_html_form, parse_event
from tests.servers import ROOT

CASES = json.loads((ROOT / "tests" / "data" / "a2ui" / "valid" / "ui_schemas.json").read_text("utf-8"))
WEIGHTS = json.loads((ROOT / "examples" / "weights" / "ui_schemas.json").read_text("utf-8"))[0]["definition"]


def _surface(*components: dict[str, Any], **data: Any) -> dict[str, Any]:
    ids = [one["id"] for one in components]
    root = {"id": "root", "component": "Column", "children": ids}
    return {"components": [root, *components], "dataModel": data}


def _button(**context: Any) -> dict[str, Any]:
    return {"id": "send", "component": "Button", "action": {"event": {"name": "send", "context": context}}}


def test_an_example_has_its_fields_in_order_with_the_sample_data() -> None:
    form = build_html_form(WEIGHTS)
    assert [(one.label, one.kind, one.value) for one in form.fields] == [
        ("Date", "date", "2026-01-15"),
        ("Weight", "number", "187.6"),
        ("Unit", "choice", ["lb"]),
        ("Note (optional)", "long", ""),
    ]
    assert form.fields[2].choices == (("lb", "lb"), ("kg", "kg"))
    assert [(one.label, one.event["name"]) for one in form.buttons] == [
        ("Cancel", "cancel"),
        ("Save weigh-in", "save_entries"),
    ]


def test_what_was_filled_in_is_sent_as_a_renderer_sends_it() -> None:
    given = {"/entries/0/weight": ["80.5"], "/entries/0/unit": ["kg"], "/entries/0/measured_on": ["2026-02-01"]}
    event = parse_event(WEIGHTS, given, 1)
    entry = {"measured_on": "2026-02-01", "weight": "80.5", "unit": ["kg"], "note": ""}
    assert event == {"name": "save_entries", "context": {"source": "chat", "entries": [entry]}}
    assert parse_event(WEIGHTS, given, 0) == {"name": "cancel", "context": {}}
    assert WEIGHTS["dataModel"]["entries"][0]["weight"] == "187.6", "the definition itself is as it was"


@pytest.mark.parametrize("entry", CASES, ids=[one["schema_id"] for one in CASES])
def test_every_valid_form_has_buttons_that_send_its_actions(entry: dict[str, Any]) -> None:
    form = build_html_form(entry["definition"])
    assert form.buttons
    for button in form.buttons:
        assert parse_event(entry["definition"], {}, button.number)["name"] in entry["actions"]


def test_a_template_is_drawn_once_for_each_item_of_its_list() -> None:
    cell = {"id": "cell", "component": "TextField", "label": {"path": "day"}, "value": {"path": "kilos"}}
    listed = {"id": "list", "component": "List", "children": {"path": "/rows", "componentId": "cell"}}
    surface = _surface(listed, _button(rows={"path": "/rows"}), rows=[{"day": "Mon", "kilos": "1"}, {"day": "Tue"}])
    surface["components"].append(cell)
    form = build_html_form(surface)
    assert [(one.name, one.label, one.value) for one in form.fields] == [
        ("/rows/0/kilos", "Mon", "1"),
        ("/rows/1/kilos", "Tue", ""),
    ]
    sent = parse_event(surface, {"/rows/1/kilos": ["2"]}, 0)["context"]["rows"]
    assert sent == [{"day": "Mon", "kilos": ""}, {"day": "Tue", "kilos": "2"}]


def test_boxes_lists_and_what_a_function_computes() -> None:
    surface = _surface(
        {"id": "box", "component": "CheckBox", "label": "Yes", "value": {"path": "/yes"}},
        {
            "id": "many",
            "component": "ChoicePicker",
            "variant": "multipleSelection",
            "options": [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}],
            "value": {"path": "/many"},
        },
        _button(yes={"path": "/yes"}, many={"path": "/many"}, now={"call": "now"}, gone={"path": "/gone"}, one=[1]),
        yes=True,
        many=["a"],
    )
    assert [(one.kind, one.value) for one in build_html_form(surface).fields] == [("check", True), ("choices", ["a"])]
    assert parse_event(surface, {}, 0)["context"] == {"yes": False, "many": [], "one": [1]}
    given = {"/yes": ["true"], "/many": ["a", "b"]}
    assert parse_event(surface, given, 0)["context"] == {"yes": True, "many": ["a", "b"], "one": [1]}


@pytest.mark.parametrize(
    "surface",
    [
        {},
        {"components": [{"id": "root", "children": ["root"]}]},
        {"components": [{"id": "root", "children": {"path": "/", "componentId": "root"}}], "dataModel": {"a": 1}},
        {"components": ["x", {"id": "root", "child": ["x"], "tabs": [1], "options": 7, "action": 1}]},
        {"components": [{"id": "root", "component": "TextField", "value": {"path": "/a/b"}}], "dataModel": {"a": 7}},
    ],
)
def test_odd_surfaces_end_and_send_nothing(surface: dict[str, Any]) -> None:
    assert build_html_form(surface).buttons == ()
    assert parse_event(surface, {"/a/b": ["x"], "/": ["y"]}, 0) == {"name": "", "context": None}


def test_a_very_long_form_is_cut() -> None:
    fields = [{"id": f"f{n}", "component": "TextField", "value": {"path": f"/f{n}"}} for n in range(FIELDS_MAX + 5)]
    assert len(build_html_form(_surface(*fields)).fields) == FIELDS_MAX
