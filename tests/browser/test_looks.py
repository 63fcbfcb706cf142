"""Every page on a phone and on a desk, light and dark: nothing overflows or overlaps, and axe finds nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import find_violations
from tests.browser.furnished_studio import ADDRESSES
from tests.browser.layout import find_layout_faults
from tests.browser.steps import open_file, save
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Of a page in a form.
Check = Callable[["Page", str], None]
# What is between is measured by test_states.py.
WIDTHS = (390, 1440)
THEMES = ("light", "dark")
_FORMS = tuple(f"{theme}, {width}" for theme in THEMES for width in WIDTHS)
# axe takes seconds a form. A theme changes colors alone, and a width the frame, which every page has: each page is
# looked at by all rules in one form, and these by all rules in all four: the gallery has each component. For a release
# each page is also looked at by the rules of colors in another form.
_ALL_RULES, _COLOR_RULES = "light, 390", "dark, 1440"
_IN_ALL_FORMS = ("home", "editor", "gallery", "playground, a conversation")


@pytest.fixture
def at(furnished: Studio, as_role: Callable[[str], Page]) -> Callable[[str], Page]:
    """Opens a page as an admin."""
    page = as_role("admin")

    def open_page(name: str) -> Page:
        page.goto(furnished.url + ADDRESSES[name])
        return page

    return open_page


def in_every_form(page: Page, check: Check) -> None:
    for form in _FORMS:
        bring_into_form(page, form)
        check(page, form)


def bring_into_form(page: Page, form: str) -> None:
    theme, width = form.split(", ")
    if page.locator("html").get_attribute("data-theme") != theme:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
    if _width_of(page) != int(width):
        page.set_viewport_size({"width": int(width), "height": 900})


def _width_of(page: Page) -> int:
    size = page.viewport_size
    return size["width"] if size else 0


def fits(page: Page, form: str) -> None:
    assert find_layout_faults(page) == [], form


def is_accessible(page: Page, form: str, **options: Any) -> None:
    told = find_violations(page, **options)
    assert not told, (form, told)


def looks_right(page: Page, form: str) -> None:
    fits(page, form)
    is_accessible(page, form)


@pytest.fixture
def looks_right_where_it_differs(pytestconfig: pytest.Config) -> Callable[[Page], None]:
    """Looks at a page where something new can be found: a theme moves nothing."""

    def look(page: Page) -> None:
        # First as wide as it was loaded, which is as the page before was left: to lay it out again takes a while.
        widths = sorted(WIDTHS, key=lambda width: width != _width_of(page))
        for form in (f"{THEMES[0]}, {width}" for width in widths):
            bring_into_form(page, form)
            fits(page, form)
            if form == _ALL_RULES:
                # Which way a phone is held is asked of styles, which are fetched again for it: the gallery has all.
                is_accessible(page, form, preload=False)
        if pytestconfig.getoption("--rare"):
            bring_into_form(page, _COLOR_RULES)
            is_accessible(page, _COLOR_RULES, runOnly=["color-contrast"])

    return look


def test_a_page_has_one_heading_fits_and_is_accessible(
    at: Callable[[str], Page], looks_right_where_it_differs: Callable[[Page], None]
) -> None:
    def check(name: str) -> None:
        page = at(name)
        _check_page(page)
        if name in _IN_ALL_FORMS:
            in_every_form(page, looks_right)
        else:
            looks_right_where_it_differs(page)

    check_each(ADDRESSES, check)


def test_a_page_of_every_other_template_fits_and_is_accessible(
    other_pages: dict[str, str],
    furnished: Studio,
    as_role: Callable[[str], Page],
    looks_right_where_it_differs: Callable[[Page], None],
) -> None:
    page = as_role("admin")

    def check(template: str) -> None:
        page.goto(furnished.url + other_pages[template])
        _check_page(page)
        looks_right_where_it_differs(page)

    check_each(other_pages, check)


# The pages of a capability have its head: the name, its state, and the tab that is open. Then opens all folds.
_FACTS = r"""() => {
    const said = [...document.querySelectorAll('main :is(p, .cap-head)')];
    const facts = [document.title, document.documentElement.lang,
        said.some((one) => one.checkVisibility() && /\w\s+\w/.test(one.textContent))];
    for (const fold of document.querySelectorAll('main details:not([data-menu])')) fold.open = true;
    return facts;
}"""


def _check_page(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    title, language, says_something = page.evaluate(_FACTS)
    assert title.endswith(" · Capability Studio")
    assert (language, says_something) == ("en", True)


@pytest.mark.parametrize("form", ["sign in", "wrong password"])
def test_the_sign_in_fits_and_is_accessible(
    form: str, furnished: Studio, page: Page, looks_right_where_it_differs: Callable[[Page], None]
) -> None:
    page.goto(f"{furnished.url}/sign-in/")
    if form == "wrong password":
        page.get_by_label("Username").fill("x")
        page.get_by_label("Password").fill("y")
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("alert").filter(has_text="correct username")).to_be_visible()
    looks_right_where_it_differs(page)


def test_a_form_with_faults_fits_and_is_accessible(
    at: Callable[[str], Page],
    allowed_on_console: list[str],
    looks_right_where_it_differs: Callable[[Page], None],
) -> None:
    allowed_on_console.append("400")
    page = at("new")
    page.get_by_label("Name", exact=True).fill("x")
    page.get_by_label("ID", exact=True).fill("Not An Id")
    page.locator("#id_description").fill("x")
    page.get_by_role("button", name="Create draft").click()
    expect(page.locator(".field__error").get_by_text("Use lowercase letters")).to_be_visible()
    expect(page.get_by_label("ID", exact=True)).to_have_accessible_description(
        "Generated from the name. Can't be changed after publishing. "
        "Use lowercase letters and digits, joined by single underscores."
    )
    looks_right_where_it_differs(page)


def test_a_new_key_fits_and_is_accessible(
    at: Callable[[str], Page], looks_right_where_it_differs: Callable[[Page], None]
) -> None:
    page = at("keys")
    page.get_by_role("textbox", name="Name", exact=True).fill(f"new {time.time_ns()}")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#new-key")).to_contain_text("csk_")
    looks_right_where_it_differs(page)


def test_a_conflict_and_a_notice_fit_and_are_accessible(
    at: Callable[[str], Page],
    allowed_on_console: list[str],
    looks_right_where_it_differs: Callable[[Page], None],
) -> None:
    allowed_on_console += ["409", "503"]
    page = at("editor")
    page.route("**/draft/save/", lambda route: route.fulfill(status=503))
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Something went wrong")).to_be_visible()
    looks_right_where_it_differs(page)
    page.unroute("**/draft/save/")
    other = page.context.new_page()
    other.goto(page.url)
    open_file(other, "skill.md").press_sequentially("theirs")
    save(other)
    open_file(page, "skill.md").press_sequentially("mine")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", name="You saved this draft in another tab")).to_be_visible()
    in_every_form(page, looks_right)


def test_docs_without_a_sign_in_fit_and_are_accessible(
    furnished: Studio, page: Page, looks_right_where_it_differs: Callable[[Page], None]
) -> None:
    for name in ("API reference", "docs", "docs, a page"):
        page.goto(furnished.url + ADDRESSES[name])
        expect(page.get_by_role("navigation", name="Studio")).to_have_count(0)
        looks_right_where_it_differs(page)


@pytest.mark.parametrize("address", ["/nowhere/", "/capabilities/nowhere/"])
def test_a_page_that_is_not_there_fits_and_is_accessible(
    address: str,
    furnished: Studio,
    as_role: Callable[[str], Page],
    allowed_on_console: list[str],
    looks_right_where_it_differs: Callable[[Page], None],
) -> None:
    allowed_on_console.append("404")
    page = as_role("viewer")
    page.goto(furnished.url + address)
    looks_right_where_it_differs(page)


def test_the_first_tab_leads_past_the_navigation(at: Callable[[str], Page]) -> None:
    page = at("list")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="New capability")).to_be_focused()
