"""The states that `test_states.py` measures: a page, and the steps that lead to the state.

Each begins in the furnished Studio, may change it, and must not depend on another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

Step = Callable[["Page"], object]


@dataclass(frozen=True)
class State:
    """A page, the steps that lead to the state, and who takes them."""

    address: str
    steps: tuple[Step, ...] = ()
    role: str = "admin"


def press(name: str, *, nth: int = 0) -> Step:
    """Click a button by its name."""
    return lambda page: page.get_by_role("button", name=name, exact=True).nth(nth).click()


def follow(name: str) -> Step:
    """Click a link by its name."""
    return lambda page: page.get_by_role("link", name=name, exact=True).first.click()


def fill(label: str, text: str) -> Step:
    """Write into a field by its label; `{n}` in the text is a number that was not used before."""
    return lambda page: page.get_by_label(label, exact=True).first.fill(text.replace("{n}", str(time.time_ns())))


def see(selector: str) -> Step:
    """Wait until an element is in sight."""
    return lambda page: expect(page.locator(selector).first).to_be_visible()


def unfold(selector: str = "main details:not([data-menu])") -> Step:
    """Open what is folded."""
    return lambda page: page.locator(selector).evaluate_all("folds => folds.forEach(one => { one.open = true; })")


def comment_on(row: str) -> Step:
    """Open the form of a comment on the first line of a kind, such as `.is-added`, and write into it."""

    def step(page: Page) -> None:
        page.locator(f"tr{row} .sides-no a[href*='line=']").last.click()
        page.locator(".composer textarea").last.fill("Why is this no longer approved? " * 4)

    return step


REVIEW = "/reviews/1/"
STATES = {
    "review, a comment on a line that is the same": State(REVIEW, (unfold(), comment_on(".is-same"))),
    "review, a comment on a line that was added": State(REVIEW, (unfold(), comment_on(".is-added"))),
    "review, a comment on a line that has comments": State(REVIEW, (unfold(), comment_on(":has(+ .is-said)"))),
    "review, a comment on a file that is new": State(REVIEW, (unfold(), comment_on(".is-added:is(.is-whole *)"))),
    "keys, a new key": State("/keys/", (fill("Name", "new {n}"), press("Create key"), see("#new-key"))),
    "live, a new key": State(
        "/capabilities/weights/live/", (fill("API key for", "new {n}"), press("Create API key"), see("#new-key"))
    ),
}
