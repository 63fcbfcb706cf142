"""The pictures of docs/studio.md; pictures.py says how they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import OF_ROLES, PICTURES, THEMES, folder_for, take
from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# Name, address, what must be seen before it is taken.
PAGES = (
    ("home", "/", "heading:Home"),
    ("capabilities", "/capabilities/", "link:Weight Tracking"),
    ("publish", "/capabilities/weights/publish/", "heading:Publish Weight Tracking"),
    ("playground", "/playground/?m=I+just+weighed+187.6+lbs", "heading:Playground"),
    ("skill-groups", "/skill-groups/", "heading:Skill groups"),
    ("history", "/capabilities/weights/history/", "heading:Revisions"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_for(tmp_path)


def test_the_pages(as_role: Callable[[str], Page], studio: Studio, folder: Path, tmp_path: Path) -> None:
    page = as_role("admin")
    files = {path.name: path.read_text() for path in (ROOT / "examples" / "weights").iterdir()}
    tools = json.loads(files["tools.json"])
    tools[-1]["policy"]["requires_approval"] = False
    files["tools.json"] = json.dumps(tools, indent=2) + "\n"
    draft = tmp_path / "weights"
    draft.mkdir()
    for name, text in files.items():
        (draft / name).write_text(text)
    studio.manage("bundle", "import", str(draft))
    for name, address, seen in PAGES:
        page.goto(f"{studio.url}{address}")
        role, _, words = seen.partition(":")
        expect(page.get_by_role(role, name=words).first).to_be_visible()  # type: ignore[arg-type]
        take(page, folder, name)


def test_the_editor(as_role: Callable[[str], Page], studio: Studio, folder: Path) -> None:
    page = as_role("author")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{studio.url}/capabilities/weights/edit/")
    page.get_by_role("tab", name="tools.json").click()
    page.locator("details.tool").nth(2).locator("summary").click()
    page.get_by_role("tab", name="Forms", exact=True).click()
    drawn = page.frame_locator("iframe.preview-form").get_by_role("button", name="Save weigh-in")

    def form_is_drawn() -> None:
        expect(drawn).to_be_visible(timeout=20_000)
        page.wait_for_timeout(1500)

    take(page, folder, "editor", until=form_is_drawn)


def test_every_picture_that_the_docs_show_is_there() -> None:
    shown = set(re.findall(r"img/([\w-]+\.png)", "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))))
    shown |= set(re.findall(r"docs/img/([\w-]+\.png)", (ROOT / "README.md").read_text()))
    taken = {f"{name}-{theme}.png" for name in (*(page[0] for page in PAGES), "editor", *OF_ROLES) for theme in THEMES}
    assert shown <= taken
    assert {path.name for path in PICTURES.glob("*.png")} == taken
