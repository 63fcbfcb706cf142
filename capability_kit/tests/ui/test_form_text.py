"""A form in a terminal: what it shows, and what its buttons send."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from capability_kit.ui.form_text import draw_form, press_button, set_value
from tests.servers import ROOT


def _definition(capability_id: str, schema_id: str) -> dict[str, Any]:
    entries = json.loads((ROOT / "examples" / capability_id / "ui_schemas.json").read_text("utf-8"))
    found: dict[str, Any] = next(each["definition"] for each in entries if each["schema_id"] == schema_id)
    return found


BATCH = _definition("weights", "WeightBatchEditor.v1")
DATA = BATCH["dataModel"]


def test_a_form_is_drawn_with_a_line_for_each_field_of_each_row() -> None:
    data = {**DATA, "entries": DATA["entries"][:2]}
    assert draw_form(BATCH, data).splitlines() == [
        "Review weigh-ins",
        "Source: import",
        "Date: [2026-01-13]  entries/0/measured_on",
        "Weight: [188.2]  entries/0/weight",
        "Unit: (x) lb ( ) kg  entries/0/unit",
        "Save: [x]  entries/0/include",
        "Date: [2026-01-14]  entries/1/measured_on",
        "Weight: [187.9]  entries/1/weight",
        "Unit: (x) lb ( ) kg  entries/1/unit",
        "Save: [x]  entries/1/include",
        "---",
        "<Discard> discard",
        "<Save all> save_all",
    ]


def test_a_button_sends_what_a_renderer_would() -> None:
    assert press_button(BATCH, DATA, "save_all") == {"name": "save_entries", "context": DATA}
    assert press_button(BATCH, DATA, "save_entries") == press_button(BATCH, DATA, "save_all")
    assert press_button(BATCH, DATA, "discard") == {"name": "discard", "context": {}}
    with pytest.raises(ValueError, match="no button 'row'; there are: discard, save_all"):
        press_button(BATCH, DATA, "row")
    question = _definition("introduction", "AskCapabilities.v1")
    skip = press_button(question, {"request_id": "1", "prompt": "Which?", "choices": []}, "skip")
    assert skip == {"name": "answer", "context": {"request_id": "1", "value": "skip"}}


def test_a_value_is_set_by_its_path_and_none_is_added() -> None:
    data = copy.deepcopy(DATA)
    set_value(data, "entries/1/weight", "190")
    set_value(data, "/source", "chat")
    assert (data["entries"][1]["weight"], data["source"]) == ("190", "chat")
    for odd in ("entries/9/weight", "entries/0/mass", "sources", "", "entries/x/weight", "source/0"):
        with pytest.raises(ValueError, match="has no value"):
            set_value(data, odd, "1")


def test_rows_within_rows_and_odd_data_are_drawn() -> None:
    components = [
        {"id": "root", "component": "List", "children": {"componentId": "day", "path": "/days"}},
        {"id": "day", "component": "Column", "children": ["name", "meals"]},
        {"id": "name", "component": "Text", "text": {"path": "name"}},
        {"id": "meals", "component": "List", "children": {"componentId": "meal", "path": "meals"}},
        {"id": "meal", "component": "Row", "children": ["food", "grams"]},
        {"id": "food", "component": "Text", "text": {"path": "food"}},
        {"id": "grams", "component": "Text", "text": {"path": "grams"}},
    ]
    data = {
        "days": [
            {"name": "Monday", "meals": [{"food": "rice", "grams": 1}, {"food": "eggs", "grams": 2}]},
            {"name": "Tuesday"},
        ]
    }
    assert draw_form({"components": components}, data).splitlines() == ["Monday", "rice", "1", "eggs", "2", "Tuesday"]
    assert draw_form({"components": components}, {"days": 3}) == ""
    assert draw_form({"components": components}, None) == ""
