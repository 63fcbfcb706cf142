"""The frame: the menu on a small screen, the command palette and the shortcuts, all by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.test_looks import in_every_form, is_accessible, looks_right
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def as_role(studio: Studio, as_role: Callable[[str], Page]) -> Callable[[str], Page]:
    """On the list of capabilities."""

    def sign(role: str) -> Page:
        page = as_role(role)
        page.goto(f"{studio.url}/capabilities/")
        return page

    return sign


def _words(page: Page) -> Locator:
    return page.get_by_role("combobox", name="A page, a capability or an action")


def _palette(page: Page) -> None:
    # A key that is pressed before a page has its scripts does nothing.
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    expect(_words(page)).to_be_focused()


def test_the_palette_leads_to_a_page_and_to_a_capability(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    _palette(page)
    page.keyboard.type("playg")
    expect(page.locator("#palette-found [aria-selected=true]")).to_contain_text("Playground")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{studio.url}/playground/")
    _palette(page)
    page.keyboard.type("weight")
    expect(page.locator("#palette-found [aria-selected=true]")).to_contain_text("weights")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{studio.url}/capabilities/weights/")


def test_the_palette_is_walked_through_with_arrows_and_left_with_escape(as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    finder = page.get_by_role("button", name="Search or jump to")
    finder.focus()
    page.keyboard.press("Space")
    expect(_words(page)).to_be_focused()
    first = page.locator("#palette-found li").first
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "false")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#palette-found li").last).to_have_attribute("aria-selected", "true")
    expect(_words(page)).to_have_attribute("aria-activedescendant", re.compile(r"palette-\d+"))
    page.keyboard.press("Escape")
    expect(_words(page)).to_be_hidden()
    expect(finder).to_be_focused()


def test_the_palette_says_when_nothing_fits_and_when_the_server_is_away(
    as_role: Callable[[str], Page], allowed_on_console: list[str]
) -> None:
    page = as_role("viewer")
    _palette(page)
    page.keyboard.type("qqzz xxyy")
    expect(page.locator(".palette__state")).to_have_text("No results.")
    in_every_form(page, is_accessible)
    allowed_on_console.append("Failed to load resource")
    page.route("**/palette/**", lambda route: route.abort())
    _words(page).fill("play")
    expect(page.locator(".palette__state")).to_contain_text("the server cannot be reached")
    expect(page.locator("#palette-found li")).to_have_count(1)


def test_a_page_that_is_a_tab_is_reached_by_the_palette_and_by_its_keys(
    as_role: Callable[[str], Page], studio: Studio
) -> None:
    page = as_role("admin")
    _palette(page)
    page.keyboard.type("audit")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{studio.url}/audit/")
    tabs = page.get_by_role("navigation", name="Pages of this section")
    expect(tabs.get_by_role("link", name="Audit log")).to_have_attribute("aria-current", "page")
    tabs.get_by_role("link", name="API keys").click()
    expect(page).to_have_url(f"{studio.url}/keys/")
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page).to_have_url(f"{studio.url}/feedback/")


def test_the_menu_of_the_account_closes_with_escape_and_by_a_click_beside_it(as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    account = page.locator("summary", has_text="the-viewer")
    leave = page.get_by_role("button", name="Sign out")
    expect(leave).to_be_hidden()
    account.click()
    expect(leave).to_be_visible()
    looks_right(page, "account")
    page.keyboard.press("Escape")
    expect(leave).to_be_hidden()
    expect(account).to_be_focused()
    account.click()
    page.get_by_role("heading", level=1).click()
    expect(leave).to_be_hidden()


def test_what_an_author_wrote_is_text_in_the_palette(as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    page.route(
        "**/palette/**",
        lambda route: route.fulfill(json={"found": [{"label": "<img src=x>", "note": "<b>", "url": "/capabilities/"}]}),
    )
    _palette(page)
    page.keyboard.type("zz")
    expect(page.locator("#palette-found li")).to_contain_text("<img src=x>")
    expect(page.locator("#palette-found li").locator("img")).to_have_count(0)


def test_keys_lead_to_pages_until_they_are_switched_off(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page).to_have_url(f"{studio.url}/incidents/")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page).to_have_url(f"{studio.url}/capabilities/")
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    page.keyboard.type("g h?")
    expect(search).to_have_value("g h?")
    search.blur()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("Playground")
    in_every_form(page, is_accessible)
    page.get_by_label("Enable single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("?")
    page.reload()
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    # Ctrl+K is not a single key.
    _palette(page)


def test_on_a_phone_the_menu_opens_by_keyboard_and_closes_with_escape(as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    page.set_viewport_size({"width": 390, "height": 844})
    link = page.get_by_role("navigation", name="Studio").get_by_role("link", name="Playground")
    expect(link).to_be_hidden()
    menu = page.get_by_role("button", name="Open menu")
    menu.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    # The drawer lies over the page.
    is_accessible(page, "menu, light")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    is_accessible(page, "menu, dark")
    link.focus()
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(menu).to_be_focused()


def test_on_a_phone_the_tab_of_the_page_is_in_view(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("admin")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{studio.url}/teams/")
    tab = page.get_by_role("navigation", name="Pages of this section").locator("[aria-current]")
    for address in ("/settings/data/", "/audit/"):
        page.goto(f"{studio.url}{address}")
        expect(tab).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0


def test_tab_goes_through_the_whole_page_and_out_again(as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    seen = []
    for _ in range(80):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.outerHTML.slice(0, 120)"))
        if seen[-1].startswith("<body"):
            break
    # Each place once, and after the last one the browser's own controls.
    assert seen[-1].startswith("<body")
    assert len(set(seen)) == len(seen) > 10


def test_the_frame_fits_every_width(as_role: Callable[[str], Page]) -> None:
    page = as_role("admin")

    def check(width: int) -> None:
        page.set_viewport_size({"width": width, "height": 900})
        looks_right(page, str(width))

    check_each((320, 390, 768, 1000, 1440, 2560), check)


def test_without_scripts_the_menu_and_the_way_out_are_there(
    studio: Studio, as_role: Callable[[str], Page], browser: object
) -> None:
    cookies = as_role("viewer").context.cookies()
    with browser.new_context(java_script_enabled=False) as context:  # type: ignore[attr-defined]
        context.add_cookies(cookies)
        page = context.new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{studio.url}/capabilities/")
        page.get_by_role("button", name="Open menu").click()
        page.get_by_role("navigation", name="Studio").get_by_role("link", name="Incidents").click()
        expect(page).to_have_url(f"{studio.url}/incidents/")
        expect(page.get_by_role("link", name="Search or jump to")).to_be_visible()
