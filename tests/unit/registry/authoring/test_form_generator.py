"""A form made from a tool publishes as it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_kit.bundles.form_data import fill_form
from capability_kit.json_schema.coercion import coerce
from capability_kit.ui.form_text import press_button
from capability_rules.errors import InvalidRequest
from capability_rules.validation import validate_bundle
from registry.authoring.form_generator import generate_form
from tests.factories import Files, bundle, to_json, tool
from tests.servers import ROOT

# A list of at least two, and the like: what no field holds.
NO_FIELD = {("introduction", "capability_enable")}
PROPERTIES: dict[str, Any] = {
    "day": {"type": "string", "format": "date", "description": "d"},
    "at": {"type": "string", "format": "date-time", "description": "d"},
    "note": {"type": "string", "description": "d", "maxLength": 500},
    "short": {"type": "string", "description": "d", "minLength": 3, "maxLength": 5},
    "weight": {"type": "number", "description": "d", "minimum": 20, "maximum": 500, "examples": [81.5]},
    "count": {"type": "integer", "description": "d", "maximum": -3},
    "is_fasted": {"type": "boolean", "description": "d"},
    "unit": {"type": "string", "enum": ["kg", "lb"], "description": "d"},
    "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}, "description": "d"},
    "tags": {"type": "array", "items": {"type": "string"}, "description": "d"},
    "a/b~c": {"type": "string", "description": "d"},
    "place": {
        "type": "object",
        "description": "d",
        "required": ["city"],
        "properties": {"city": {"type": "string", "description": "d"}, "zip": {"type": "string", "description": "d"}},
        "additionalProperties": False,
    },
    "rows": {
        "type": "array",
        "description": "d",
        "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "description": "d"}}},
    },
}


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("leave_request_create", "Create leave request"),
        ("create_leave_request", "Create leave request"),
        ("create_request", "Create request"),
        ("request_create", "Create request"),
        ("leave_request", "Request leave"),
        ("save", "Save"),
        ("room_status", "Room status"),
    ],
)
def test_a_form_begins_with_the_verb_of_its_tool(name: str, title: str) -> None:
    files = bundle("alpha", [tool(name, "write", PROPERTIES)])
    assert _made(files, name)[1]["title"] == title


def _made(files: Files, name: str) -> tuple[Files, dict[str, Any]]:
    made = generate_form(files=files, tool_name=name)
    after = files | dict(made.texts)
    return after, next(one for one in json.loads(after["ui_schemas.json"]) if one["schema_id"] == made.schema_id)


def _faults(files: Files) -> list[str]:
    """What is wrong but for the words about the form in skill.md, which are the author's."""
    report = validate_bundle(files)
    ours = [one for one in report.findings if one.file == "ui_schemas.json" and one.code != "UI_SCHEMA_UNREFERENCED"]
    return [f"{one.code} {one.pointer}: {one.message}" for one in ours]


@pytest.mark.parametrize("required", [[], list(PROPERTIES)])
@pytest.mark.parametrize("name", [*PROPERTIES, "all"])
def test_each_kind_of_argument_has_a_field_that_passes(name: str, required: list[str]) -> None:
    properties = PROPERTIES if name == "all" else {name: PROPERTIES[name]}
    needed = [one for one in required if one in properties]
    files = bundle(tools=[tool("alpha_save", "write", properties, required=needed)])
    after, entry = _made(files, "alpha_save")
    assert _faults(after) == []
    assert set(entry["definition"]["dataModel"]) == set(properties)
    assert json.loads(after["tools.json"])[0]["ui"] == {"form": entry["schema_id"]}


def test_the_tools_of_every_example_have_a_form_that_passes() -> None:
    made = 0
    for folder in sorted((ROOT / "examples").iterdir()):
        if not (folder / "tools.json").exists():
            continue
        files = {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.suffix in (".json", ".md")}
        for one in json.loads(files["tools.json"]):
            if (folder.name, one["name"]) in NO_FIELD:
                with pytest.raises(InvalidRequest, match="is required, and no field"):
                    _made(files, one["name"])
                continue
            after, _ = _made(files, one["name"])
            assert _faults(after) == [], (folder.name, one["name"])
            made += 1
    assert made > 5


FIELDS: dict[str, Any] = {
    "choice": {"type": "string", "enum": ["a", "b"]},
    "choices": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    "box": {"type": "boolean"},
    "day": {"type": "string", "format": "date"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "list": {"type": "array", "items": {"type": "string"}},
}
DEFAULTS: dict[str, Any] = {"choice": "b", "choices": ["a"], "box": True, "number": 5, "text": "x"}


def _sent(properties: dict[str, Any], required: list[str], data: dict[str, Any]) -> Any:
    """What a form that was generated for such a tool sends when its button is pressed at once."""
    schema = {"type": "object", "properties": properties, "required": required}
    tool = {"name": "alpha_save", "args_schema": schema}
    made = generate_form(files={"tools.json": json.dumps([tool])}, tool_name="alpha_save")
    (entry,) = json.loads(made.texts["ui_schemas.json"])
    filled = fill_form(entry, data, tools=[tool])
    begins = entry["definition"]["dataModel"]
    calls = [
        coerce(press_button(entry["definition"], start, "send")["context"], schema)
        for start in ([begins, filled] if not data else [filled])
    ]
    assert all(call == calls[0] for call in calls), "the sample and an opened form begin alike"
    return calls[0]


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_that_nobody_set_is_not_sent(name: str) -> None:
    assert _sent({name: FIELDS[name]}, [], {}) == {}
    assert _sent({name: FIELDS[name], "other": {"type": "string"}}, [], {"other": "x"}) == {"other": "x"}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_field_begins_with_the_default_of_its_argument(name: str) -> None:
    properties = {name: FIELDS[name] | {"default": DEFAULTS[name]}}
    if name == "choices":
        assert _sent(properties, [], {"choices": []}) == {"choices": []}, "all of it was taken out"
    else:
        assert _sent(properties, [], {}) == {name: DEFAULTS[name]}


def test_a_choice_that_was_made_can_be_taken_back() -> None:
    assert _sent({"choice": FIELDS["choice"]}, [], {"choice": "a"}) == {"choice": "a"}
    assert _sent({"choice": FIELDS["choice"]}, [], {"choice": [""]}) == {}


def test_a_second_form_of_a_tool_has_another_id_and_leaves_the_first_alone() -> None:
    files = bundle(tools=[tool("alpha_save", "write", {"note": PROPERTIES["note"]})])
    first, entry = _made(files, "alpha_save")
    second, other = _made(first, "alpha_save")
    assert (entry["schema_id"], other["schema_id"]) == ("AlphaSaveForm.v1", "AlphaSaveForm.v2")
    assert json.loads(second["tools.json"]) == json.loads(first["tools.json"])
    assert second["ui_schemas.json"].startswith(first["ui_schemas.json"].rstrip().removesuffix("]").rstrip())


def test_the_text_of_the_tools_keeps_its_layout_and_its_wrapper() -> None:
    text = '{"tools":   [ ' + json.dumps(tool("alpha_get", "read", {"a": {"type": "string"}})) + ' ], "x": 1.50}\n'
    files = bundle(tools=[tool("alpha_get", "read")]) | {"tools.json": text}
    after, _ = _made(files, "alpha_get")
    assert after["tools.json"].startswith('{"tools":   [ {"name"')
    assert after["tools.json"].endswith(' ], "x": 1.50}\n')


@pytest.mark.parametrize(
    "odd", [{"anyOf": [{"type": "string"}]}, {}, {"type": "null"}, {"type": "string", "pattern": "^x$"}]
)
def test_what_no_field_can_hold_is_left_out_or_refused(odd: dict[str, Any]) -> None:
    files = bundle(tools=[tool("alpha_save", "write", {"odd": odd, "note": PROPERTIES["note"]})])
    made = generate_form(files=files, tool_name="alpha_save")
    assert made.left_out == ("odd",)
    files = bundle(tools=[tool("alpha_save", "write", {"odd": odd}, required=["odd"])])
    with pytest.raises(InvalidRequest, match="'odd' is required"):
        generate_form(files=files, tool_name="alpha_save")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (bundle(), "no tool 'alpha_save'"),
        ({"tools.json": "["}, "not valid JSON yet"),
        ({"tools.json": "7"}, "no tool"),
        ({"tools.json": to_json([{"name": "alpha_save"}]), "ui_schemas.json": "{}"}, "must be a list"),
    ],
)
def test_odd_files_are_refused_in_words(files: Files, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        generate_form(files=files, tool_name="alpha_save")


def test_too_many_arguments_are_refused() -> None:
    properties = {f"a{number}": {"type": "string"} for number in range(70)}
    with pytest.raises(InvalidRequest, match="too many arguments"):
        generate_form(files=bundle(tools=[tool("alpha_save", "write", properties)]), tool_name="alpha_save")
