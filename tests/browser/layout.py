"""How a page is laid out, measured in the browser: what neither axe nor a page that does not overflow can tell.

A text column is at least 120 px wide, no word is broken letter by letter, nothing lies over something else or leaves
the card that it is in, buttons of one row are level, and nothing moves once the page is drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

COLUMN_MIN = 120
# A longer word may be broken: an id has up to 64 letters, and a phone has room for fewer.
WORD_MAX = 24
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
_MEASURES = (Path(__file__).parent / "layout.js").read_text("utf-8")
# Where the headings and the parts of the page are.
PLACES = """() => [...document.querySelectorAll('main h1, main h2, main > *, main > * > *')]
    .filter((one) => one.checkVisibility() && !one.closest('.messages'))
    .slice(0, 60)
    .map((one) => [one.tagName + '.' + one.className, Math.round(one.getBoundingClientRect().top + scrollY)])"""


def find_layout_faults(page: Page) -> list[object]:
    """What is wrong with the page as it is at this width; empty where nothing is.

    Each fault is `[what, excerpt, element]`; `layout.js` has the measures.
    """
    overflow = page.evaluate(OVERFLOW)
    found: list[object] = [f"{overflow} px wider than the window"] if overflow > 0 else []
    return [*found, *page.evaluate(_MEASURES, [COLUMN_MIN, WORD_MAX])]


def find_shifts(page: Page, before: list[list[object]]) -> list[str]:
    """What has moved since `before`, which `page.evaluate(PLACES)` returned."""
    after = page.evaluate(PLACES)
    return [f"{was[0]}: {was[1]} to {now[1]}" for was, now in zip(before, after, strict=False) if was != now]
