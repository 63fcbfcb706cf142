"""The overview of a capability: its forms are drawn, and its calls work when they are pasted."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx2
import pytest
from playwright.sync_api import expect

from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TABS = ("Overview", "Instructions", "Tools", "Forms", "Attached files", "History", "Insights")


def test_the_form_is_on_the_overview_without_a_click(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    page.goto(f"{studio.url}/capabilities/weights/")
    frame = page.frame_locator('iframe[title="Form Log a weigh-in"]')
    for label in ("Date", "Weight", "Unit"):
        expect(frame.get_by_text(label, exact=True).first).to_be_visible()
    expect(frame.get_by_text("Enter a weight.")).to_have_count(0)
    assert page.locator(".stage").first.evaluate("stage => stage.inert")


def test_the_heading_is_the_name_on_each_tab(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("viewer")
    page.goto(f"{studio.url}/capabilities/weights/")
    for tab in TABS:
        page.locator(".cap-shell .tabs").get_by_role("link", name=tab).click()
        expect(page.locator(".cap-shell .tabs [aria-current=page]")).to_contain_text(tab)
        expect(page.get_by_role("heading", level=1)).to_have_text("Weight Tracking")


def test_overview_prints_as_a_document(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("publisher")
    page.emulate_media(color_scheme="dark", media="print")
    page.goto(f"{studio.url}/capabilities/weights/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for hidden in (".sidebar", ".topbar", ".tabs", ".btn"):
        assert page.locator(hidden).evaluate_all("all => all.every(one => !one.checkVisibility())"), hidden
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_what_is_copied_works_when_it_is_pasted(
    studio: Studio, as_role: Callable[[str], Page], agent: httpx2.Client
) -> None:
    page = as_role("publisher")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{studio.url}/capabilities/weights/")
    card = page.get_by_role("region", name="Use it")
    key = agent.headers["Authorization"].removeprefix("Bearer ")
    environment = os.environ | {"CAP_KEY": key, "PYTHONPATH": str(ROOT)}
    expect(card.locator("pre:visible")).to_have_count(1)
    card.get_by_role("button", name="Copy curl").click()
    curl = str(page.evaluate("navigator.clipboard.readText()"))
    # Without a shell: the one variable is filled in as a shell would.
    words = [word.replace("$CAP_KEY", key) for word in shlex.split(curl.replace("\\\n", " "))]
    done = subprocess.run(
        [*words, "-s", "-o", os.devnull, "-w", "%{http_code}"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout == "200", done.stderr
    card.get_by_text("Python", exact=True).click()
    card.get_by_role("button", name="Copy Python").click()
    python = str(page.evaluate("navigator.clipboard.readText()"))
    done = subprocess.run(
        [sys.executable, "-c", python], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "# Weight Tracking" in done.stdout
