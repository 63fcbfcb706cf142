"""The editor in a real browser: nothing that somebody typed is lost."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.steps import (
    AUTOSAVE_OFF,
    PASSWORD,
    caret,
    create,
    expect_state,
    open_file,
    put,
    save,
    sign_in,
    texts_of,
)
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page, Route

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
TYPED = "# Typed\n\nNobody may lose this.\n"


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of a capability of its own, which saves when it is told to."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    create(page, studio.url, f"test_{next(_numbers)}")
    return page


def test_a_finding_leads_to_line_and_column_in_code_points(editor: Page) -> None:
    for text, place in (
        ('[\n  {"name": "🍎🍎🍎", }]\n', (2, 19)),
        ('[{"a": "e\u0301𝒳",}]', (1, 14)),
        ("\n\n\n   {", (4, 5)),
    ):
        area = open_file(editor, "tools.json")
        area.fill(text)
        link = editor.locator("#findings").get_by_role("link", name=f"tools.json:{place[0]}:{place[1]}")
        expect(link.first).to_be_visible()
        open_file(editor, "capability.json")
        link.first.click()
        expect(area).to_be_focused()
        assert caret(editor, "tools.json") == place


def test_the_place_is_brought_into_sight(editor: Page) -> None:
    area = open_file(editor, "tools.json")
    area.fill("[\n" + "1,\n" * 400 + '"' + "x" * 600 + '" oops\n]')
    editor.get_by_role("link", name="tools.json:402:").first.click()
    expect(area).to_be_focused()
    scroller = editor.locator("#panel-tools_json .cm-scroller")
    top, left = scroller.evaluate("area => [area.scrollTop, area.scrollLeft]")
    assert top > 2000
    assert left > 500
    line = editor.locator("#panel-tools_json .cm-activeLine")
    expect(line).to_be_in_viewport()
    expect(editor.locator("#panel-tools_json .cm-activeLineGutter").last).to_be_in_viewport()
    expect(editor.locator("#panel-tools_json .cm-lint-marker-error")).to_be_visible()
    expect(editor.locator("#panel-tools_json .cm-lintRange-error").first).to_be_visible()


def test_an_address_with_a_place_opens_there(editor: Page) -> None:
    open_file(editor, "tools.json").fill("[\n  1,\n]")
    save(editor)
    editor.goto(editor.url.replace("/edit/", "/publish/"))
    editor.get_by_role("link", name="tools.json:3:1").click()
    expect(editor.get_by_role("textbox", name="tools.json", exact=True)).to_be_focused()
    assert caret(editor, "tools.json") == (3, 1)


def test_every_byte_survives_the_browser(editor: Page) -> None:
    text = "\n\n leading newlines\n\ttabs\t and trailing spaces   \n🍎 \u202e\u2028 </textarea>&amp;\n\n\n"
    before = texts_of(editor)
    open_file(editor, "skill.md").fill(text)
    save(editor)
    for _ in range(2):
        editor.reload()
        assert texts_of(editor) == before | {"skill_md": text}
        editor.get_by_role("button", name="Save draft").click()
        expect_state(editor, "Saved just now")


def test_control_s_saves(editor: Page) -> None:
    area = open_file(editor, "skill.md")
    area.fill(TYPED)
    expect_state(editor, "Unsaved changes")
    area.press("Control+s")
    expect_state(editor, "Saved just now")
    editor.reload()
    assert texts_of(editor)["skill_md"] == TYPED


def test_leaving_asks_only_where_something_is_unsaved(editor: Page) -> None:
    asked: list[str] = []

    def agree(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    editor.on("dialog", agree)
    area = open_file(editor, "skill.md")
    area.press("Control+End")
    area.press_sequentially("x")
    area.press("Backspace")
    editor.reload()
    assert asked == []
    area = open_file(editor, "skill.md")
    area.press_sequentially("x")
    editor.reload()
    assert asked == ["beforeunload"]
    open_file(editor, "skill.md").press_sequentially("y")
    save(editor)
    editor.reload()
    editor.get_by_role("button", name="Discard draft").click()
    editor.get_by_role("dialog").get_by_role("button", name="Discard draft").click()
    expect(editor.get_by_text("Draft discarded.")).to_be_visible()
    assert asked == ["beforeunload"]


def test_what_is_typed_while_a_save_is_under_way_stays_unsaved_and_can_be_saved(editor: Page) -> None:
    """The check that runs beside a save must neither end it nor bring back the version from before it."""
    area = open_file(editor, "skill.md")

    def slowly(route: Route) -> None:
        editor.wait_for_timeout(900)
        route.continue_()

    editor.route("**/draft/save/", slowly)
    area.fill(TYPED)
    editor.get_by_role("button", name="Save draft").click()
    area.press("Control+End")
    area.press_sequentially("And more.")
    expect_state(editor, "Unsaved changes")
    editor.wait_for_timeout(1500)
    expect_state(editor, "Unsaved changes")
    editor.unroute("**/draft/save/")
    save(editor)
    editor.reload()
    assert texts_of(editor)["skill_md"] == TYPED + "And more."


def test_saving_twice_in_a_row_is_no_conflict_with_oneself(editor: Page) -> None:
    area = open_file(editor, "skill.md")
    for number in range(4):
        area.fill(f"{TYPED}{number}")
        area.press("Control+s")
    expect_state(editor, "Saved just now")
    editor.wait_for_load_state("networkidle")
    editor.reload()
    assert texts_of(editor)["skill_md"] == f"{TYPED}3"


def test_coming_back_from_the_review_goes_on_where_one_was(editor: Page) -> None:
    open_file(editor, "skill.md").fill(TYPED)
    editor.get_by_role("button", name="Review & publish").click()
    expect(editor.get_by_role("heading", level=1, name="Publish")).to_be_visible()
    editor.go_back()
    assert texts_of(editor)["skill_md"] == TYPED
    open_file(editor, "skill.md").fill(f"{TYPED}More.")
    save(editor)


@pytest.mark.parametrize("keeps_mine", [True, False])
def test_two_tabs_show_both_texts(keeps_mine: bool, editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console.append("409")
    other = editor.context.new_page()
    other.goto(editor.url)
    address = editor.url
    open_file(other, "skill.md").fill("# Theirs\n")
    save(other)
    open_file(editor, "skill.md").fill(TYPED)
    editor.get_by_role("button", name="Save draft").click()
    expect(editor.get_by_role("heading", name="You saved this draft in another tab")).to_be_visible()
    expect(editor.get_by_label("Yours").get_by_text("Nobody may lose this.")).to_be_visible()
    expect(editor.get_by_label("Theirs").get_by_text("# Theirs")).to_be_visible()
    editor.get_by_role("button" if keeps_mine else "link", name="Keep mine" if keeps_mine else "Keep theirs").click()
    expect(editor).to_have_url(address)
    assert texts_of(editor)["skill_md"] == (TYPED if keeps_mine else "# Theirs\n")
    save(editor)


def test_a_conflict_can_be_reloaded_without_an_error(editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console.append("409")
    other = editor.context.new_page()
    other.goto(editor.url)
    save(other)
    address = editor.url
    editor.get_by_role("button", name="Save draft").click()
    expect(editor.get_by_role("heading", name="You saved this draft in another tab")).to_be_visible()
    editor.goto(editor.url)
    expect(editor).to_have_url(address)


def test_who_is_signed_out_loses_nothing_and_saves_after_signing_in(
    editor: Page, studio: Studio, allowed_on_console: list[str]
) -> None:
    allowed_on_console += ["401", "403"]
    other = editor.context.new_page()
    other.goto(f"{studio.url}/capabilities/")
    other.locator("summary", has_text="Account").click()
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    area = open_file(editor, "skill.md")
    area.fill(TYPED)
    editor.get_by_role("button", name="Save draft").click()
    notice = editor.get_by_role("alert").filter(has_text="You've been signed out.")
    expect(notice).to_be_visible()
    expect_state(editor, "Couldn't save")
    assert texts_of(editor)["skill_md"] == TYPED
    with editor.context.expect_page() as opened:
        notice.get_by_role("link", name="Sign in in another tab").click()
    sign_in(opened.value, studio.url, "the-publisher", PASSWORD)
    save(editor)
    expect(notice).to_be_hidden()
    editor.reload()
    assert texts_of(editor)["skill_md"] == TYPED


@pytest.mark.parametrize("button", ["Save draft", "Review & publish"])
def test_a_browser_that_forgot_its_cookies_loses_nothing(
    button: str, editor: Page, allowed_on_console: list[str]
) -> None:
    allowed_on_console += ["401", "403"]
    area = open_file(editor, "skill.md")
    area.fill(TYPED)
    editor.context.clear_cookies()
    editor.get_by_role("button", name=button).click()
    expect(editor.get_by_text("You've been signed out.")).to_be_visible()
    assert texts_of(editor)["skill_md"] == TYPED


def test_a_server_that_is_gone_is_said_and_the_text_stays(editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console += ["ERR_CONNECTION_REFUSED", "htmx:sendError", "htmx:afterRequest"]
    area = open_file(editor, "skill.md")
    for path in ("check", "save"):
        typed = f"{TYPED}{path}\n"
        editor.route(f"**/draft/{path}/", lambda route: route.abort("connectionrefused"))
        area.fill(typed)
        if path == "save":
            area.press("Control+s")
        expect(editor.get_by_text("Can't reach the server.")).to_be_visible()
        assert texts_of(editor)["skill_md"] == typed
        editor.unroute(f"**/draft/{path}/")
        save(editor)
        expect(editor.get_by_text("Can't reach the server.")).to_be_hidden()


# A page of the server's own, with a reason and without, and one for which there are words here.
_FAULTS = {
    "500": (500, "<p>no</p>", "Something went wrong"),
    "503 with a reason": (503, '<p id="why">The disk is full.</p>', "The disk is full. What you typed is still here."),
    "503": (503, "<p>no</p>", "Something went wrong"),
    "404": (404, "<p>no</p>", "no longer on the server"),
}


def test_a_fault_of_the_server_is_said_and_the_text_stays(editor: Page, allowed_on_console: list[str]) -> None:
    area = open_file(editor, "skill.md")

    def check(name: str) -> None:
        status, body, words = _FAULTS[name]
        allowed_on_console.append(str(status))
        typed = f"{TYPED}{name}\n"
        editor.route("**/draft/save/", lambda route: route.fulfill(status=status, body=body))
        area.fill(typed)
        with editor.expect_response("**/draft/check/"):
            editor.get_by_role("button", name="Review & publish").click()
            expect(editor.get_by_role("alert").filter(has_text=words)).to_be_visible()
        expect(editor.get_by_text("The section 'Examples' is missing")).to_be_visible()
        expect(editor.get_by_role("alert").filter(has_text=words)).to_be_visible()
        assert texts_of(editor)["skill_md"] == typed
        editor.unroute("**/draft/save/")
        save(editor)
        expect(editor.locator("#editor")).to_be_visible()

    check_each(_FAULTS, check)


def test_a_text_that_is_too_large_is_said_and_stays(editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console.append("422")
    area = open_file(editor, "skill.md")
    put(editor, "skill.md", "x" * (1024 * 1024 + 1))
    # The check of what was typed takes the place of the refusal where it comes after it.
    expect(editor.locator("#findings").get_by_text("FILE_TOO_LARGE")).to_be_visible(timeout=30_000)
    editor.get_by_role("button", name="Save draft").click()
    # A save that finds all checks busy is sent once more after some seconds.
    expect(editor.get_by_text("Couldn't save: skill.md is too large")).to_be_visible(timeout=30_000)
    expect_state(editor, "Couldn't save")
    assert len(texts_of(editor)["skill_md"]) == 1024 * 1024 + 1
    area.fill(TYPED)
    save(editor)


def test_what_no_server_would_read_is_said_and_stays(editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console += ["400", "ERR_"]
    area = open_file(editor, "skill.md")
    put(editor, "skill.md", "ü" * (2 * 1024 * 1024))
    editor.get_by_role("button", name="Save draft").click()
    expect(editor.get_by_role("alert").filter(has_text="at most 2 MiB together")).to_be_visible()
    assert len(texts_of(editor)["skill_md"]) == 2 * 1024 * 1024
    area.fill(TYPED)
    save(editor)


def test_the_parts_are_reached_by_keyboard_alone(editor: Page) -> None:
    open_file(editor, "capability.json")
    outline = editor.get_by_role("navigation", name="Outline")
    outline.get_by_role("link", name="Details").focus()
    parts = editor.locator("#outline a[data-file='capability.json'][data-part], #outline a[data-file='skill.md']").all()
    for link in parts:
        editor.keyboard.press("Tab")
        expect(link).to_be_focused()
    for link in (
        outline.get_by_role("link", name="Tools", exact=True).first,
        outline.get_by_role("link", name="Forms", exact=True),
    ):
        link.focus()
        editor.keyboard.press("Enter")
        expect(link).to_be_focused()
        expect(outline.locator("[aria-current]")).to_have_count(1)
        expect(link).to_have_attribute("aria-current", "true")
    editor.locator("#outline a[data-file='skill.md']").first.focus()
    editor.keyboard.press("Enter")
    expect(editor.locator("#panel-skill_md")).to_be_visible()
    editor.get_by_role("button", name="Code", exact=True).focus()
    editor.keyboard.press("Tab")
    expect(editor.get_by_role("button", name="Save draft")).to_be_focused()
    area = editor.get_by_role("textbox", name="skill.md", exact=True)
    area.focus()
    editor.keyboard.press("Control+End")
    editor.keyboard.type("typed")
    editor.keyboard.press("Shift+Tab")
    expect(area).not_to_be_focused()
    assert texts_of(editor)["skill_md"].endswith("typed")
    save(editor)


def test_a_file_of_twenty_thousand_lines_can_be_typed_in(editor: Page) -> None:
    area = open_file(editor, "skill.md")
    put(editor, "skill.md", "a line\n" * 20_000)
    area.press("Control+End")
    began = time.monotonic()
    area.press_sequentially("typed here")
    assert time.monotonic() - began < 30
    expect(editor.locator("#panel-skill_md .cm-lineNumbers")).to_contain_text("20001")
    assert texts_of(editor)["skill_md"].endswith("a line\ntyped here")


def test_without_scripts_the_four_files_stand_below_each_other(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("publisher")
    browser = page.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(f"{studio.url}/capabilities/weights/edit/")
    for name in ("capability_json", "skill_md", "tools_json", "ui_schemas_json"):
        expect(plain.locator(f"#{name}")).to_be_visible()
        # As wide as the page leaves it: a line of a skill doc does not fit into a column of twenty letters.
        assert plain.locator(f"#{name}").evaluate("area => area.offsetWidth / area.parentElement.offsetWidth") > 0.95
    expect(plain.get_by_role("tab")).to_have_count(0)
    plain.locator("#skill_md").press("Control+End")
    plain.locator("#skill_md").press_sequentially("One more line.\n")
    plain.get_by_role("button", name="Save draft").click()
    expect(plain.get_by_text("Draft saved.")).to_be_visible()
    plain.get_by_role("button", name="Review & publish").click()
    expect(plain.locator(".sides ins").filter(has_text="One more line.")).to_be_visible()
    assert plain.locator(".diff").count() == 1
    context.close()
