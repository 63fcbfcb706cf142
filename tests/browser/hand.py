"""Somebody at a mouse and a keyboard, whose clicks are counted.

A field that has no focus yet costs a click, a choice of a list costs two; what is typed, Enter included, costs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


class Hand:
    """Clicks and types, and counts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.characters = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def write(self, field: Locator, words: str, *, has_focus: bool = False) -> None:
        """Into a field; `has_focus` says that the page has put the caret there."""
        if has_focus:
            expect(field).to_be_focused()
        else:
            self.click(field)
        self.type(words)

    def type(self, words: str) -> None:
        """Over whatever is selected."""
        self.page.keyboard.type(words)
        self.characters += len(words)

    def choose(self, field: Locator, value: str) -> None:
        """Open the list and take one."""
        field.select_option(value)
        self.clicks += 2
