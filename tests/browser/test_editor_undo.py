"""One click must not destroy work: what a form removes comes back by a button, by Ctrl+Z and from the draft history."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.steps import choose, create, open_file, open_form, put, save, texts_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
# As an imported skill is: long sections with code, odd spaces, and no two alike.
LINES = "".join(f"- Line {number} of *many*,  with `code` and “ä” 🌱\n" for number in range(152))
SKILL = (
    "---\nname: matchms\ndescription: Compares spectra.\n---\n\n# Matchms\n\nBefore all.\n\n"
    "## Overview\n\nShort.\n\n"
    f"##  Core Capabilities\n\n{LINES}```python\n## no heading\n```\n\n\n"
    "## Workflows\n\nLook.\n\n## Core Capabilities of others\n\nMore.\n"
)
ARGUMENTS = {
    "since": {"type": "string", "format": "date", "description": "From this day on."},
    "kind": {"type": "string", "enum": ["fat", "lean"], "description": "Which one."},
    "note": {"type": "string", "description": "What to say.", "examples": ["Hello"]},
}


def _tool(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": ARGUMENTS, "required": ["since", "kind"], "additionalProperties": False}
    return {"name": name, "description": f"Does {name}.", "args_schema": schema, "policy": {"kind": "read"}, **more}


# Written by hand: not as the form would write it.
TOOLS = f"[ {json.dumps(_tool('a_list'), indent=4)},\n  {json.dumps(_tool('a_find'))} ]\n"


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of an imported skill with two tools, which saves by itself."""
    page = as_role("publisher")
    create(page, studio.url, f"undo_{next(_numbers)}")
    put(page, "skill.md", SKILL)
    put(page, "tools.json", TOOLS)
    save(page)
    return page


def _saved(page: Page) -> None:
    """By itself: the words may stand there from the save before."""
    expect(page.locator(".save-words")).to_have_text("Unsaved changes")
    expect(page.locator(".save-words")).to_have_text("Saved just now", timeout=15_000)


def _stored(page: Page, field: str) -> str:
    """What the server has, as a second window would open it."""
    text: str = page.evaluate(
        """async (field) => {
          const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), "text/html");
          return page.querySelector(`.code [name=${field}]`).value;
        }""",
        field,
    )
    return text


def _remove_section(page: Page) -> None:
    put(page, "skill.md", re.sub(r"##  Core Capabilities\n.*?(?=## Workflows)", "", SKILL, flags=re.DOTALL))
    _saved(page)
    assert "Line 151" not in _stored(page, "skill_md")


def _remove_tool(page: Page) -> None:
    open_form(page, "tools.json").locator("details.tool").first.locator("summary").click()
    page.get_by_role("button", name="Delete tool").first.click()
    _saved(page)
    assert [one["name"] for one in json.loads(_stored(page, "tools_json"))] == ["a_find"]


def _remove_argument(page: Page) -> None:
    open_form(page, "tools.json").locator("details.tool").first.locator("summary").click()
    page.get_by_role("button", name="Remove argument kind").first.click()
    _saved(page)
    schema = json.loads(_stored(page, "tools_json"))[0]["args_schema"]
    assert (list(schema["properties"]), schema["required"]) == (["since", "note"], ["since"])


REMOVALS = {"Tool removed": _remove_tool, "Argument removed": _remove_argument}


def _notice(page: Page) -> Locator:
    return page.locator("#editor-undo")


@pytest.mark.parametrize("way", ["button", "keys"])
def test_a_removal_is_undone_and_saved(way: str, editor: Page) -> None:
    for words, remove in REMOVALS.items():
        remove(editor)
        expect(editor.locator("#editor-undo[role=status]").get_by_text(words)).to_be_visible()
        if way == "button":
            _notice(editor).get_by_role("button", name="Undo").click()
        else:
            editor.keyboard.press("Control+z")
        assert texts_of(editor)["tools_json"] == TOOLS
        expect(_notice(editor)).to_be_empty()
        _saved(editor)
        assert _stored(editor, "tools_json") == TOOLS
        editor.reload()


def test_three_removals_are_undone_one_by_one(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    form.locator("details.tool").first.locator("summary").click()
    for name in ARGUMENTS:
        form.get_by_role("button", name=f"Remove argument {name}").first.click()
    texts = []
    for _ in range(3):
        editor.keyboard.press("Control+z")
        texts.append(texts_of(editor)["tools_json"])
    assert texts[2] == TOOLS
    assert list(json.loads(texts[0])[0]["args_schema"]["properties"]) == ["note"]
    editor.keyboard.press("Control+z")
    assert texts_of(editor)["tools_json"] == TOOLS


def test_an_argument_comes_back_among_words_typed_since(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    form.locator("details.tool").first.locator("summary").click()
    form.get_by_role("button", name="Remove argument kind").first.click()
    form.get_by_role("textbox", name="Description", exact=True).nth(2).fill("Typed since.")
    _notice(editor).get_by_role("button", name="Undo").click()
    assert texts_of(editor)["tools_json"] == TOOLS.replace("What to say.", "Typed since.", 1)


def _first_tool(page: Page) -> Locator:
    form = open_form(page, "tools.json")
    form.locator("details.tool").first.locator("summary").click()
    return form


def test_by_keys_alone_the_notice_has_the_focus_and_gives_it_back(editor: Page) -> None:
    remove = _first_tool(editor).get_by_role("button", name="Remove argument kind").first
    remove.focus()
    editor.keyboard.press("Enter")
    expect(_notice(editor).get_by_role("button", name="Undo")).to_be_focused()
    editor.keyboard.press("Enter")
    assert texts_of(editor)["tools_json"] == TOOLS
    expect(remove).to_be_focused()


def test_in_a_text_field_the_keys_belong_to_the_field(editor: Page) -> None:
    form = _first_tool(editor)
    form.get_by_role("button", name="Remove argument kind").first.click()
    box = form.get_by_role("textbox", name="Description", exact=True).nth(1)
    before = box.input_value()
    box.press("End")
    typed = " typed"
    box.press_sequentially(typed)
    # Chromium takes back a letter at a time where a page reads the field at each letter.
    for _ in typed:
        box.press("Control+z")
    expect(box).to_have_value(before)
    assert list(json.loads(texts_of(editor)["tools_json"])[0]["args_schema"]["properties"]) == ["since", "note"]
    expect(_notice(editor)).to_contain_text("Argument removed")


def test_the_notice_stays_until_the_next_change_of_structure(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    form.locator("details.tool").first.locator("summary").click()
    form.get_by_role("button", name="Delete tool").first.click()
    editor.wait_for_timeout(11_000)
    expect(_notice(editor)).to_contain_text("Tool removed")
    form.get_by_role("button", name="Add read tool").click()
    expect(_notice(editor)).to_be_empty()
    # Outside of the field that has the focus now; first the tool that was added goes, then the other comes back.
    form.locator("summary").first.focus()
    editor.keyboard.press("Control+z")
    editor.keyboard.press("Control+z")
    assert texts_of(editor)["tools_json"] == TOOLS


def test_the_notice_is_dismissed(editor: Page) -> None:
    _first_tool(editor).get_by_role("button", name="Remove argument kind").first.click()
    _notice(editor).get_by_role("button", name="Dismiss").click()
    expect(_notice(editor)).to_be_empty()


def test_from_another_file_undo_leads_back(editor: Page) -> None:
    _first_tool(editor).get_by_role("button", name="Remove argument kind").first.click()
    choose(editor, "skill.md")
    _notice(editor).get_by_role("button", name="Undo").click()
    expect(editor.locator("#outline a.outline__head[data-file='tools.json']")).to_have_attribute("aria-current", "true")
    assert texts_of(editor)["tools_json"] == TOOLS


def test_in_the_code_the_form_is_undone_once(editor: Page) -> None:
    """The code editor has an undo of its own: what it took back is not put back a second time."""
    code = open_file(editor, "tools.json")
    _first_tool(editor).get_by_role("button", name="Remove argument kind").first.click()
    open_file(editor, "tools.json")
    code.click()
    code.press("Control+z")
    assert texts_of(editor)["tools_json"] == TOOLS
    expect(_notice(editor)).to_be_empty()


def test_phrases_and_forms_come_back_too(editor: Page) -> None:
    form = open_form(editor, "capability.json")
    before = texts_of(editor)["capability_json"]
    chip = form.locator(".chip button").first
    name = (chip.get_attribute("aria-label") or "").removeprefix("Remove ")
    chip.click()
    expect(_notice(editor)).to_contain_text(f"{name} removed")
    _notice(editor).get_by_role("button", name="Undo").click()
    assert texts_of(editor)["capability_json"] == before


def test_a_removed_section_comes_back_from_the_draft_history(editor: Page) -> None:
    _remove_section(editor)
    editor.reload()
    editor.get_by_role("link", name="Draft history").click()
    row = editor.get_by_role("row").filter(has_text="1 section removed")
    row.get_by_role("link").click()
    editor.get_by_role("button", name="Restore version").click()
    expect(editor.get_by_text("restored.")).to_be_visible()
    assert texts_of(editor)["skill_md"] == SKILL


def test_a_discarded_draft_comes_back_from_the_draft_history(editor: Page) -> None:
    editor.reload()
    address = editor.url
    editor.get_by_role("button", name="Discard draft").click()
    expect(editor.get_by_role("dialog").get_by_role("heading")).to_contain_text("Discard draft of")
    editor.get_by_role("dialog").get_by_role("button", name="Discard draft").click()
    editor.get_by_role("link", name="Draft history").click()
    expect(editor).to_have_url(address.replace("/edit/", "/draft/history/"))
    editor.get_by_role("row").filter(has_text="Discarded").get_by_role("link").click()
    editor.get_by_role("button", name="Restore version").click()
    expect(editor).to_have_url(address)
    assert (texts_of(editor)["skill_md"], texts_of(editor)["tools_json"]) == (SKILL, TOOLS)
    area = open_file(editor, "skill.md")
    expect(area).to_contain_text("Matchms")
