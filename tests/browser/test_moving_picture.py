"""The moving picture of README.md: from a draft to the first load; pictures.py says how it is written."""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.moving_picture import encode_animation, list_chunks
from tests.browser.pictures import MOVING, THEMES, encode_webp, folder_for
from tests.browser.steps import choose
from tests.browser.test_pictures import draft_for_authors

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.rare]
_SIZE = (1280, 720)
_SHOWN = (1120, 630)
_BYTES_MAX = 1_000_000
_COUNT = """async (picture) => {
    const data = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/webp" });
    await decoder.tracks.ready;
    await decoder.completed;
    const count = decoder.tracks.selectedTrack.frameCount;
    for (let frame = 0; frame < count; frame += 1) await decoder.decode({ frameIndex: frame });
    return count;
}"""
_MESSAGE = "I think my scarf was left behind in the restaurant"


class _Film:
    """What was shown so far, in both themes."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: dict[str, list[tuple[bytes, int]]] = defaultdict(list)

    def show(self, milliseconds: int, *, settle: int = 400) -> None:
        """One frame of the page as it is."""
        for theme in THEMES:
            self._page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            self._page.wait_for_timeout(settle)
            png = self._page.screenshot(animations="disabled")
            self.frames[theme].append((encode_webp(self._page, png, size=_SHOWN, quality=0.65), milliseconds))


def test_from_a_draft_to_the_first_load(as_role: Callable[[str], Page], studio: Studio, tmp_path: Path) -> None:
    draft_for_authors(studio)
    page = as_role("publisher")
    page.set_viewport_size({"width": _SIZE[0], "height": _SIZE[1]})
    film = _Film(page)
    page.goto(f"{studio.url}/capabilities/lost_items/edit/")
    choose(page, "skill.md", "")
    page.get_by_role("tab", name="Preview", exact=True).click()
    film.show(1800, settle=1200)
    page.locator("#outline a[data-file='tools.json']").filter(has_text="lost_item_report").click()
    film.show(1800)
    page.locator("#outline a[data-file='ui_schemas.json']").filter(has_text="lost item").click()
    page.get_by_role("tab", name="Forms", exact=True).click()
    expect(page.frame_locator("iframe.preview-form").get_by_role("button", name="Send report")).to_be_visible()
    film.show(2200, settle=1500)
    page.goto(f"{studio.url}/playground/?{httpx.QueryParams({'m': _MESSAGE, 'drafts': 'yes'})}")
    expect(page.get_by_role("heading", name="Playground")).to_be_visible()
    film.show(2600, settle=800)
    page.goto(f"{studio.url}/capabilities/lost_items/publish/")
    page.get_by_label(re.compile("Release note")).fill("Guests ask for lost things every day")
    film.show(2200)
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("is live"))).to_be_visible()
    film.show(2600)
    key = re.search(r"csk_\S+", studio.prepared)
    assert key is not None
    asked = {"Authorization": f"Bearer {key[0]}"}
    httpx.post(f"{studio.url}/api/v1/capability_match", json={"message": _MESSAGE}, headers=asked).raise_for_status()
    loaded = httpx.get(f"{studio.url}/api/v1/capability_skill_load?capability_id=lost_items", headers=asked)
    assert loaded.raise_for_status().json()["capability_id"] == "lost_items"
    page.wait_for_timeout(3000)
    film.show(2600)
    page.goto(f"{studio.url}/capabilities/lost_items/")
    film.show(2600)
    folder = folder_for(tmp_path, MOVING)
    folder.mkdir(exist_ok=True)
    for theme in THEMES:
        written = encode_animation(film.frames[theme], _SHOWN)
        (folder / f"first-release-{theme}.webp").write_bytes(written)
        frames = [content for name, content in list_chunks(written) if name == b"ANMF"]
        assert [int.from_bytes(content[12:15], "little") for content in frames] == [
            milliseconds for _, milliseconds in film.frames[theme]
        ]
        assert decode_frames(page, written) == len(frames)


def decode_frames(page: Page, picture: bytes) -> int:
    """How many frames the browser reads, each with something on it."""
    other = page.context.browser.new_page() if page.context.browser else page.context.new_page()
    # Without an address a page is not a secure context, which the decoder asks for.
    other.route("**/*", lambda route: route.fulfill(body="<!DOCTYPE html>", content_type="text/html"))
    other.goto("https://localhost/")
    count: int = other.evaluate(_COUNT, base64.b64encode(picture).decode())
    other.close()
    return count


def test_the_moving_pictures_are_small_and_on_the_first_page() -> None:
    found = {path.name: path.stat().st_size for path in MOVING.iterdir()}
    assert set(found) == {f"first-release-{theme}.webp" for theme in THEMES}
    assert sum(found.values()) <= _BYTES_MAX
    readme = (MOVING.parents[1] / "README.md").read_text("utf-8")
    assert all(f"docs/moving/{name}" in readme for name in found)
    assert "prefers-reduced-motion" in readme
