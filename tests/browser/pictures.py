"""The pictures of the documents, taken of the running Studio in both themes.

    STUDIO_PICTURES=1 python3 run.py test --all tests/browser/test_pictures.py tests/browser/test_roles.py

writes them to docs/img; otherwise they are taken, looked at for what they should show, and thrown away.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = ROOT / "docs" / "img"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIZE = (1440, 900)
# Those that tests/browser/test_roles.py takes on its way.
OF_ROLES = ("role-author", "role-publisher", "role-admin", "role-viewer")


def folder_for(scratch: Path) -> Path:
    """Where pictures go: to the documents when it is asked for, to be thrown away otherwise."""
    return PICTURES if os.environ.get("STUDIO_PICTURES") else scratch


def take(page: Page, folder: Path, name: str, *, until: Callable[[], object] = lambda: None) -> None:
    """One picture in each theme; the page has its own size and theme again afterwards. `until` waits for what another
    theme draws anew."""
    before = page.viewport_size
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_timeout(200)
        until()
        path = folder / f"{name}-{theme}.png"
        page.screenshot(path=path, animations="disabled")
        assert path.stat().st_size > 15_000, f"{name} is all but empty"
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if before is not None:
        page.set_viewport_size(before)
