"""From the document of an API to a published capability, without typing JSON; each page fits and can be used by all."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from features.tool_sources.tests.pet_store import content
from tests import npm
from tests.browser.accessibility import find_violations
from tests.browser.hand import Hand
from tests.browser.layout import find_layout_faults
from tests.browser.steps import AUTOSAVE_OFF
from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDTHS = (390, 1440)
CLICKS_TO_PUBLISHED = 15
# A published capability with two tools of an API.
_PETS = """
from features.tool_sources.tests.pet_store import add_source, create_pets
from registry.publishing import publication
from tests.factories import OLGA
create_pets(add_source())
print(publication.publish_draft(capability_id="pets", by=OLGA).status)
"""


def _look(page: Page, name: str) -> None:
    """See that the page fits at each width and that axe finds nothing, and keep pictures where `STATE_PICTURES` says
    where. A theme changes colors alone: all rules look at the light page, those of colors at the dark one."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        assert find_layout_faults(page) == [], f"{name}, {width}"
        if width == WIDTHS[0]:
            assert find_violations(page) == [], f"{name}, light"
            page.emulate_media(color_scheme="dark", reduced_motion="reduce")
            assert find_violations(page, runOnly=["color-contrast"]) == [], f"{name}, dark"
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
    expect(page.get_by_role("status").filter(has_text="44 of 44 operations")).to_be_visible()
    page.get_by_label("Search operations").fill("waiver")
    # Not 44 of 44.
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^\s*3 of 44 operations"))).to_be_visible()
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_label("Search operations").fill("bundle_list")
    expect(page.get_by_role("status").filter(has_text="1 of 44 operations. 3 chosen.")).to_be_visible()
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


def test_document_of_another_product_becomes_a_capability_in_a_few_clicks(
    studio: Studio,
    as_role: Callable[[str], Page],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """Nobody types JSON, nothing has to be corrected, and what is typed is a search and a note."""
    modules = npm.install_files(tmp_path, "@figma/rest-api-spec@0.43.0")
    page = as_role("publisher")
    page.add_init_script(AUTOSAVE_OFF)
    page.goto(studio.url)
    hand, began = Hand(page), time.monotonic()
    hand.click(page.get_by_role("main").get_by_role("link", name="New capability").first)
    hand.click(page.get_by_role("link", name="From an API"))
    with page.expect_file_chooser() as chooser:
        hand.click(page.get_by_label("File"))
    chooser.value.set_files(modules / "@figma/rest-api-spec/openapi/openapi.yaml")
    hand.click(page.get_by_role("button", name="Read operations"))
    hand.write(page.get_by_label("Search operations"), "comments")
    expect(page.get_by_role("status").filter(has_text="6 of 54 operations")).to_be_visible()
    for number in range(5):
        hand.click(page.get_by_role("checkbox").nth(number))
    hand.click(page.get_by_role("button", name="Review tools"))
    expect(page.get_by_role("heading", name="5 tools")).to_be_visible()
    hand.click(page.get_by_role("button", name="Create draft"))
    page.wait_for_url("**/capabilities/figma_api/edit/")
    hand.click(page.get_by_role("button", name="Review & publish"))
    hand.write(page.get_by_label("Release note (required)"), "The first")
    hand.click(page.get_by_role("button", name="Publish", exact=True))
    expect(page.get_by_role("heading", name="is live")).to_be_visible()
    record_property("clicks", hand.clicks)
    seconds = time.monotonic() - began
    print(f"From Home to five published tools: {hand.clicks} clicks, {hand.characters} characters, {seconds:.0f} s")
    assert hand.clicks <= CLICKS_TO_PUBLISHED
    page.goto(f"{studio.url}/capabilities/figma_api/tools/")
    expect(page.get_by_text("post_comment_reaction", exact=True).first).to_be_visible()


def test_drift_is_shown_where_it_matters(studio: Studio, as_role: Callable[[str], Page], tmp_path: Path) -> None:
    studio.manage("shell", "-c", _PETS)
    newer = tmp_path / "pets.json"
    newer.write_bytes(content(required=["name", "kind"]))
    page = as_role("publisher")
    page.goto(f"{studio.url}/tool-sources/")
    page.get_by_role("link", name="Pets").click()
    page.get_by_label("File").set_input_files(newer)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("1 tool differs from its source.")).to_be_visible()
    _look(page, "changed")
    for address, name in (("/capabilities/pets/", "overview"), ("/capabilities/pets/tools/", "tools")):
        page.goto(studio.url + address)
        expect(page.get_by_text("create_pet can no longer be called as it says.")).to_be_visible()
        _look(page, name)
    page.goto(f"{studio.url}/incidents/?kind=tool")
    _look(page, "incidents")
    page.get_by_role("link", name="View tool").click()
    page.get_by_role("link", name="Take over").click()
    _look(page, "take-over")
    page.get_by_role("button", name="Take over").click()
    page.wait_for_url("**/capabilities/pets/edit/")
    page.goto(f"{studio.url}/capabilities/pets/publish/")
    expect(page.get_by_text("TOOL_SOURCE_BROKEN")).to_have_count(0)
