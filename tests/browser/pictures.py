"""The pictures of the documents, taken of the running Studio in both themes.

    STUDIO_PICTURES=1 python3 run.py test --all --rare tests/browser/test_{pictures,roles,evaluations}.py

writes them to docs/img, and with tests/browser/test_moving_picture.py that of README.md to docs/moving; otherwise they
are taken, looked at for what they should show, and thrown away.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = ROOT / "docs" / "img"
# What moves: shown by README.md, and no part of the product.
MOVING = ROOT / "docs" / "moving"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# The smallest window in which the editor has its three panes beside each other, a little more.
SIZE = (1280, 800)
# How much of a picture its file keeps, of 1; all of them together are on each reader's way to the product.
_QUALITY = 0.4
TOTAL_BYTES_MAX = 1_100_000
_TO_WEBP = """async ([picture, quality, size]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = size ?? [image.width, image.height];
    const pen = canvas.getContext("2d", { alpha: false });
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""
# Those that tests/browser/test_roles.py takes on its way.
OF_ROLES = ("role-author", "role-publisher", "role-admin", "role-viewer")
# Those of tests/browser/test_evaluations.py, smaller than the others.
OF_EVALUATIONS = ("evaluation-case", "evaluation-failed", "evaluation-gate", "evaluation-passed")


def folder_for(scratch: Path, asked: Path = PICTURES) -> Path:
    """Where pictures go: to the documents when it is asked for, to be thrown away otherwise."""
    return asked if os.environ.get("STUDIO_PICTURES") else scratch


def take(
    page: Page, folder: Path, name: str, *, until: Callable[[], object] = lambda: None, height: int = SIZE[1]
) -> None:
    """One picture in each theme; the page has its own size and theme again afterwards. `until` waits for what another
    theme draws anew."""
    before = page.viewport_size
    page.set_viewport_size({"width": SIZE[0], "height": height})
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_timeout(200)
        until()
        path = folder / f"{name}-{theme}.webp"
        path.write_bytes(encode_webp(page, page.screenshot(animations="disabled")))
        assert path.stat().st_size > 8_000, f"{name} is all but empty"
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if before is not None:
        page.set_viewport_size(before)


def encode_webp(page: Page, png: bytes, *, size: tuple[int, int] | None = None, quality: float = _QUALITY) -> bytes:
    """A picture as WebP, a third of its size: the browser of the page writes it, in a page of its own."""
    other = page.context.browser.new_page() if page.context.browser else page.context.new_page()
    try:
        written: str = other.evaluate(_TO_WEBP, [base64.b64encode(png).decode(), quality, size])
    finally:
        other.close()
    return base64.b64decode(written)
