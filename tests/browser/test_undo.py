"""What the Studio keeps for one person or gives back: undo in the message, the tour, the backup as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from registry.operations.backup.archive import check_archive

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(params=["scripts", "plain"])
def admin(request: pytest.FixtureRequest, as_role: Callable[[str], Page], browser: Browser) -> Iterator[Page]:
    """An admin in a browser with scripts, and in one without."""
    page = as_role("admin")
    state = page.context.storage_state()
    context = browser.new_context(java_script_enabled=request.param == "scripts", storage_state=state)
    yield context.new_page()
    context.close()


def test_undo_takes_back_what_was_just_done(admin: Page, studio: Studio) -> None:
    admin.goto(f"{studio.url}/members/")
    admin.get_by_label("Role of the-author", exact=True).select_option("viewer")
    admin.get_by_role("button", name="Change the role of the-author").click()
    expect(admin.get_by_text("the-author is now a viewer.")).to_be_visible()
    expect(admin.get_by_label("Role of the-author", exact=True)).to_have_value("viewer")
    admin.get_by_role("button", name="Undo").click()
    expect(admin.get_by_text("the-author is now an author.")).to_be_visible()
    expect(admin.get_by_label("Role of the-author", exact=True)).to_have_value("author")


def test_the_backup_is_downloaded(admin: Page, studio: Studio, tmp_path: Path) -> None:
    admin.goto(f"{studio.url}/settings/backup/")
    with admin.expect_download() as download:
        admin.get_by_role("button", name="Download backup").click()
    file = tmp_path / "backup.zip"
    download.value.save_as(file)
    assert download.value.suggested_filename.startswith("capability-studio-")
    assert check_archive(file).rows > 10


def test_a_step_of_the_tour_counts_in_every_browser(
    as_role: Callable[[str], Page], studio: Studio, browser: Browser
) -> None:
    page = as_role("viewer")
    with page.expect_response("**/tour/to/playground/"):
        page.goto(f"{studio.url}/playground/")
    with browser.new_context(storage_state=page.context.storage_state()) as context:
        elsewhere = context.new_page()
        elsewhere.goto(f"{studio.url}/")
        done = elsewhere.get_by_role("listitem").filter(has_text="Try the playground")
        expect(done).to_contain_text("(done)")
        elsewhere.get_by_role("button", name="Skip").click()
        expect(elsewhere.get_by_role("heading", name="Get started")).to_have_count(0)
        elsewhere.get_by_role("button", name="Undo").click()
        expect(elsewhere.get_by_role("heading", name="Get started")).to_be_visible()
