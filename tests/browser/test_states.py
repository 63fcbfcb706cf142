"""What the actions of a page lead to: each state is measured at three widths; a theme changes colors alone.

A new state is a row of `STATES`: its name, the page that it begins on, and the steps that lead to it. With the
environment variable `STATE_PICTURES` each is kept as pictures in the folder that it names.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.layout import PLACES, find_layout_faults, find_shifts
from tests.browser.states import STATES, State, fill, press
from tests.browser.steps import create

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS = (390, 1024, 1440)


@pytest.fixture(scope="module")
def in_states(furnished: Studio) -> Studio:
    """The furnished Studio with capabilities in every state."""
    furnished.manage("shell", "-c", Path(__file__).with_name("state_furnishing.py").read_text("utf-8"))
    return furnished


@pytest.fixture
def open_state(
    in_states: Studio, as_role: Callable[[str], Page], allowed_on_console: list[str]
) -> Callable[[State], Page]:
    """Leads to a state, in a wide window."""

    def lead(state: State) -> Page:
        # A step that is refused, or asks for what is not there, says so on the console.
        allowed_on_console.extend((r"status of 4\d\d", "Response Status Error Code 4"))
        page = as_role(state.role)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size({"width": 1440, "height": 900})
        response = page.goto(in_states.url + state.address)
        assert response is not None
        assert response.ok, response.status
        for step in state.steps:
            step(page)
        return page

    return lead


def _keep_picture(page: Page, name: str) -> None:
    folder = os.environ.get("STATE_PICTURES")
    if folder:
        page.evaluate("document.activeElement?.scrollIntoView({ block: 'center' })")
        file = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        page.screenshot(path=Path(folder) / f"{file}.png")


@pytest.mark.rare
@pytest.mark.parametrize("name", STATES)
def test_a_state_fits(name: str, open_state: Callable[[State], Page]) -> None:
    page = open_state(STATES[name])
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        _keep_picture(page, f"{name} {width} light")
        assert find_layout_faults(page) == [], f"{name}, {width}"
    if os.environ.get("STATE_PICTURES"):
        # A theme moves nothing: the dark one is there to be looked at.
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        _keep_picture(page, f"{name} {WIDTHS[-1]} dark")


def test_nothing_moves_when_a_toast_goes(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("admin")
    page.clock.install()
    page.goto(f"{studio.url}/members/")
    press("Change the role of the-author")(page)
    expect(page.locator(".toast")).to_be_visible()
    before = page.evaluate(PLACES)
    assert len(before) > 5
    page.clock.fast_forward(11_000)
    expect(page.locator(".toast")).to_have_count(0)
    assert find_shifts(page, before) == []


# What became busy, kept over the load of the next page.
_KEEP_BUSY = """() => new MutationObserver((changes) => {
    const words = changes.map((one) => one.target.getAttribute('aria-busy')).join();
    sessionStorage.busy = (sessionStorage.busy ?? '') + words;
}).observe(document.body, { subtree: true, attributeFilter: ['aria-busy'] })"""


def test_a_button_is_busy_until_the_server_has_answered(studio: Studio, as_role: Callable[[str], Page]) -> None:
    def wait(route: Route) -> None:
        page.wait_for_timeout(600)
        route.continue_()

    page = as_role("admin")
    page.goto(f"{studio.url}/keys/")
    page.route("**/keys/**", wait)
    page.evaluate(_KEEP_BUSY)
    fill("Name", "busy {n}")(page)
    press("Create key")(page)
    expect(page.locator("#new-key")).to_be_visible()
    assert page.evaluate("sessionStorage.busy") == "true"
    expect(page.locator("[aria-busy]")).to_have_count(0)
    # What asks first is busy while it fetches the question.
    page.evaluate(_KEEP_BUSY)
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.locator("#question")).to_be_visible()
    assert page.evaluate("sessionStorage.busy") == "truetrue"
    expect(page.locator("[aria-busy]")).to_have_count(0)


def test_what_is_missing_is_said_beside_its_field_until_it_is_there(
    studio: Studio, as_role: Callable[[str], Page]
) -> None:
    page = as_role("admin")
    create(page, studio.url, f"fitting_{time.time_ns()}")
    page.goto(page.url.replace("/edit/", "/publish/"))
    note = page.get_by_label("Release note (required)")
    note.fill("")
    press("Publish")(page)
    expect(note).to_be_focused()
    expect(note).to_have_attribute("aria-invalid", "true")
    expect(note).to_have_accessible_description("Fill in this field.")
    note.fill("Why")
    expect(page.get_by_text("Fill in this field.")).to_have_count(0)
    expect(note).not_to_have_attribute("aria-invalid", "true")
