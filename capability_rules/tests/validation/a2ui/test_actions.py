"""Group 5: actions, events, arguments, replies, and who uses which form."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.forms import (
    ADDED,
    Entry,
    add,
    button,
    check,
    components,
    data,
    errors,
    note_form,
    note_tools,
    problems,
    with_list,
)
from tests import costs
from tests.sweeps import check_each

CONTEXT = "/0/definition/components/3/action/event/context"


def context(form: Entry) -> dict[str, Any]:
    found: dict[str, Any] = components(form)[3]["action"]["event"]["context"]
    return found


@pytest.mark.parametrize(
    "action",
    [
        None,
        "note_save",
        [],
        {},
        {"tool": 5},
        {"reply": False},
        {"dismiss": "yes"},
        {"tool": "note_save", "reply": True},
        {"url": "x"},
    ],
)
def test_actions_that_are_none(action: Any) -> None:
    form = note_form()
    form["actions"]["save"] = action
    assert ("UI_ACTION_SHAPE", "/0/actions/save") in errors(form, tools=note_tools()[:0])


def test_a_dismissal_needs_nothing() -> None:
    form = add(note_form(), {"id": "cancel", **button("cancel")})
    form["actions"]["cancel"] = {"dismiss": True}
    assert check(form) == []


def test_a_reply_needs_a_value() -> None:
    form = add(note_form(), {"id": "answer", **button("answer")})
    form["actions"]["answer"] = {"reply": True}
    assert errors(form) == [("UI_REPLY_VALUE_MISSING", f"{ADDED}/action/event")]
    components(form)[5]["action"]["event"]["context"] = {"value": "yes"}
    assert check(form) == []


def test_left_out_actions_are_none() -> None:
    form = note_form()
    del form["actions"]
    assert errors(form) == [
        ("UI_ACTION_UNBOUND", "/0/definition/components/3/action/event/name"),
        ("UI_TOOL_REF_MISMATCH", "/0/ui/form"),
    ]


@pytest.mark.parametrize(("written", "meant"), [("svae", "save"), ("save ", "save")])
def test_a_misspelt_event_is_named(written: str, meant: str) -> None:
    form = note_form()
    components(form)[3]["action"]["event"]["name"] = written
    assert f"Did you mean '{meant}'?" in [each.hint for each in problems(form)]


def test_a_misspelt_tool_is_named() -> None:
    form = note_form()
    form["actions"]["save"] = {"tool": "note_sav"}
    assert "Did you mean 'note_save'?" in [each.hint for each in problems(form)]


def test_arguments_unknown_and_missing_are_told_at_once() -> None:
    form = note_form()
    context(form)["txt"] = context(form).pop("text")
    found = problems(form)
    assert [(each.code, each.path[-1]) for each in found] == [
        ("UI_ACTION_ARG_UNKNOWN", "txt"),
        ("UI_ACTION_ARG_MISSING", "context"),
    ]
    assert found[0].hint == "Did you mean 'text'?"


def test_arguments_of_an_event_without_context() -> None:
    form = note_form()
    del components(form)[3]["action"]["event"]["context"]
    assert errors(form) == [("UI_ACTION_ARG_MISSING", CONTEXT.removesuffix("/context"))]


def test_the_user_is_set_by_the_runtime() -> None:
    tools = note_tools(user_id={"type": "string"})
    tools[0]["args_schema"]["required"].append("user_id")
    assert check(note_form(), tools) == []


def test_samples_are_coerced_and_held_against_the_tool() -> None:
    def check(cell: tuple[Any, Any, bool]) -> None:
        schema, value, is_taken = cell
        tools = note_tools(extra=schema)
        tools[0]["args_schema"]["$defs"] = {"size": {"type": "integer", "maximum": 9}}
        form = note_form()
        context(form)["extra"] = {"path": "/extra"}
        data(form)["extra"] = value
        assert errors(form, tools) == ([] if is_taken else [("UI_ACTION_ARG_TYPE", f"{CONTEXT}/extra")])

    check_each(
        [
            ({"type": "integer"}, "5", True),
            ({"type": "integer"}, "5.5", False),
            ({"type": "number", "exclusiveMinimum": 0}, ["187.6"], True),
            ({"type": "number", "exclusiveMinimum": 0}, "0", False),
            ({"type": "boolean"}, "true", True),
            ({"type": "boolean"}, "yes", False),
            ({"type": "string"}, ["a"], True),
            ({"type": "string"}, ["a", "b"], False),
            ({"type": "string", "minLength": 2}, "", True),
            ({"type": "array", "items": {"type": "integer"}}, ["1", "2"], True),
            ({"type": "array", "items": {"type": "integer"}}, ["1", "x"], False),
            ({"$ref": "#/$defs/size"}, "5", True),
            ({"$ref": "#/$defs/size"}, "50", False),
            ({"$ref": "#/properties/text"}, "x", True),
            ({"pattern": "^a+$", "type": "string"}, "b", False),
            (True, "x", True),
        ],
        check,
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/properties/extra"},
        {"pattern": "(?=x)"},
        {"pattern": "("},
        5,
        None,
    ],
)
def test_what_cannot_be_asked_is_passed_over(schema: Any) -> None:
    form = note_form()
    context(form)["extra"] = 5
    assert errors(form, note_tools(extra=schema)) == []


def test_a_schema_that_explodes_is_never_run() -> None:
    levels = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(40)}
    tools = note_tools(extra={"$ref": "#/$defs/l0"})
    tools[0]["args_schema"]["$defs"] = {**levels, "l40": {"type": "string"}}
    form = note_form()
    context(form)["extra"] = 5
    assert errors(form, tools) == []


def test_a_schema_that_explodes_with_the_depth_of_the_value_is_never_run() -> None:
    tools = note_tools(extra={"$ref": "#/$defs/tree"})
    branches = [{"properties": {name: {"$ref": "#/$defs/tree"}}} for name in "aa"]
    tools[0]["args_schema"]["$defs"] = {"tree": {"anyOf": [{"type": "integer", "minimum": 9}, {"allOf": branches * 3}]}}
    form = note_form()
    context(form)["extra"] = {"path": "/extra"}
    data(form)["extra"] = 5
    assert errors(form, tools) == []
    value: Any = {"z": 1}
    for _ in range(30):
        value = {"a": value}
    data(form)["extra"] = value
    with costs.at_most(100):
        assert errors(form, tools) == []


def test_properties_declared_elsewhere_are_not_unknown() -> None:
    tools = note_tools()
    tools[0]["args_schema"]["allOf"] = [{"properties": {"extra": {"type": "string"}}}]
    form = note_form()
    context(form)["extra"] = "x"
    assert check(form, tools) == []


@pytest.mark.parametrize("tool", [{"name": "note_save"}, {"name": "note_save", "args_schema": []}])
def test_tools_without_a_readable_schema(tool: dict[str, Any]) -> None:
    assert check(note_form(), [tool]) == []


def test_a_button_in_a_list_is_checked_with_each_item() -> None:
    inner = {"id": "row_save", **button("save", {"text": {"path": "note"}})}
    form = with_list("/lines", inner, lines=[{"note": "One"}, {"note": 5}])
    assert errors(form) == [
        ("UI_ACTION_ARG_TYPE", "/0/definition/components/6/action/event/context/text"),
    ]


def test_a_list_of_bindings_is_put_together() -> None:
    tools = note_tools(lines={"type": "array", "items": {"type": "string", "minLength": 20}})
    form = note_form()
    context(form)["lines"] = [{"path": "/text"}]
    assert errors(form, tools) == [("UI_ACTION_ARG_TYPE", f"{CONTEXT}/lines")]
    context(form)["lines"] = [{"path": "/text"}, {"call": "formatString", "args": {"value": "x"}}]
    assert errors(form, tools) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [("text", "UI_PATH_RELATIVE_OUTSIDE_TEMPLATE"), ("/te~xt", "UI_PATH_SYNTAX"), ("/x", "UI_PATH_UNRESOLVED")],
)
def test_a_binding_that_leads_nowhere_is_told_once(path: str, code: str) -> None:
    form = note_form()
    data(form)["te~xt"] = 5
    data(form)["text"] = 5
    components(form)[1]["value"] = {"path": "/kind/0"}
    context(form)["text"] = {"path": path}
    assert errors(form) == [(code, f"{CONTEXT}/text/path")]


def test_patterns_are_compiled_up_to_what_they_cost_together() -> None:
    form = note_form()
    context(form)["extra"] = "b"
    unmet = {"pattern": "[ac]{3000}"}
    costly = [{"pattern": f"b|[ac]{{3000}}{n}"} for n in range(50)]
    assert len(errors(form, note_tools(extra={"allOf": [unmet, *costly]}))) == 1
    assert errors(form, note_tools(extra={"allOf": [*costly, unmet]})) == []


def test_what_a_call_will_give_is_not_guessed() -> None:
    form = note_form()
    context(form)["kind"] = {"call": "formatString", "args": {"value": "x"}, "returnType": "string"}
    assert check(form) == []


def test_the_refusal_says_where_in_the_value() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}}
    form = note_form()
    context(form)["lines"] = {"path": "/lines"}
    data(form)["lines"] = [{"n": "1"}, {"n": "one"}]
    (found,) = problems(form, note_tools(lines=schema))
    assert '[1].n: "one"' in found.message


# Who uses which form.


def test_a_form_is_used_by_a_tool_a_mention_or_its_own_reply() -> None:
    unused = note_tools()
    del unused[0]["ui"]
    assert check(note_form(), mentioned_schema_ids=set()) == []
    assert check(note_form(), unused) == []
    assert check(note_form(), unused, mentioned_schema_ids=set()) == [("UI_SCHEMA_UNREFERENCED", "/0", "warning")]
    form = note_form()
    form["actions"]["save"] = {"reply": True}
    context(form)["value"] = context(form).pop("kind")
    assert check(form, [], mentioned_schema_ids=set()) == []


def test_a_result_need_not_call_the_tool() -> None:
    tools = note_tools()
    tools.append({"name": "note_list", "ui": {"result": "NoteForm.v1"}})
    assert check(note_form(), tools) == []
    tools[1]["ui"] = {"editor": "NoteForm.v1"}
    assert errors(note_form(), tools) == [("UI_TOOL_REF_MISMATCH", "/1/ui/editor")]


def test_actions_that_cannot_be_read_say_nothing_of_tools() -> None:
    assert errors(note_form() | {"actions": 5}) == [("UI_ENTRY_SHAPE", "/0/actions")]


@pytest.mark.parametrize("role", ["form", "editor", "result"])
def test_a_tool_names_a_form_that_does_not_exist(role: str) -> None:
    tools = note_tools()
    tools[0]["ui"] = {role: "NoteFrom.v1"}
    (found,) = problems(note_form(), tools)
    assert (found.code, found.file, found.path) == ("UI_TOOL_REF_UNKNOWN", "tools.json", (0, "ui", role))
    assert found.hint == "Did you mean 'NoteForm.v1'?"


@pytest.mark.parametrize(
    "tools",
    [
        None,
        5,
        "x",
        {},
        [None, 5, [], {}, {"ui": 5}, {"ui": {"form": 5}}, {"name": ["x"], "ui": {"form": "NoteForm.v1"}}],
    ],
)
def test_junk_in_place_of_tools(tools: Any) -> None:
    found = {code for code, _ in errors(note_form(), tools=tools or ())}
    assert found <= {"UI_ACTION_TOOL_UNKNOWN", "UI_TOOL_REF_MISMATCH"}
