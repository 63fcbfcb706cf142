"""Saving by itself, copies in the browser, and two people on one draft: nobody ever loses text."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.steps import (
    AUTOSAVE_OFF,
    PASSWORD,
    create,
    expect_state,
    open_file,
    open_form,
    put,
    save,
    sign_in,
    texts_of,
)

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
TYPED = "# Typed\n\nNobody may lose this.\n"


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of a capability of its own, which saves by itself."""
    page = as_role("publisher")
    create(page, studio.url, f"saving_{next(_numbers)}")
    return page


def test_it_saves_by_itself_when_nobody_types_any_more(editor: Page) -> None:
    open_file(editor, "skill.md").fill(TYPED)
    expect_state(editor, "Unsaved changes")
    expect(editor.locator(".save-words")).to_have_text("Saved just now", timeout=15_000)
    editor.reload()
    assert texts_of(editor)["skill_md"] == TYPED


def test_what_was_just_typed_is_tested(editor: Page, allowed_on_console: list[str]) -> None:
    open_form(editor, "capability.json")
    editor.locator("[data-at=name]").fill("Renamed a moment ago")
    with editor.context.expect_page() as opened:
        editor.get_by_role("link", name="Test (opens in a new tab)").click()
    playground = opened.value
    playground.wait_for_url("**/playground/**")
    playground.get_by_role("textbox", name="User message").fill("saving")
    playground.get_by_role("button", name="Send").click()
    expect(playground.locator(":visible", has_text="Renamed a moment ago").last).to_be_visible()
    expect(editor.locator(".save-words")).to_have_text("Saved just now")
    # What was not saved is not tested, and no empty tab is left.
    allowed_on_console += ["403"]
    editor.route("**/save/**", lambda route: route.fulfill(status=403, body=""))
    editor.locator("[data-at=name]").fill("Never saved")
    with editor.context.expect_page() as refused:
        editor.get_by_role("link", name="Test (opens in a new tab)").click()
    if not refused.value.is_closed():
        refused.value.wait_for_event("close")


def test_it_tries_again_when_the_server_is_back(editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console += ["ERR_CONNECTION_REFUSED", "htmx:sendError", "htmx:afterRequest"]
    editor.route("**/draft/*/", lambda route: route.abort("connectionrefused"))
    open_file(editor, "skill.md").fill(TYPED)
    expect(editor.locator(".save-words")).to_have_text("Couldn't save", timeout=15_000)
    editor.unroute("**/draft/*/")
    expect(editor.locator(".save-words")).to_have_text("Saved just now", timeout=20_000)


def test_what_a_crash_left_behind_is_offered_and_comes_back(editor: Page) -> None:
    editor.context.add_init_script(AUTOSAVE_OFF)
    editor.reload()
    open_file(editor, "skill.md").fill(TYPED)
    editor.wait_for_timeout(800)
    again = editor.context.new_page()
    again.goto(editor.url)
    expect(again.get_by_text("Unsaved changes from")).to_have_count(0)
    again.close()
    # A page that is closed without a word, as by a crash.
    address, context = editor.url, editor.context
    editor.close(run_before_unload=False)
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_text(re.compile(r"Unsaved changes from .*: skill\.md"))).to_be_visible()
    assert texts_of(page)["skill_md"] != TYPED
    page.get_by_role("button", name="Restore", exact=True).click()
    assert texts_of(page)["skill_md"] == TYPED
    expect_state(page, "Unsaved changes")
    save(page)
    page.reload()
    expect(page.get_by_text("Unsaved changes from")).to_have_count(0)
    assert texts_of(page)["skill_md"] == TYPED


def test_what_was_left_behind_can_be_thrown_away(editor: Page) -> None:
    editor.context.add_init_script(AUTOSAVE_OFF)
    editor.reload()
    open_file(editor, "skill.md").fill(TYPED)
    editor.wait_for_timeout(800)
    address, context = editor.url, editor.context
    editor.close(run_before_unload=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Discard", exact=True).click()
    page.reload()
    expect(page.locator("#editor")).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.get_by_text("Unsaved changes from")).to_have_count(0)


def test_saving_by_itself_never_takes_anybody_away_and_the_two_are_merged(
    editor: Page, allowed_on_console: list[str]
) -> None:
    allowed_on_console.append("409")
    base = "# Title\n\n## When to use\n\nAlways.\n\n## Default behavior\n\nNothing.\n\n## Examples\n\nNone.\n"
    put(editor, "skill.md", base)
    save(editor)
    other = editor.context.new_page()
    other.goto(editor.url)
    put(other, "skill.md", base.replace("Always.", "Theirs.").replace("None.", "Theirs, too."))
    save(other)
    put(editor, "skill.md", base.replace("Nothing.", "Mine.").replace("None.", "Mine, too."))
    expect(editor.get_by_text("You saved this draft in another tab after you opened it")).to_be_visible(timeout=15_000)
    assert "Mine." in texts_of(editor)["skill_md"]
    editor.get_by_role("button", name="Compare and merge").click()
    expect(editor.get_by_role("heading", name="You saved this draft in another tab")).to_be_visible()
    expect(editor.get_by_text("1 to resolve")).to_be_visible()
    expect(editor.get_by_text("Only you changed this")).to_be_visible()
    expect(editor.get_by_text("Only they changed this")).to_be_visible()
    editor.get_by_role("radio", name="Both, yours first").check()
    editor.get_by_role("button", name="Merge versions").click()
    expect(editor.get_by_text("Versions merged.")).to_be_visible()
    merged = base.replace("Always.", "Theirs.").replace("Nothing.", "Mine.")
    assert texts_of(editor)["skill_md"] == merged.replace("None.\n", "Mine, too.\nTheirs, too.\n")
    editor.wait_for_timeout(300)
    expect(editor.get_by_text("Unsaved changes from")).to_have_count(0)


def _capability(editor: Page) -> str:
    return editor.url.split("/")[4]


def _saved_text(page: Page, studio: Studio, capability_id: str) -> str:
    """What the server has, read without the copies of a browser."""
    response = page.request.get(f"{studio.url}/capabilities/{capability_id}/edit/")
    return html.unescape(response.text()).partition('name="skill_md"')[2].partition("</textarea>")[0]


def test_a_link_waits_for_what_was_just_typed(editor: Page, studio: Studio) -> None:
    editor.on("dialog", lambda dialog: pytest.fail(dialog.message))
    capability_id = _capability(editor)
    open_file(editor, "skill.md").fill(TYPED)
    editor.get_by_role("link", name=re.compile("^Back to")).click()
    editor.wait_for_url(f"**/capabilities/{capability_id}/")
    assert "Nobody may lose this." in _saved_text(editor, studio, capability_id)
    expect(editor.locator("#unsaved")).to_be_hidden()


def test_a_page_that_goes_sends_what_was_just_typed(editor: Page, studio: Studio) -> None:
    editor.on("dialog", lambda dialog: pytest.fail(dialog.message))
    capability_id = _capability(editor)
    open_file(editor, "skill.md").fill(TYPED)
    # As with the address bar, or the button of the browser.
    editor.goto(f"{studio.url}/incidents/")
    for _ in range(50):
        if "Nobody may lose this." in _saved_text(editor, studio, capability_id):
            break
        editor.wait_for_timeout(100)
    else:
        pytest.fail("It was not saved.")
    editor.goto(f"{studio.url}/capabilities/{capability_id}/")
    expect(editor.locator("#unsaved")).to_be_hidden()
    editor.goto(f"{studio.url}/capabilities/{capability_id}/edit/")
    assert texts_of(editor)["skill_md"] == TYPED
    expect(editor.get_by_text("Unsaved changes from")).to_have_count(0)


def test_what_one_person_typed_is_not_saved_as_another_who_signed_in_beside_it(
    editor: Page, studio: Studio, allowed_on_console: list[str]
) -> None:
    allowed_on_console += ["403", "422"]
    capability_id = _capability(editor)
    other = editor.context.new_page()
    other.context.clear_cookies()
    sign_in(other, studio.url, "the-admin", PASSWORD)
    open_file(editor, "skill.md").fill(TYPED)
    bar = editor.locator(".editor-bar")
    expect(bar).to_contain_text("You're signed in as the-admin now.", timeout=15_000)
    assert "Nobody may lose this." not in _saved_text(other, studio, capability_id)
    assert texts_of(editor)["skill_md"] == TYPED
    bar.get_by_role("button", name="Save as the-admin").click()
    expect_state(editor, "Saved just now")
    assert "Nobody may lose this." in _saved_text(other, studio, capability_id)


def test_what_cannot_be_saved_on_leaving_is_asked_about_and_hinted_at(editor: Page, studio: Studio) -> None:
    editor.context.add_init_script(AUTOSAVE_OFF)
    editor.reload()
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    editor.on("dialog", leave)
    capability_id = _capability(editor)
    open_file(editor, "skill.md").fill(TYPED)
    editor.get_by_role("link", name=re.compile("^Back to")).click()
    editor.wait_for_url(f"**/capabilities/{capability_id}/")
    assert asked == ["beforeunload"]
    for page in ("", "publish/"):
        editor.goto(f"{studio.url}/capabilities/{capability_id}/{page}")
        expect(editor.locator("#unsaved")).to_contain_text("Unsaved changes in this browser")
        expect(editor.locator("#unsaved")).to_contain_text("skill.md")
    editor.locator("#unsaved").get_by_role("link", name="Open editor").click()
    editor.get_by_role("button", name="Restore", exact=True).click()
    save(editor)
    editor.goto(f"{studio.url}/capabilities/{capability_id}/")
    expect(editor.locator("h1")).to_be_visible()
    expect(editor.locator("#unsaved")).to_be_hidden()


@pytest.mark.rare
def test_a_bundle_of_two_mebibytes_opens_and_saves(editor: Page) -> None:
    skill = "# Large\n\n" + "A line of words that goes on for a while.\n" * 24_000
    tools = "[" + ",\n".join(json.dumps({"name": f"tool_{number}", "x": "y" * 960}) for number in range(1000)) + "]\n"
    put(editor, "skill.md", skill)
    put(editor, "tools.json", tools)
    assert 1.9 * 2**20 < len(skill) + len(tools) < 2 * 2**20
    editor.get_by_role("button", name="Save draft").click()
    expect(editor.locator(".save-words")).to_have_text("Saved just now", timeout=30_000)
    editor.reload()
    area = open_file(editor, "skill.md")
    area.press("Control+End")
    area.press_sequentially("end")
    assert texts_of(editor)["skill_md"] == skill + "end"
    assert texts_of(editor)["tools_json"] == tools
