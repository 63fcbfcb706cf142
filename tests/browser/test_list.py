"""The list: search while typing, and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

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


def test_searching_refreshes_the_rows_and_the_address(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    page.get_by_label("Search by name, ID or purpose").press_sequentially("weig", delay=20)
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"q=weig"))
    page.get_by_label("Status", exact=True).select_option("retired")
    expect(page.get_by_text("No results")).to_be_visible()
    page.get_by_role("link", name="Clear filters").click()
    expect(page.locator("tbody tr")).to_have_count(7)
    page.go_back()
    expect(page.get_by_text("No results")).to_be_visible()
    expect(page.get_by_role("banner")).to_be_visible()
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("banner")).to_be_visible()


def test_what_is_typed_before_the_scripts_are_there_is_searched_for(
    as_role: Callable[[str], Page], studio: Studio
) -> None:  # fmt: skip
    page = as_role("viewer")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/htmx*.js", hold)
    page.goto(f"{studio.url}/capabilities/", wait_until="commit")
    page.get_by_label("Search by name, ID or purpose").fill("weig")
    held.pop().continue_()
    expect(page).to_have_url(re.compile(r"q=weig"))
    expect(page.locator("tbody tr")).to_have_count(1)


def test_rows_are_chosen_one_by_one_and_all_at_once(as_role: Callable[[str], Page]) -> None:
    page = as_role("publisher")
    export = page.get_by_role("button", name="Export")
    expect(export).to_be_disabled()
    page.get_by_label("Select weights").check()
    expect(page.get_by_text("1 selected")).to_be_visible()
    with page.expect_download() as download:
        export.click()
    assert download.value.suggested_filename == "capabilities.zip"
    page.get_by_label("Select all").check()
    expect(page.get_by_text("7 selected")).to_be_visible()
    # What htmx brings is prepared too.
    page.get_by_label("Search by name, ID or purpose").fill("weights")
    expect(page).to_have_url(re.compile(r"\?q=weights$"))
    expect(page.get_by_text("7 selected")).to_be_hidden()
    page.get_by_label("Select weights").check()
    page.get_by_role("button", name="Deprecate").click()
    expect(page.get_by_role("heading", name="Deprecate 1 capability")).to_be_visible()


def test_a_filter_is_set_by_the_keyboard_alone(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    page.locator("summary", has_text="More filters").press("Enter")
    group = page.get_by_label("Skill group")
    group.focus()
    group.select_option("fitness")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile("group=fitness"))
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(group).to_be_visible()


def test_a_search_after_the_session_has_ended_leads_to_the_sign_in(
    as_role: Callable[[str], Page], allowed_on_console: list[str]
) -> None:
    allowed_on_console.append("401")
    page = as_role("viewer")
    page.context.clear_cookies()
    page.get_by_label("Search by name, ID or purpose").press_sequentially("w")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.url.endswith("/sign-in/?next=/capabilities/")


def test_the_theme_follows_the_system_until_it_is_chosen(as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    root = page.locator("html")
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    account = page.locator("summary", has_text="the-viewer")
    account.click()
    page.get_by_role("button", name="Light").click()
    expect(root).to_have_attribute("data-theme", "light")
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    account.click()
    expect(page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="System").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "light")
