"""The six ask widgets: valid A2UI, and replies that come back as values, with a screen and without one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_kit.ui.ask import WIDGETS, Ask, ReplyNotUnderstood, ask
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle
from tests.json_values import parsed
from tests.sweeps import check_each

OPTIONS = ("Research Assistant", "Personal Finance", "Skip for now")


def _ask(widget: Any) -> Ask:
    return ask("Pick any that sound useful", widget, OPTIONS if widget not in ("confirm", "text_input") else ())


@pytest.mark.parametrize("widget", WIDGETS)
def test_each_widget_passes_the_checks_of_publishing(widget: Any) -> None:
    entry = _ask(widget).entry()
    files = bundle(body=f"Ask with `{entry['schema_id']}`.") | {"ui_schemas.json": json.dumps([entry])}
    files["skill.md"] += f"\n## UI\n\n- `{entry['schema_id']}`: asks.\n"
    report = validate_bundle(files)
    assert [(each.code, each.message) for each in report.findings if each.severity == "error"] == []


@pytest.mark.parametrize("widget", WIDGETS)
def test_three_messages_show_it(widget: Any) -> None:
    asked = _ask(widget)
    messages = asked.messages()
    assert [next(key for key in each if key != "version") for each in messages] == [
        "createSurface",
        "updateDataModel",
        "updateComponents",
    ]
    surfaces = {parsed(next(v for k, v in each.items() if k != "version"))["surfaceId"] for each in messages}
    assert surfaces == {f"ask-{asked.request_id}"}


@pytest.mark.parametrize(
    ("widget", "reply", "value"),
    [
        ("buttons", "Personal Finance", "Personal Finance"),
        ("confirm", True, True),
        ("confirm", "true", True),
        ("text_input", "Maria", "Maria"),
        ("select", ["Personal Finance"], "Personal Finance"),
        ("radio", ["Skip for now"], "Skip for now"),
        ("checkbox", ["Research Assistant", "Personal Finance"], ["Research Assistant", "Personal Finance"]),
        ("checkbox", [], []),
    ],
)
def test_the_reply_of_a_form_becomes_a_value(widget: Any, reply: Any, value: Any) -> None:
    asked = _ask(widget)
    assert asked.read({"request_id": asked.request_id, "value": reply}) == value


@pytest.mark.parametrize(
    ("widget", "words", "value"),
    [
        ("buttons", "2", "Personal Finance"),
        ("buttons", "skip for NOW", "Skip for now"),
        ("confirm", "Yes.", True),
        ("confirm", "n", False),
        ("text_input", "  Maria ", "Maria"),
        ("select", "1", "Research Assistant"),
        ("checkbox", "1, personal finance", ["Research Assistant", "Personal Finance"]),
    ],
)
def test_without_a_screen_words_are_enough(widget: Any, words: str, value: Any) -> None:
    asked = _ask(widget)
    assert asked.prompt in asked.plain()
    assert asked.read(words) == value


def test_what_is_no_answer_is_asked_again() -> None:
    def check(cell: tuple[Any, Any]) -> None:
        widget, reply = cell
        with pytest.raises(ReplyNotUnderstood):
            _ask(widget).read(reply)

    check_each(
        [
            ("buttons", "0"),
            ("buttons", "4"),
            ("buttons", "something else"),
            ("buttons", ["a", "b"]),
            ("confirm", "maybe"),
            ("confirm", 1),
            ("text_input", " "),
            ("text_input", None),
            ("select", []),
            ("checkbox", "1, 9"),
            ("checkbox", {"request_id": "another", "value": []}),
            ("radio", {"value": {"a": 1}}),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("prompt", "widget", "options"),
    [
        ("", "confirm", ()),
        ("Q", "slider", ()),
        ("Q", "buttons", ()),
        ("Q", "confirm", ("a",)),
        ("Q", "radio", ("a", "A")),
        ("Q", "radio", ("a", " ")),
        ("Q", "radio", tuple(map(str, range(51)))),
    ],
)
def test_an_odd_question_is_refused(prompt: str, widget: Any, options: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ask(prompt, widget, options)


def test_an_option_that_is_a_number_is_itself_and_not_a_place() -> None:
    for widget in ("buttons", "radio", "select"):
        question = ask("How many?", widget, ["2", "1", "more"])
        assert [question.read(reply) for reply in ("1", "2", "3", "3.", {"value": "1"})] == [
            "1",
            "2",
            "more",
            "more",
            "1",
        ]
    several = ask("Which?", "checkbox", ["2", "1"])
    assert (several.read("1"), several.read({"value": ["1"]}), several.read("2, 1")) == (["1"], ["1"], ["2", "1"])


def test_an_option_with_a_comma_can_be_typed_and_one_named_twice_is_chosen_once() -> None:
    question = ask("Which?", "checkbox", ["Yes, please", "Later"])
    assert question.read("yes, please") == ["Yes, please"]
    assert question.read("1, later, 1") == ["Yes, please", "Later"]
