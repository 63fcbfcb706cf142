"""What the actions of a page lead to, each measured at three widths by `layout.py`, and its colors in both themes.

A new state is a row of `STATES`: its name, the page that it begins on, and the steps that lead to it. With the
environment variable `STATE_PICTURES` each is kept as pictures in the folder that it names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.layout import find_layout_faults
from tests.browser.states import STATES, State

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS = (390, 1024, 1440)
THEMES = ("light", "dark")


@pytest.fixture
def open_state(
    furnished: Studio, as_role: Callable[[str], Page], allowed_on_console: list[str]
) -> Callable[[State], Page]:
    """Leads to a state, in a wide window."""

    def lead(state: State) -> Page:
        # A step that is refused, or asks for what is not there, says so on the console.
        allowed_on_console.append(r"status of 4\d\d")
        page = as_role(state.role)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(furnished.url + state.address)
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


def _unreadable_colors(page: Page) -> list[tuple[str, str]]:
    """What axe finds too faint in the page, as pairs of an element and what is wrong."""
    from axe_playwright_python.sync_playwright import Axe

    options: dict[str, Any] = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
    found: list[dict[str, Any]] = Axe().run(page, options=options).response["violations"]
    return [(node["html"][:200], node["failureSummary"]) for rule in found for node in rule["nodes"][:3]]


@pytest.mark.parametrize("name", STATES)
def test_a_state_fits_and_its_colors_are_read(name: str, open_state: Callable[[State], Page]) -> None:
    page = open_state(STATES[name])
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        # A theme changes colors alone: where things are is measured once.
        for width in WIDTHS if theme == "light" else WIDTHS[:1]:
            page.set_viewport_size({"width": width, "height": 900})
            _keep_picture(page, f"{name} {width} {theme}")
            if theme == "light":
                assert find_layout_faults(page) == [], f"{name}, {width}"
        assert not _unreadable_colors(page), (name, theme)
