"""The forms beside the text: whoever never saw JSON writes a bundle; what the form does not show is kept."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.steps import (
    AUTOSAVE_OFF,
    create,
    expect_state,
    open_file,
    open_form,
    put,
    save,
    texts_of,
    write_section,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of a capability of its own, which saves when it is told to."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    create(page, studio.url, f"form_{next(_numbers)}")
    return page


def _json(page: Page, field: str) -> Any:
    return json.loads(texts_of(page)[field])


def _no_findings(page: Page) -> None:
    """But for the lines that a new draft begins with."""
    expect(page.locator("#findings .badge--danger")).to_have_count(0)
    expect(page.locator("#findings .issue code").filter(has_not_text="PLACEHOLDER_LEFT")).to_have_count(0)


def test_metadata_is_written_without_seeing_json(editor: Page) -> None:
    form = open_form(editor, "capability.json")
    form.get_by_role("textbox", name="Name", exact=True).fill("Sleep")
    triggers = form.get_by_role("textbox", name="Trigger phrases")
    triggers.fill("slept badly")
    triggers.press("Enter")
    expect(triggers).to_be_focused()
    triggers.fill("bed time, nap")
    triggers.press("Enter")
    form.get_by_role("button", name="Remove bed time").click()
    form.get_by_role("textbox", name="Example messages that match").fill("I slept badly\nhow did I sleep?\n")
    form.locator("summary", has_text="Runs on a computer").click()
    form.get_by_role("checkbox", name="Linux").check()
    form.get_by_role("checkbox", name="Any").uncheck()
    form.get_by_role("textbox", name="Programs").fill("ffmpeg")
    form.get_by_role("textbox", name="Programs").press("Enter")
    capability = _json(editor, "capability_json")
    assert capability["name"] == "Sleep"
    assert capability["intent_triggers"][1:] == ["slept badly", "nap"]
    assert capability["utterances"] == {"should_match": ["I slept badly", "how did I sleep?"]}
    assert capability["os"] == ["linux"]
    assert capability["dependencies"] == {"bins": ["ffmpeg"]}
    _no_findings(editor)
    save(editor)
    editor.reload()
    assert _json(editor, "capability_json") == capability


def test_a_suggested_phrase_becomes_a_trigger(editor: Page) -> None:
    capability = _json(editor, "capability_json")
    put(
        editor,
        "capability.json",
        json.dumps(capability | {"description": "Use it when somebody asks for a hotel bill or a lost receipt."}),
    )
    save(editor)
    editor.reload()
    form = open_form(editor, "capability.json")
    form.get_by_role("button", name="lost receipt").click()
    expect(form.get_by_role("button", name="Remove lost receipt")).to_be_visible()
    expect(form.get_by_role("button", name="lost receipt", exact=True)).to_have_count(0)
    expect(form.get_by_role("button", name="hotel bill", exact=True)).to_be_visible()
    assert _json(editor, "capability_json")["intent_triggers"][-1] == "lost receipt"


def test_what_the_form_does_not_show_stays_as_it_was_written(editor: Page) -> None:
    text = (
        '{"zzz": {"1": 1.50, "b": [1,2 ,3]},\n    "name" :  "Old",\n  "capability_id": "form_x",'
        ' "2": 9007199254740993,\n'
        ' "description": "d", "intent_triggers": ["a"], "é": "\\u00e9"}\n'
    )
    put(editor, "capability.json", text)
    form = open_form(editor, "capability.json")
    form.get_by_role("textbox", name="Name", exact=True).fill('New "name"')
    assert texts_of(editor)["capability_json"] == text.replace('"Old"', '"New \\"name\\""')
    form.get_by_role("textbox", name="Description").fill("other")
    assert texts_of(editor)["capability_json"] == text.replace('"Old"', '"New \\"name\\""').replace('"d"', '"other"')
    expect(form.get_by_text("Not editable here")).to_contain_text("zzz")


def test_a_text_that_is_no_json_is_told_with_its_place_and_stays(editor: Page) -> None:
    put(editor, "tools.json", '[\n  {"name": "x",, }]\n')
    form = open_form(editor, "tools.json")
    expect(form.get_by_text("Invalid JSON at line 2, column 16")).to_be_visible()
    form.get_by_role("button", name="Go to line").click()
    expect(editor.get_by_role("textbox", name="tools.json", exact=True)).to_be_focused()
    assert texts_of(editor)["tools_json"] == '[\n  {"name": "x",, }]\n'


def test_a_bundle_with_two_tools_and_a_form_is_made_by_the_forms_alone(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    form.get_by_role("button", name="Add write tool").click()
    tool = form.locator("details.tool").first
    tool.get_by_role("textbox", name="Name", exact=False).first.fill("sleep_save")
    tool.get_by_role("textbox", name="Name", exact=False).first.press("Enter")
    form.locator("details.tool").first.get_by_role("textbox", name="Description").first.fill("Save a night.")
    for name, kind in (("slept_on", "Date"), ("hours", "Number"), ("quality", "Select")):
        form.get_by_role("button", name="Add argument").click()
        row = form.locator(".property").last
        row.get_by_role("textbox", name="Name").fill(name)
        row.get_by_role("textbox", name="Name").press("Tab")
        form.locator(".property").last.get_by_role("combobox", name="Type").select_option(label=kind)
        form.locator(".property").last.get_by_role("textbox", name="Description").fill(f"The {name}.")
        form.locator(".property").last.get_by_role("checkbox", name="Required").check()
    form.locator(".property").nth(1).get_by_role("textbox", name="Example").fill("7.5")
    written = _json(editor, "tools_json")[0]
    assert written["args_schema"]["required"] == ["slept_on", "hours", "quality"]
    assert written["args_schema"]["properties"]["hours"] == {
        "type": "number",
        "description": "The hours.",
        "examples": [7.5],
    }
    assert written["policy"] == {"kind": "write", "requires_approval": True}
    form.get_by_role("button", name="Generate form").click()
    frame = editor.frame_locator("iframe.preview-form")
    expect(frame.get_by_text("Save sleep")).to_be_visible()
    form = open_form(editor, "tools.json")
    form.get_by_role("button", name="Add read tool").click()
    tool = form.locator("details.tool").last
    tool.get_by_role("textbox", name="Name").first.fill("sleep_list")
    tool.get_by_role("textbox", name="Name").first.press("Enter")
    form.locator("details.tool").last.get_by_role("textbox", name="Description").first.fill("List the nights.")
    write_section(editor, "Tools", "- `sleep_save`: save a night\n- `sleep_list`: list them")
    write_section(editor, "UI", "Open `SleepSaveForm.v1` when somebody slept.")
    editor.get_by_role("tab", name="Issues").click()
    _no_findings(editor)
    save(editor)


def test_a_choice_by_chips_and_a_renamed_argument(editor: Page) -> None:
    tools = [
        {
            "name": "a_get",
            "description": "d",
            "x": 1,
            "args_schema": {"type": "object", "properties": {"b": {"type": "string"}, "a": {}}, "required": ["b"]},
            "policy": {"kind": "read"},
        }
    ]
    put(editor, "tools.json", json.dumps({"tools": tools}))
    form = open_form(editor, "tools.json")
    row = form.locator(".property").first
    row.get_by_role("textbox", name="Name").fill("a")
    row.get_by_role("textbox", name="Name").press("Tab")
    assert "a" in _json(editor, "tools_json")["tools"][0]["args_schema"]["properties"]
    assert "b" in _json(editor, "tools_json")["tools"][0]["args_schema"]["properties"], (
        "a name that is taken is refused"
    )
    row.get_by_role("textbox", name="Name").fill("unit")
    row.get_by_role("textbox", name="Name").press("Tab")
    schema = _json(editor, "tools_json")["tools"][0]["args_schema"]
    assert list(schema["properties"]) == ["unit", "a"]
    assert schema["required"] == ["unit"]
    form.locator(".property").first.get_by_role("combobox", name="Type").select_option(label="Select")
    words = form.locator(".property").first.get_by_role("textbox", name="Options")
    words.fill("kg")
    words.press("Enter")
    form.locator(".property").first.get_by_role("button", name="Remove first").click()
    assert _json(editor, "tools_json")["tools"][0]["args_schema"]["properties"]["unit"]["enum"] == ["second", "kg"]
    assert _json(editor, "tools_json")["tools"][0]["x"] == 1


def test_what_is_clicked_next_has_the_focus_and_the_click(editor: Page) -> None:
    """A name is written when its field is left: by a click into the next one, or on a button."""
    form = open_form(editor, "tools.json")
    form.get_by_role("button", name="Add write tool").click()
    form.get_by_role("button", name="Add argument").click()
    argument = form.locator(".property").first
    expect(argument.get_by_role("textbox", name="Name", exact=True)).to_be_focused()
    editor.keyboard.type("plant")
    argument.get_by_role("textbox", name="Description", exact=True).click()
    expect(argument.get_by_role("textbox", name="Description", exact=True)).to_be_focused()
    editor.keyboard.type("Which one.")
    expect(form.get_by_role("button", name="Remove argument plant")).to_be_visible()
    name = argument.get_by_role("textbox", name="Name", exact=True)
    name.fill("flower")
    form.get_by_role("button", name="Add argument").click()
    editor.keyboard.type("day")
    editor.keyboard.press("Tab")
    schema = _json(editor, "tools_json")[0]["args_schema"]
    assert schema["properties"] == {
        "flower": {"type": "string", "description": "Which one."},
        "day": {"type": "string", "description": ""},
    }
    name.fill("tree")
    argument.get_by_role("checkbox", name="Required").click()
    schema = _json(editor, "tools_json")[0]["args_schema"]
    assert (list(schema["properties"]), schema["required"]) == (["tree", "day"], ["tree"])


def test_the_form_and_the_text_stay_in_step(editor: Page) -> None:
    area = open_file(editor, "capability.json")
    form = open_form(editor, "capability.json")
    form.get_by_role("textbox", name="Name", exact=True).fill("From the form")
    open_file(editor, "capability.json")
    expect(area).to_contain_text('"name": "From the form"')
    put(editor, "capability.json", texts_of(editor)["capability_json"].replace("From the form", "From the text"))
    area.press("Control+z")
    open_form(editor, "capability.json")
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_have_value("From the form")


def test_a_mend_is_one_click_and_can_be_taken_back(editor: Page) -> None:
    put(editor, "skill.md", "# Title\n\n## When to use\n\nAlways 🍎.\n\n## Examples\n\nNone.\n")
    editor.get_by_role("button", name="Add Default behavior").first.click()
    assert "## Default behavior\n\nDescribe the usual steps." in texts_of(editor)["skill_md"]
    _no_findings(editor)
    area = open_file(editor, "tools.json")
    area.fill('[1, "🍎",\n]')
    editor.get_by_role("button", name="Remove the comma").first.click()
    assert texts_of(editor)["tools_json"] == '[1, "🍎"\n]'
    area.press("Control+z")
    assert texts_of(editor)["tools_json"] == '[1, "🍎",\n]'
    expect_state(editor, "Unsaved changes")


def test_keys_are_completed_and_explained_from_the_schemas(editor: Page) -> None:
    area = open_file(editor, "capability.json")
    area.fill("{\n  \n}")
    area.press("ArrowUp")
    area.press("End")
    area.press_sequentially('"pri')
    option = editor.get_by_role("option", name='"priority"')
    expect(option).to_be_visible()
    # A list that has just opened does not take a key yet: it may have come under somebody who types.
    editor.wait_for_timeout(200)
    area.press("Enter")
    assert '"priority": 0' in texts_of(editor)["capability_json"]
    editor.locator(".tok-propertyName").first.hover()
    expect(editor.locator(".code-help")).to_contain_text("Which hint comes first")
