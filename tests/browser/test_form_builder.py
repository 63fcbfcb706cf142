"""The form builder: a form is edited completely by its cards; the file changes by exactly those lines."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, choose, create, expect_state, put, save, texts_of
from tests.factories import to_json, tool

if TYPE_CHECKING:
    from playwright.sync_api import FrameLocator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROPERTIES = {
    "first_day": {"type": "string", "format": "date", "description": "The first day."},
    "kind": {"type": "string", "enum": ["vacation", "parental"], "description": "Which leave."},
    "days": {"type": "integer", "minimum": 1, "examples": [3], "description": "How many days."},
    "note": {"type": "string", "maxLength": 500, "description": "For the manager."},
}


@pytest.fixture
def leave(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """A draft with one tool and the form that was generated from it, saved."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    name = f"leave_{time.time_ns() % 10**9}"
    create(page, studio.url, name)
    needed = ["first_day", "kind"]
    put(page, "tools.json", to_json([tool(f"{name}_create", "write", PROPERTIES, required=needed)]))
    put(page, "skill.md", _skill(f"{name}_create"))
    choose(page, "ui_schemas.json")
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.get_by_role("group", name="Forms as a form").locator(".screen")).to_have_count(1)
    save(page)
    return page


def _skill(tool_name: str) -> str:
    form = "".join(part.capitalize() for part in tool_name.split("_"))
    return (
        "# Leave\n\n## When to use\n\n- The user wants leave.\n\n## Default behavior\n\nShow the form.\n\n"
        f"## Tools\n\n- `{tool_name}`: creates it.\n\n## UI\n\n- `{form}Form.v1`: asks for the days.\n\n"
        "## Examples\n\n**User:** I want Friday off.\n**Agent:** shows the form.\n"
    )


def _drawn(page: Page) -> FrameLocator:
    return page.frame_locator("iframe.preview-form")


def test_a_form_is_edited_completely_without_typing_json(leave: Page, studio: Studio) -> None:
    page = leave
    before = texts_of(page)["ui_schemas_json"]
    page.locator("#outline a[data-file='ui_schemas.json'][data-part]").click()
    builder = page.get_by_role("group", name="Forms as a form")
    # It is drawn as it is edited, and begins with nothing.
    expect(_drawn(page).get_by_role("button", name="Send")).to_be_visible()
    expect(_drawn(page).locator("input[type=number]")).to_have_value("")
    page.get_by_label("Sample values").check()
    expect(_drawn(page).locator("input[type=number]")).to_have_value("3")
    builder.get_by_role("button", name="Days (optional) days · Number").click()
    builder.get_by_label("Label").fill("How many days")
    builder.get_by_label("Help text").fill("Half days count as one.")
    builder.get_by_label("Help text").press("Tab")
    builder.get_by_label("Default").fill("2")
    builder.get_by_role("button", name="How many days days · Number").click()
    builder.get_by_role("button", name="Move Note (optional) up").click()
    expect(builder.get_by_role("button", name="Move Note (optional) up")).to_be_focused()
    builder.get_by_label("Submit button").fill("Submit request")
    builder.get_by_label("Second button").fill("Not now")
    expect(_drawn(page).get_by_role("button", name="Submit request")).to_be_visible()
    expect(_drawn(page).get_by_text("Half days count as one.")).to_be_visible()
    after = texts_of(page)["ui_schemas_json"]
    assert sorted(_changed(before, after)) == sorted(
        [
            *('-"note",', '+"note",', '+"days_help",'),
            *('-"label": "Days (optional)",', '-"label": "Days (optional)"'),
            *('+"label": "How many days",', '+"label": "How many days"'),
            *("+{", '+"id": "days_help",', '+"component": "Text",', '+"text": "Half days count as one.",'),
            *('+"variant": "caption"', "+},"),
            *('-"text": "Cancel"', '+"text": "Not now"', '-"text": "Send"', '+"text": "Submit request"'),
            *('-"days": "",', '+"days": "2",'),
        ]
    )
    expect(page.locator("#findings .findings-head")).to_contain_text("None")
    save(page)
    page.reload()
    assert texts_of(page)["ui_schemas_json"] == after


def _changed(before: str, after: str) -> list[str]:
    rows = difflib.ndiff(before.splitlines(), after.splitlines())
    return [row[0] + row[2:].strip() for row in rows if row[0] in "+-"]


def test_a_field_is_hidden_shown_and_undone(leave: Page) -> None:
    page = leave
    page.locator("#outline a[data-file='ui_schemas.json'][data-part]").click()
    builder = page.get_by_role("group", name="Forms as a form")
    before = texts_of(page)["ui_schemas_json"]
    builder.get_by_role("button", name="Hide Note (optional)").click()
    expect(_drawn(page).locator("textarea")).to_have_count(0)
    assert '"id": "note"' not in texts_of(page)["ui_schemas_json"]
    builder.get_by_role("button", name="Show Note").click()
    expect(builder.get_by_role("button", name="Note (optional) note · Long text")).to_be_visible()
    expect(_drawn(page).locator("textarea")).to_be_visible()
    builder.get_by_role("button", name="Hide Note (optional)").click()
    page.locator("#editor-undo").get_by_role("button", name="Undo").click()
    builder.get_by_role("button", name="Note (optional) note · Long text").click()
    builder.get_by_label("Control").select_option("shortText")
    assert '"variant": "shortText"' in texts_of(page)["ui_schemas_json"]
    expect(page.locator("#findings .findings-head")).to_contain_text("None")
    assert (
        json.loads(before)[0]["definition"]["dataModel"]
        == json.loads(texts_of(page)["ui_schemas_json"])[0]["definition"]["dataModel"]
    )
    expect_state(page, "Unsaved changes")


def test_the_builder_is_accessible_and_never_wider_than_the_page(leave: Page) -> None:
    page = leave
    choose(page, "ui_schemas.json", "/0")
    page.get_by_role("button", name="Kind kind · Options").click()
    page.get_by_role("button", name="Days (optional) days · Number").click()
    for width in (1440, 768, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert Axe().run(page).response["violations"] == []


def test_the_form_starts_empty_in_the_playground(leave: Page, studio: Studio) -> None:
    page = leave
    capability = page.locator("#editor").get_attribute("data-capability")
    page.goto(f"{studio.url}/playground/?drafts=yes&m={capability}")
    frame = page.frame_locator("iframe[title*='eave']").first
    expect(frame.locator("input[type=number]")).to_have_value("")
    expect(frame.locator("textarea")).to_have_value("")
    expect(frame.locator("input[type=date]")).to_have_value("")
