"""The editor's shell: the bar that stays, the outline, the preview that follows it, and issues by kind."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, caret, choose, create, put, texts_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_numbers = itertools.count(1)


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of the weights, which stores nothing by itself."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    page.goto(f"{studio.url}/capabilities/weights/edit/")
    return page


def test_the_bar_is_on_screen_at_every_scroll_position(editor: Page) -> None:
    controls = [
        editor.get_by_role("heading", level=1),
        editor.locator(".save-words"),
        editor.get_by_role("link", name="Test (opens in a new tab)"),
        editor.get_by_role("button", name="Save draft"),
        editor.get_by_role("button", name="Review & publish"),
    ]
    for width in (390, 1440):
        editor.set_viewport_size({"width": width, "height": 844})
        # The longest text, and a form.
        for file in ("skill.md", "tools.json"):
            choose(editor, file)
            for part in (0, 0.5, 1):
                editor.evaluate("part => scrollTo(0, part * document.documentElement.scrollHeight)", part)
                for control in controls:
                    expect(control).to_be_in_viewport(ratio=1)
        assert editor.evaluate("document.documentElement.scrollWidth") == width


def test_the_outline_leads_to_each_part_and_the_preview_follows(editor: Page) -> None:
    outline = editor.get_by_role("navigation", name="Outline")
    outline.get_by_role("link", name="Examples").click()
    document = editor.get_by_role("textbox", name="Instructions", exact=True)
    expect(document).to_be_focused()
    line, _ = caret(editor, "skill.md")
    assert texts_of(editor)["skill_md"].split("\n")[line - 1].startswith("**User:**")
    expect(editor.locator("#view-findings")).to_have_attribute("aria-selected", "true")
    outline.get_by_role("link", name="weight_trend_get (read-only)").click()
    expect(editor.locator("details.tool")).to_have_count(1)
    expect(editor.get_by_role("textbox", name="Name").first).to_have_value("weight_trend_get")
    expect(editor.locator("pre.prompt")).to_contain_text("weight_trend_get")
    outline.get_by_role("link", name="Review weigh-ins").click()
    drawn = editor.locator("iframe.preview-form")
    expect(drawn).to_have_attribute("title", "Form WeightBatchEditor.v1")
    outline.get_by_role("link", name="Log a weigh-in").click()
    expect(drawn).to_have_attribute("title", "Form WeightEntryForm.v1")
    expect(outline.locator("[aria-current]")).to_have_text("Log a weigh-in")
    expect(editor.get_by_text("ui_schemas.json", exact=True)).to_be_hidden()
    editor.get_by_role("button", name="Code", exact=True).click()
    expect(editor.get_by_text("ui_schemas.json", exact=True)).to_be_visible()
    editor.reload()
    outline.get_by_role("link", name="Review weigh-ins").click()
    expect(drawn).to_have_attribute("title", "Form WeightBatchEditor.v1")
    line, _ = caret(editor, "ui_schemas.json")
    assert line > 100


def test_a_link_of_the_outline_opens_the_form_without_its_script(editor: Page) -> None:
    """As when it is clicked before the script has come, or opened in a tab of its own."""
    outline = editor.get_by_role("navigation", name="Outline")
    for name, label, value in (
        ("Instructions", "Instructions", ""),
        ("Examples", "Instructions", ""),
        ("weight_trend_get (read-only)", "Name", "weight_trend_get"),
        ("Review weigh-ins", "Title", "Review weigh-ins"),
    ):
        address = outline.get_by_role("link", name=name).get_attribute("href")
        editor.evaluate("address => location.assign(address)", address)
        field = editor.get_by_role("textbox", name=label).first
        expect(field).to_be_visible()
        expect(editor.get_by_role("button", name="Code", exact=True)).to_have_attribute("aria-pressed", "false")
        if value:
            expect(field).to_have_value(value)


def test_the_outline_marks_where_something_is_wrong_and_keeps_the_focus(editor: Page) -> None:
    outline = editor.get_by_role("navigation", name="Outline")
    tools = json.loads(texts_of(editor)["tools_json"])
    tools[1]["description"] = ""
    link = outline.get_by_role("link", name="weight_trend_get")
    link.focus()
    put(editor, "tools.json", json.dumps(tools, indent=2))
    expect(outline.get_by_role("link", name="weight_trend_get (has errors) (read-only)")).to_be_focused()
    expect(outline.get_by_role("link", name="Tools (has errors)")).to_be_visible()
    expect(outline.get_by_role("link", name="weight_entry_list (read-only)", exact=True)).to_be_visible()
    place = editor.locator("#findings").get_by_role("link", name="Tools · weight_trend_get")
    expect(place.first).to_be_visible()


def test_issues_are_by_weight_and_kind_and_fixed_together(editor: Page, studio: Studio) -> None:
    create(editor, studio.url, f"outlined_{next(_numbers)}")
    expect(editor.locator("#findings .issue--warning").first).to_be_visible()
    tools = [{"name": f"thing_{n}_list", "description": "Lists.", "policy": {"kind": "read"}} for n in range(5)]
    put(editor, "tools.json", json.dumps(tools, indent=2))
    kind = editor.locator("li.kind").filter(has_text="Missing required field 'args_schema'")
    expect(kind.locator(".issue")).to_have_count(5)
    weights = editor.locator("#findings .issue").evaluate_all(
        "all => all.map(one => one.classList.contains('issue--error') ? 0 : 1)"
    )
    assert weights == sorted(weights)
    assert weights[0] == 0
    before = texts_of(editor)["tools_json"]
    kind.get_by_role("button", name="Fix all").click()
    expect(kind).to_have_count(0)
    assert texts_of(editor)["tools_json"].count('"args_schema"') == 5
    editor.locator("#editor-undo").get_by_role("button", name="Undo").click()
    assert texts_of(editor)["tools_json"] == before


def test_the_shell_is_accessible_and_never_wider_than_the_page(editor: Page) -> None:
    put(editor, "tools.json", json.dumps([{"name": f"thing_{n}"} for n in range(3)], indent=2))
    expect(editor.locator("li.kind").first).to_be_visible()
    for width in (1440, 768, 320):
        editor.set_viewport_size({"width": width, "height": 800})
        if width == 768:
            editor.locator(".shell__outline summary").click()
        expect(editor.locator("#outline")).to_be_visible()
        assert editor.evaluate("document.documentElement.scrollWidth") == width
        if width != 768:
            assert Axe().run(editor).response["violations"] == []


def test_of_many_tools_the_summaries_are_drawn_first(editor: Page) -> None:
    """What is in a closed card comes in slices, and at once where it is needed."""
    arguments = {f"a{number}": {"type": "string", "description": "d"} for number in range(5)}
    schema = {"type": "object", "properties": arguments, "required": [], "additionalProperties": False}
    tools = [{"name": f"tool_{number}_get", "description": "Reads.", "args_schema": schema} for number in range(80)]
    put(editor, "tools.json", json.dumps(tools, indent=2))
    choose(editor, "capability.json")
    drawn = editor.evaluate(
        "() => { document.querySelector('#outline a[data-file=\"tools.json\"]').click();"
        " const count = (selector) => document.querySelectorAll(selector).length;"
        " const cards = [count('details.tool'), count('details.tool .property')];"
        " document.querySelector('details.tool:nth-of-type(40) > summary').click();"
        " return [...cards, count('details.tool[open] .property')]; }"
    )
    assert drawn == [80, 0, 5]
    expect(editor.locator("details.tool .property")).to_have_count(400)


def test_an_outline_that_stays_as_it_is_is_not_written_again(editor: Page) -> None:
    choose(editor, "capability.json")
    editor.locator("#outline").evaluate("outline => { outline.firstElementChild.isOld = true; }")
    is_old = "document.querySelector('#outline').firstElementChild.isOld === true"
    with editor.expect_response("**/draft/check/"):
        editor.get_by_role("textbox", name="Description").first.press_sequentially("More. ")
    editor.wait_for_timeout(200)
    assert editor.evaluate(is_old)
    choose(editor, "skill.md")
    put(editor, "skill.md", "# Weights\n\n## When to use\n\nNow.\n")
    missing = editor.locator("#outline").get_by_role("link", name="Examples missing")
    expect(missing).to_be_visible()
    assert not editor.evaluate(is_old)
