"""How many clicks it takes: from Home to a published capability, and from the first start to the first load.

A field that has no focus yet costs a click, a choice of a list costs two; what is typed, Enter included, costs none.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.hand import Hand
from tests.browser.steps import AUTOSAVE_OFF

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.rare]

CLICKS_TO_PUBLISHED = 20
CLICKS_TO_FIRST_LOAD = 20
NEW_PASSWORD = "what-only-the-operator-knows-4"
EXAMPLE = ("**User:** I want next Friday off", "**Agent:** shows the form, then says that the request is sent")


def _name(page: Page) -> Locator:
    return page.locator("#id_name")


def _start_from(hand: Hand, card: str) -> None:
    page = hand.page
    hand.click(page.get_by_role("main").get_by_role("link", name="New capability").first)
    page.wait_for_url("**/new-capability/")
    hand.click(page.get_by_role("link", name=card))
    page.wait_for_url("**/new-capability/?start=*")


def _write_what_is_left(hand: Hand, behavior: str) -> None:
    """From each finding to its place, where the words to write over are selected."""
    page = hand.page
    places = page.locator("#findings").get_by_role("link", name=re.compile(r"^Instructions · "))
    for left, words in ((3, behavior), (2, EXAMPLE[0]), (1, EXAMPLE[1])):
        expect(places).to_have_count(left)
        hand.click(places.first)
        hand.type(words)
    expect(places).to_have_count(0)


def _publish(hand: Hand, note: str) -> None:
    page = hand.page
    hand.click(page.get_by_role("button", name="Review & publish"))
    hand.write(page.get_by_label("Release note (required)"), note)
    hand.click(page.get_by_role("button", name="Publish", exact=True))
    expect(page.get_by_role("heading", name="is live")).to_be_visible()


def test_from_home_to_a_published_capability(
    as_role: Callable[[str], Page], studio: Studio, record_property: Callable[[str, object], None]
) -> None:
    """Two tools, one of which needs approval, five arguments, a form, five triggers, three sentences."""
    page = as_role("publisher")
    page.add_init_script(AUTOSAVE_OFF)
    page.goto(studio.url)
    hand, tag = Hand(page), f"{time.time_ns() % 10**9}"
    _start_from(hand, "Request with approval")
    hand.write(_name(page), f"Leave {tag}", has_focus=True)
    hand.write(page.locator("#id_description"), "Requests days off. Use it when somebody wants to be away.")
    triggers = page.get_by_label("Trigger phrases")
    hand.write(triggers, f"leave {tag}\n")
    for words in ("days off", "vacation", "time off", "be away"):
        hand.type(f"{words} {tag}\n")
    hand.write(
        page.get_by_label("Example messages"),
        f"I want leave {tag} on Friday\nHow many days off {tag} are left?\nvacation {tag} from Monday",
    )
    hand.click(page.get_by_role("button", name="Add tool"))
    tool = page.get_by_role("group", name="Tool 2")
    hand.write(tool.get_by_label("Name", exact=True), f"balance_find_{tag}", has_focus=True)
    hand.write(tool.locator("[name$='-does']"), "Finds how many days are left")
    hand.write(tool.get_by_label("Argument", exact=True), "year")
    hand.choose(tool.get_by_label("Type", exact=True), "whole number")
    hand.write(tool.locator("[name$='-meaning']"), "Which year")
    hand.click(tool.get_by_role("button", name="Add argument"))
    argument = tool.get_by_label("Argument", exact=True).nth(1)
    hand.write(argument, "unit", has_focus=True)
    hand.write(tool.locator("[name$='-meaning']").nth(1), "Days or hours")
    hand.click(page.get_by_role("button", name="Create draft"))
    page.wait_for_url("**/edit/**")
    _write_what_is_left(hand, "Show the form, and send the request once.")
    _publish(hand, "The first")
    record_property("clicks", hand.clicks)
    print(f"From Home to published: {hand.clicks} clicks, {hand.characters} characters")
    assert hand.clicks <= CLICKS_TO_PUBLISHED


def test_from_the_first_start_to_the_first_load(
    page: Page, studio: Studio, record_property: Callable[[str, object], None]
) -> None:
    found = re.search(r"Operator:\s+(\S+)\s+password: (\S+)", studio.prepared)
    assert found is not None
    name, password = found.groups()
    page.add_init_script(AUTOSAVE_OFF)
    hand = Hand(page)
    page.goto(studio.url)
    hand.write(page.get_by_label("Username"), name, has_focus=True)
    hand.write(page.get_by_label("Password"), f"{password}\n")
    hand.write(page.get_by_label("Current password"), password, has_focus=True)
    hand.write(page.get_by_label("New password", exact=True), NEW_PASSWORD)
    hand.write(page.get_by_label("Confirm new password"), f"{NEW_PASSWORD}\n")
    expect(page.get_by_role("heading", name="Home", exact=True)).to_be_visible()
    _start_from(hand, "Log something")
    hand.write(_name(page), "Sleep log", has_focus=True)
    hand.write(page.locator("#id_description"), "Logs how long the user slept. Use it when they say so.")
    hand.click(page.get_by_role("button", name="Create draft"))
    page.wait_for_url("**/edit/**")
    _write_what_is_left(hand, "Save what was said, once.")
    _publish(hand, "The first")
    hand.write(page.get_by_label("API key for"), "HR assistant")
    hand.click(page.get_by_role("button", name="Create API key"))
    expect(page.get_by_text("Copy this key now.")).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hand.click(page.get_by_role("button", name="Copy curl"))
    call = page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True, timeout=60, check=True)
    assert '"revision":1' in done.stdout.replace(" ", "")
    expect(page.get_by_role("region", name="First load")).to_contain_text("Loaded by HR assistant", timeout=5_000)
    record_property("clicks", hand.clicks)
    print(f"From the first start to the first load: {hand.clicks} clicks, {hand.characters} characters")
    assert hand.clicks <= CLICKS_TO_FIRST_LOAD
