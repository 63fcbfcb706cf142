"""From page to page without a page load: what stays, what goes, and which pages are loaded whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# A mark on the window is gone when a page has been loaded.
_MARK = "window.isSamePage = true"
_IS_SAME = "Boolean(window.isSamePage)"


@pytest.fixture
def home(studio: Studio, as_role: Callable[[str], Page]) -> Page:
    """Home of an author; what `_was_swapped` finds on it later says that no page was loaded since."""
    page = as_role("author")
    page.goto(f"{studio.url}/")
    page.evaluate(_MARK)
    return page


def _was_swapped(page: Page) -> bool:
    return bool(page.evaluate(_IS_SAME))


def _sidebar(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Studio").get_by_role("link", name=name)


def _heading(page: Page, name: str) -> Locator:
    return page.get_by_role("heading", level=1, name=name)


def test_a_link_swaps_the_main_part_with_title_address_focus_and_current_entry(home: Page, studio: Studio) -> None:
    _sidebar(home, "Incidents").click()
    expect(_heading(home, "Incidents")).to_be_visible()
    expect(home).to_have_url(f"{studio.url}/incidents/")
    expect(home).to_have_title("Incidents · Capability Studio")
    expect(home.locator("#main")).to_be_focused()
    expect(_sidebar(home, "Incidents")).to_have_attribute("aria-current", "page")
    expect(_sidebar(home, "Home")).not_to_have_attribute("aria-current", re.compile("."))
    assert _was_swapped(home)


def test_styles_of_a_page_come_and_go_with_it(home: Page) -> None:
    def styles() -> list[str]:
        links = home.locator("head link[rel=stylesheet]").all()
        return sorted(re.sub(r"\.[0-9a-f]{12}", "", str(link.get_attribute("href"))) for link in links)

    def whole() -> list[str]:
        home.reload()
        home.evaluate(_MARK)
        return styles()

    at_home = whole()
    _sidebar(home, "Capabilities").click()
    expect(_heading(home, "Capabilities")).to_be_visible()
    swapped = styles()
    assert _was_swapped(home)
    assert swapped == whole() != at_home


def test_back_and_forward_lead_through_swapped_pages_to_where_one_was(home: Page, studio: Studio) -> None:
    _sidebar(home, "Capabilities").click()
    expect(_heading(home, "Capabilities")).to_be_visible()
    home.set_viewport_size({"width": 1280, "height": 300})
    link = home.locator("main a[href='/capabilities/weights/']").first
    link.scroll_into_view_if_needed()
    scrolled = home.evaluate("scrollY")
    assert scrolled
    link.click()
    expect(home).to_have_url(f"{studio.url}/capabilities/weights/")
    assert home.evaluate("scrollY") == 0
    home.go_back()
    expect(_heading(home, "Capabilities")).to_be_visible()
    assert home.evaluate("scrollY") == scrolled
    home.go_back()
    expect(home).to_have_url(f"{studio.url}/")
    home.go_forward()
    expect(_heading(home, "Capabilities")).to_be_visible()
    assert _was_swapped(home)


def test_scripts_work_on_a_page_that_was_swapped_in(home: Page) -> None:
    _sidebar(home, "Capabilities").click()
    ticks = home.locator("[data-bulk-select] input[name=chosen]")
    ticks.first.check()
    expect(home.locator("[data-chosen-count]")).to_have_text("1 selected")
    home.keyboard.press("Control+k")
    expect(home.get_by_role("combobox", name="A page, a capability or an action")).to_be_focused()
    home.keyboard.type("Weight")
    expect(home.locator("#palette-found [aria-selected=true]")).to_contain_text("Weight")


def test_forms_are_drawn_on_a_page_that_was_swapped_in(home: Page) -> None:
    _sidebar(home, "Capabilities").click()
    home.locator("main a[href='/capabilities/weights/']").first.click()
    home.locator("main a[href='/capabilities/weights/forms/']").first.click()
    expect(home.locator("[data-drawn-form].is-drawn").first).to_be_visible()
    assert _was_swapped(home)


def test_a_page_with_scripts_of_its_own_is_loaded_whole_and_asked_for_once(home: Page, studio: Studio) -> None:
    asked: list[str] = []
    home.on("request", lambda request: asked.append(request.url) if request.url.endswith("/edit/") else None)
    home.goto(f"{studio.url}/capabilities/weights/")
    home.evaluate(_MARK)
    home.locator("main").get_by_role("link", name="Edit").first.click()
    expect(home.locator("#editor.is-live")).to_be_visible()
    assert not _was_swapped(home)
    assert len(asked) == 1
    home.evaluate(_MARK)
    _sidebar(home, "Incidents").click()
    expect(_heading(home, "Incidents")).to_be_visible()
    assert not _was_swapped(home)


def test_what_was_typed_comes_back_with_the_page(home: Page, studio: Studio) -> None:
    home.goto(f"{studio.url}/capabilities/weights/files/")
    words = home.locator("textarea#text")
    words.fill("Half a text")
    _sidebar(home, "Incidents").click()
    expect(_heading(home, "Incidents")).to_be_visible()
    home.go_back()
    expect(words).to_have_value("Half a text")


def test_a_form_that_nobody_touched_holds_no_page(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("admin")
    page.goto(f"{studio.url}/keys/")
    expect(page.locator("main form[method=post] input[type=checkbox]:not([value])").first).to_be_attached()
    page.evaluate(_MARK)
    _sidebar(page, "Incidents").click()
    expect(_heading(page, "Incidents")).to_be_visible()
    assert _was_swapped(page)


def test_a_session_that_has_ended_leads_to_the_sign_in(home: Page, studio: Studio) -> None:
    home.context.clear_cookies()
    _sidebar(home, "Incidents").click()
    expect(home).to_have_url(re.compile("/sign-in/"))
    expect(home.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


def test_the_last_of_two_links_wins(home: Page) -> None:
    def late(route: Route) -> None:
        home.wait_for_timeout(300)
        route.continue_()

    home.route("**/reviews/", late)
    _sidebar(home, "Reviews").dispatch_event("click")
    _sidebar(home, "Incidents").dispatch_event("click")
    expect(_heading(home, "Incidents")).to_be_visible()
    home.wait_for_timeout(600)
    expect(_heading(home, "Incidents")).to_be_visible()


def test_a_link_that_the_pointer_rests_on_is_fetched_once(home: Page, studio: Studio) -> None:
    asked: list[str] = []
    home.on("request", lambda request: asked.append(request.url))
    link = _sidebar(home, "Docs")
    with home.expect_response(f"{studio.url}/docs/"):
        link.hover()
    link.click()
    expect(_heading(home, "Docs")).to_be_visible()
    assert asked.count(f"{studio.url}/docs/") == 1


def test_a_link_to_a_fragment_leads_to_its_place(home: Page, studio: Studio) -> None:
    home.evaluate(
        """() => document.getElementById("main").insertAdjacentHTML(
            "beforeend", '<a id="to-place" href="/capabilities/#rows">To the rows</a>')"""
    )
    home.set_viewport_size({"width": 1280, "height": 300})
    home.locator("#to-place").click()
    expect(_heading(home, "Capabilities")).to_be_attached()
    expect(home).to_have_url(f"{studio.url}/capabilities/#rows")
    assert home.evaluate("scrollY") > 0
    assert _was_swapped(home)
