"""From the document of an API to a published capability, without typing JSON; each page fits and can be used by all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.layout import find_layout_faults
from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDTHS = (390, 1440)


def _look(page: Page, name: str) -> None:
    """See that the page fits at each width, and keep pictures where `STATE_PICTURES` says where."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert find_layout_faults(page) == [], f"{name}, {width}"
        for scheme in ("light", "dark"):
            if folder := os.environ.get("STATE_PICTURES"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.screenshot(path=Path(folder) / f"tools-{name}-{width}-{scheme}.png", full_page=True)


def test_tools_of_an_api_become_a_published_capability(studio: Studio, as_role: Callable[[str], Page]) -> None:
    page = as_role("publisher")
    page.goto(f"{studio.url}/new-capability/")
    page.get_by_role("link", name="From an API").click()
    _look(page, "new")
    page.get_by_label("File").set_input_files(ROOT / "agent_api" / "openapi.yaml")
    page.get_by_role("button", name="Read operations").click()
    expect(page.get_by_role("status").filter(has_text="36 of 36 operations")).to_be_visible()
    page.get_by_label("Search operations").fill("waiver")
    expect(page.get_by_role("status").filter(has_text="3 of 36 operations")).to_be_visible()
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_label("Search operations").fill("bundle_list")
    expect(page.get_by_role("status").filter(has_text="1 of 36 operations. 3 chosen.")).to_be_visible()
    page.get_by_role("checkbox").check()
    page.get_by_label("Search operations").fill("tool_source_read")
    page.get_by_role("row").filter(has_text="/tool_source_read").get_by_role("checkbox").check()
    _look(page, "choose")
    page.get_by_role("button", name="Review tools").click()
    expect(page.get_by_role("heading", name="5 tools")).to_be_visible()
    page.get_by_text("Contract").first.click()
    _look(page, "review")
    page.get_by_role("group", name="tool_source_read").get_by_label("Generate a form").check()
    page.get_by_role("button", name="Preview forms").click()
    expect(page.get_by_role("heading", name="Forms", exact=True)).to_be_visible()
    _look(page, "forms")
    page.get_by_label("Name", exact=True).first.fill("Registry desk")
    page.get_by_label("ID").fill("registry_desk")
    page.get_by_label("Description").fill("Lists bundles and waivers of a registry, and ends waivers.")
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_url("**/capabilities/registry_desk/edit/")
    page.goto(f"{studio.url}/capabilities/registry_desk/publish/")
    _look(page, "gate")


def test_table_of_five_hundred_operations_is_searched(
    studio: Studio, as_role: Callable[[str], Page], tmp_path: Path
) -> None:
    paths = {f"/things/{n}": {"get": {"operationId": f"getThing{n}", "tags": [f"t{n % 9}"]}} for n in range(500)}
    document = tmp_path / "api.json"
    document.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "Things"}, "paths": paths}))
    page = as_role("author")
    page.goto(f"{studio.url}/new-capability/api/")
    page.get_by_label("File").set_input_files(document)
    page.get_by_role("button", name="Read operations").click()
    expect(page.get_by_role("status").filter(has_text="The first 200 are shown")).to_be_visible()
    _look(page, "many")
    page.get_by_label("Search operations").fill("things/499")
    expect(page.get_by_role("checkbox")).to_have_count(1)
    page.goto(f"{studio.url}/tool-sources/")
    _look(page, "list")
    page.get_by_role("link", name="Things").click()
    _look(page, "show")
