"""The playground in a browser: say something, fill the form, see the call; keep a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _say(page: Page, words: str) -> None:
    page.get_by_label("User message").fill(words)
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".turn-said").last).to_contain_text(words)


def _view(page: Page, name: str) -> None:
    """Choose what the inspector shows."""
    page.get_by_role("radiogroup", name="Inspector").get_by_text(name).click()
    expect(page.get_by_role("region", name=name, exact=True)).to_be_visible()


def test_a_conversation_goes_on_and_a_form_shows_its_call(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    page.goto(f"{studio.url}/playground/")
    _say(page, "I just weighed 80 kg")
    expect(page.locator("mark")).to_have_text("weighed")
    _say(page, "1 + 1")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".say__active")).to_contain_text("Weight Tracking (3 turns left)")
    section = page.locator(".talk-form").first
    form = section.frame_locator("iframe")
    form.locator("input").nth(1).fill("81.5")
    form.get_by_role("button", name="Save weigh-in").click()
    told = section.locator(".talk-log li").first
    expect(told).to_contain_text("Needs approval")
    expect(told).to_contain_text("Weight entry save batch")
    expect(told).to_contain_text("81.5")


def test_what_is_typed_into_a_form_survives_another_theme(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    page.goto(f"{studio.url}/playground/?m=I+just+weighed+80+kg")
    form = page.locator(".talk-form").first.frame_locator("iframe")
    form.locator("input").nth(1).fill("81.5")
    page.evaluate("window.studioTheme.choose('dark')")
    expect(form.locator("html")).to_have_class("a2ui-dark")
    expect(form.locator("input").nth(1)).to_have_value("81.5")


def test_a_link_shows_another_person_the_same(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("author")
    page.goto(f"{studio.url}/playground/")
    page.get_by_text("Environment", exact=True).click()
    page.get_by_label("Operating system").select_option("macOS")
    _say(page, "open my spreadsheet")
    address = page.url
    page.goto(f"{studio.url}/playground/")
    page.goto(address)
    expect(page.locator(".turn-said")).to_contain_text("open my spreadsheet")
    expect(page.get_by_label("Operating system")).to_have_value("darwin")
    page.get_by_role("link", name="Undo last").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_label("Operating system")).to_have_value("darwin")


def test_a_draft_is_tried_and_a_sentence_is_kept(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("author")
    page.goto(f"{studio.url}/playground/?m=what+did+I+have+for+lunch")
    page.get_by_text("Save as example").click()
    page.get_by_label("Capability", exact=True).fill("meals")
    page.get_by_role("button", name="Add to draft").click()
    expect(page.get_by_text("Added to the draft of meals.")).to_be_visible()
    expect(page.locator(".turn-said")).to_contain_text("what did I have for lunch")
    page.get_by_label("Use drafts").check()
    _say(page, "what did I have for lunch")
    answer = page.locator(".turn").last
    expect(answer.locator(".bubble__head")).to_contain_text("Draft")
    _view(page, "Match")
    expect(page.get_by_role("row").filter(has_text="Meal Tracking").first).to_contain_text("Draft")


def test_enter_sends_and_the_inspector_shows_one_view_at_a_time(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    page.goto(f"{studio.url}/playground/")
    message = page.get_by_label("User message")
    message.press_sequentially("I just weighed")
    message.press("Shift+Enter")
    message.press_sequentially("80 kg")
    expect(message).to_have_value("I just weighed\n80 kg")
    message.press("Enter")
    expect(page.locator(".bubble__head")).to_contain_text("trigger “weigh-in”")
    expect(page.get_by_label("User message")).to_be_focused()
    expect(page.get_by_role("region", name="Form", exact=True)).to_be_visible()
    for name in ("Match", "Prompt", "Sent"):
        _view(page, name)
        expect(page.get_by_role("region", name="Form", exact=True)).to_be_hidden()
    page.get_by_label("User message").press("Enter")
    expect(page.locator(".turn")).to_have_count(1)


def test_drafts_stand_beside_what_is_live(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("author")
    page.goto(f"{studio.url}/playground/?m=I+just+weighed+80+kg")
    page.get_by_role("link", name="Compare with drafts").click()
    sides = page.locator(".turn--compared .bubble--studio")
    expect(sides).to_have_count(2)
    left, right = sides.nth(0).bounding_box(), sides.nth(1).bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    page.get_by_role("link", name="End comparison").click()
    expect(page.locator(".bubble--studio")).to_have_count(1)


def test_without_scripts_a_form_is_filled_in_plain_fields(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("viewer")
    browser = page.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(f"{studio.url}/playground/?m=I+just+weighed+80+kg")
    section = plain.locator(".talk-form").first
    section.get_by_label("Weight", exact=True).fill("81.5")
    section.get_by_label("Unit").select_option("kg")
    section.get_by_role("button", name="Save weigh-in").click()
    told = plain.locator(".talk-form").first.locator(".talk-log li")
    expect(told).to_contain_text("Needs approval")
    expect(told).to_contain_text('"weight": 81.5')
    expect(plain.locator(".turn-said")).to_contain_text("I just weighed 80 kg")
    context.close()
