"""How a page is laid out, measured in the browser: what neither axe nor a page that does not overflow can tell.

A text column is at least 120 px wide, no word is broken letter by letter, nothing lies over something else, and
nothing moves once the page stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

COLUMN_MIN = 120
# A longer word may be broken: an id has up to 64 letters, and a phone has room for fewer.
WORD_MAX = 24
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Controls that lie over one another, and text that leaves its box. What scrolls goes below the top bar and below the
# field of a conversation.
OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea, summary')]
        .filter(one => one.checkVisibility() && !one.closest('.skip, .topbar, .play__composer'))
        .map(one => [one, one.getBoundingClientRect()])
        .filter(([, box]) => box.width > 1 && box.height > 1);
    const found = [];
    for (const [one, a] of boxes) for (const [other, b] of boxes) {
        if (one === other || one.contains(other) || other.contains(one)) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 2) found.push(`${one.outerHTML.slice(0, 80)} over ${other.outerHTML.slice(0, 80)}`);
    }
    return found;
}"""
# Texts: `[what, excerpt]` of columns that are too narrow, words that are broken, and texts that lie over another one.
TEXTS = """([columnMin, wordMax]) => {
    const found = [];
    const say = (what, node, text) => found.push([what, text.trim().slice(0, 60), node.outerHTML.slice(0, 120)]);
    const isShown = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        && !one.closest('.visually-hidden, .skip, [inert], script, style, option, svg, .cm-editor, pre, code.digest');
    const lines = (range) => [...range.getClientRects()].filter((box) => box.width > 0.5 && box.height > 1);
    // What is cut off at an edge is not over what stands behind it.
    const clipOf = (one) => {
        for (let each = one; each && each !== document.body; each = each.parentElement) {
            if (getComputedStyle(each).overflowX !== 'visible') return each.getBoundingClientRect();
        }
        return null;
    };
    const cut = (box, clip) => (clip
        ? { top: Math.max(box.top, clip.top), bottom: Math.min(box.bottom, clip.bottom),
            left: Math.max(box.left, clip.left), right: Math.min(box.right, clip.right) }
        : box);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const shown = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const owner = node.parentElement;
        if (!node.data.trim() || !owner || !isShown(owner)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const boxes = lines(range);
        if (!boxes.length) continue;
        const tops = new Set(boxes.map((box) => Math.round(box.top)));
        let block = owner;
        while (getComputedStyle(block).display.startsWith('inline') && block.parentElement) block = block.parentElement;
        const width = block.clientWidth;
        if (tops.size > 2 && width < columnMin) say(`a column of ${Math.round(width)} px`, owner, node.data);
        for (const token of owner.closest('.sides-text') ? [] : node.data.matchAll(/\\S+/gu)) {
            // What is longer, such as an address, may be broken; so may a hyphen be a place to break.
            if (token[0].length > wordMax) continue;
            for (const word of token[0].matchAll(/[\\p{L}\\p{N}_.,]{2,}/gu)) {
                range.setStart(node, token.index + word.index);
                range.setEnd(node, token.index + word.index + word[0].length);
                const tops = new Set(lines(range).map((box) => Math.round(box.top)));
                if (tops.size > 1) say('a broken word', owner, word[0]);
            }
        }
        if (!owner.closest('.topbar, .toast, .messages, .play__composer, dialog, [popover]')) {
            const clip = clipOf(owner);
            for (const box of boxes) {
                if (!clip || box.left < clip.right - 1) shown.push([owner, node.data, cut(box, clip)]);
            }
        }
    }
    for (const area of document.querySelectorAll('textarea, input[type=text], input:not([type])')) {
        const width = isShown(area) ? area.clientWidth : 0;
        if (width && width < columnMin / 2) say('a narrow field', area, area.name);
    }
    shown.sort((a, b) => a[2].top - b[2].top);
    for (let at = 0; at < shown.length; at += 1) {
        const [one, text, a] = shown[at];
        for (let next = at + 1; next < shown.length && shown[next][2].top < a.bottom - 3; next += 1) {
            const [other, , b] = shown[next];
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (one !== other && !one.contains(other) && !other.contains(one) && across > 3 && down > 4) {
                say('a text over another one', one, `${text} / ${shown[next][1]}`);
            }
        }
    }
    return found;
}"""
# Where the headings and the parts of the page stand.
PLACES = """() => [...document.querySelectorAll('main h1, main h2, main > *, main > * > *')]
    .filter((one) => one.checkVisibility() && !one.closest('.messages'))
    .slice(0, 60)
    .map((one) => [one.tagName + '.' + one.className, Math.round(one.getBoundingClientRect().top + scrollY)])"""


def find_layout_faults(page: Page) -> list[object]:
    """What is wrong with the page as it stands at this width; empty where nothing is."""
    overflow = page.evaluate(OVERFLOW)
    found: list[object] = [f"{overflow} px wider than the window"] if overflow > 0 else []
    return [*found, *page.evaluate(OVERLAPS), *page.evaluate(TEXTS, [COLUMN_MIN, WORD_MAX])]


def find_shifts(page: Page, before: list[list[object]]) -> list[str]:
    """What has moved since `before`, which `page.evaluate(PLACES)` returned."""
    after = page.evaluate(PLACES)
    return [f"{was[0]}: {was[1]} to {now[1]}" for was, now in zip(before, after, strict=False) if was != now]
