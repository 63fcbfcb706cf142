"""One clock in a browser of another time zone: a release is planned, read and moved by what its row says."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PASSWORD, create, sign_in
from tests.servers import Studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NEW_YORK = ZoneInfo("America/New_York")


@pytest.fixture
def publisher(studio: Studio, browser: Browser) -> Iterator[Page]:
    """A publisher whose browser is in New York."""
    with browser.new_context(timezone_id=NEW_YORK.key, viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        sign_in(page, studio.url, "the-publisher", PASSWORD)
        yield page


def _stored(studio: Studio) -> datetime:
    with sqlite3.connect(studio.data_dir / "studio.sqlite3") as database:
        (found,) = database.execute("SELECT due_at FROM registry_scheduledrelease").fetchone()
    return datetime.fromisoformat(found).replace(tzinfo=UTC)


def _shown(moment: datetime) -> str:
    local = moment.astimezone(NEW_YORK)
    return f"{local:%b} {local.day}, {local.year}, {local.hour % 12 or 12}:{local:%M %p %Z}"


def test_a_release_is_planned_and_moved_by_one_clock(studio: Studio, publisher: Page) -> None:
    create(publisher, studio.url, "one_clock")
    # 10:15 in the evening there; the next day in UTC.
    day = datetime.now(NEW_YORK).date() + timedelta(days=10)
    at = datetime(day.year, day.month, day.day, 22, 15, tzinfo=NEW_YORK)
    publisher.goto(f"{studio.url}/capabilities/one_clock/publish/")
    publisher.get_by_label("Publish with the placeholder text").check()
    publisher.get_by_label("Release note (required)").fill("At night")
    publisher.get_by_role("radio", name="Schedule").check()
    decision = publisher.get_by_role("complementary", name="Release")
    expect(decision.get_by_text("Time zone: America/New_York")).to_be_visible()
    publisher.get_by_label("Date and time").fill(f"{at:%Y-%m-%dT%H:%M}")
    publisher.get_by_role("button", name="Schedule release").click()
    expect(publisher.get_by_text(f"goes live on {_shown(at)}.")).to_be_visible()
    assert _stored(studio) == at

    row = publisher.get_by_role("row").filter(has_text="one_clock")
    expect(row.get_by_text(_shown(at))).to_be_visible()
    expect(row.get_by_text(re.compile(r"Time zone: America/New_York \(UTC.[45]\)"))).to_be_visible()
    field = row.get_by_label("New time of One Clock")
    expect(field).to_have_value(f"{at:%Y-%m-%dT%H:%M}")
    later = at + timedelta(minutes=5)
    field.fill(f"{later:%Y-%m-%dT%H:%M}")
    row.get_by_role("button", name="Reschedule").click()
    expect(row.get_by_text(_shown(later))).to_be_visible()
    expect(field).to_have_value(f"{later:%Y-%m-%dT%H:%M}")
    assert _stored(studio) == later
