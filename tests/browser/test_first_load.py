"""The ending of the first run: publish, paste a snippet, and see the load arrive."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.steps import create, publish
from tests.servers import ROOT, Studio

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
# From the end of the request to the change on the page, with room for a busy machine.
SECONDS_MAX = 5.0


def _paste(command: list[str]) -> str:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=env)
    return done.stdout


def test_a_newcomer_publishes_creates_a_key_and_sees_the_first_load(
    as_role: Callable[[str], Page], studio: Studio
) -> None:
    page = as_role("admin")
    capability_id, bot = f"leave_requests_{time.time_ns()}", f"HR assistant {time.time_ns()}"
    create(page, studio.url, capability_id)
    publish(page, "The first")
    expect(page.get_by_role("heading", name="is live")).to_be_visible()
    assert page.url == f"{studio.url}/capabilities/{capability_id}/live/"
    page.get_by_label("API key for").fill(bot)
    page.get_by_role("button", name="Create API key").click()
    expect(page.get_by_text("Copy this key now.")).to_be_visible()
    listener = page.get_by_role("region", name="First load")
    expect(listener).to_contain_text("Waiting for the first load")
    assert '"revision":1' in _paste(["bash", "-c", page.locator("#live-snippets-1").inner_text()]).replace(" ", "")
    expect(listener).to_contain_text(f"Loaded by {bot}", timeout=SECONDS_MAX * 1000)
    expect(listener).not_to_have_attribute("hx-get", "")
    page.get_by_text("Python", exact=True).click()
    snippet = page.locator("#live-snippets-2").inner_text()
    assert _paste([sys.executable, "-c", snippet]).startswith("# ")
