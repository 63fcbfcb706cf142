"""The API reference works under our Content-Security-Policy, from our own host alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers import Studio

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.browser
def test_the_api_reference_shows_the_operations(live_studio: Studio, page: Page) -> None:
    page.goto(f"{live_studio.url}/api/v1/docs")
    page.get_by_text("/api/v1/capability_skill_load").first.wait_for()
    assert page.get_by_text("Every operation, with its parameters").count() == 1
