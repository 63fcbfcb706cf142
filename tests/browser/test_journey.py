"""From the first sign-in to an agent that loads what was published, and back again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.steps import caret, create, open_file, publish, save, sign_in

if TYPE_CHECKING:
    import httpx2
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NEW_PASSWORD = "what-only-the-operator-knows-4"
SKILL = """# Sleep log

## When to use

When the user says when they slept.

## Default behavior

Save what was said, once.

## Tools

### Write

- `sleep_save`: after the user has agreed.

## Examples

**User:** I slept at ten.
**Agent:** Saved.
"""


def _tools(*, requires_approval: bool) -> str:
    hours = {"type": "number", "description": "How many hours."}
    schema = {"type": "object", "properties": {"hours": hours}, "required": ["hours"], "additionalProperties": False}
    policy = {"kind": "write", "requires_approval": requires_approval}
    tool = {"name": "sleep_save", "description": "Saves a night.", "args_schema": schema, "policy": policy}
    return json.dumps([tool], indent=2) + "\n"


def _load(agent: httpx2.Client) -> dict[str, Any]:
    answer = agent.get("/api/v1/capability_skill_load", params={"capability_id": "sleep_log"})
    assert answer.status_code == 200, answer.text
    loaded: dict[str, Any] = answer.json()
    return loaded


def _shown_digest(page: Page) -> str:
    return page.locator("#digest").inner_text()


def test_from_the_first_sign_in_to_an_agent_and_back(
    studio: Studio, page: Page, agent: httpx2.Client, allowed_on_console: list[str]
) -> None:
    # The gate refuses once, as a page with the status 422.
    allowed_on_console.append("422")
    _first_sign_in(studio, page)
    create(page, studio.url, "sleep_log")
    _an_error_appears_and_is_mended(page)
    save(page)
    publish(page, "The first release")
    expect(page.get_by_text("Revision 1 is live.")).to_be_visible()
    page.get_by_role("link", name="View it").click()
    first = _load(agent)
    assert first["digest"] == _shown_digest(page)
    assert first["skill_doc"] == SKILL
    second = _loosened_with_a_tick(page, studio, agent)
    assert second["digest"] != first["digest"]
    _roll_back(page)
    assert _load(agent)["digest"] == first["digest"] == _shown_digest(page)


def _first_sign_in(studio: Studio, page: Page) -> None:
    found = re.search(r"Operator:\s+(\S+)\s+password: (\S+)", studio.prepared)
    assert found is not None
    name, password = found.groups()
    sign_in(page, studio.url, name, password)
    expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
    page.goto(f"{studio.url}/keys/")
    expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
    page.get_by_label("Current password").fill(password)
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("Confirm new password").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Password updated.")).to_be_visible()
    expect(page.get_by_role("heading", name="Home", exact=True)).to_be_visible()


def _an_error_appears_and_is_mended(page: Page) -> None:
    page.evaluate("window.wasNeverLeft = true")
    area = open_file(page, "tools.json")
    area.fill('[\n  {"name": "🛌🛌", "oops }\n]\n')
    findings = page.get_by_role("region", name="Issues")
    place = findings.get_by_role("link", name=re.compile("tools.json:"))
    expect(place.first).to_be_visible()
    expect(
        page.get_by_role("navigation", name="Outline").get_by_role("link", name="Tools (has errors)")
    ).to_be_visible()
    line, column = map(int, place.first.inner_text().split(":")[1:])
    open_file(page, "skill.md")
    place.first.click()
    expect(area).to_be_focused()
    assert caret(page, "tools.json") == (line, column)
    area.fill(_tools(requires_approval=True))
    open_file(page, "skill.md").fill(SKILL)
    expect(findings.get_by_text("No issues.")).to_be_visible()
    assert page.evaluate("window.wasNeverLeft") is True


def _loosened_with_a_tick(page: Page, studio: Studio, agent: httpx2.Client) -> dict[str, Any]:
    page.goto(f"{studio.url}/capabilities/sleep_log/edit/")
    open_file(page, "tools.json").fill(_tools(requires_approval=False))
    publish(page, "Faster")
    expect(page.get_by_text("Confirm before publishing: this release is less restrictive.")).to_be_visible()
    changes = page.get_by_role("region", name="What changes")
    loosened = changes.get_by_role("listitem").filter(has_text="Less restrictive")
    expect(loosened).to_contain_text("sleep_save no longer needs approval")
    expect(loosened.locator("code")).to_have_text("sleep_save")
    expect(page.locator(".sides ins")).to_contain_text('"requires_approval": false')
    assert _load(agent)["revision"] == 1
    page.get_by_label("I understand that this release is less restrictive").check()
    expect(page.get_by_label("Release note (required)")).to_have_value("Faster")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Revision 2 is live.")).to_be_visible()
    return _load(agent)


def _roll_back(page: Page) -> None:
    page.get_by_role("link", name="History", exact=True).click()
    page.get_by_role("link", name="Roll back to revision 1").click()
    page.get_by_label("Reason (required)").fill("Too early")
    page.get_by_role("button", name="Roll back").click()
    expect(page.get_by_text("Revision 1 is live again.")).to_be_visible()
