"""What an admin does in a browser, and the way from a worse revision back to the one before."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx2
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROLES
from tests.browser.steps import PASSWORD, sign_in
from tests.browser.test_looks import bring_into_form, looks_right
from tests.receivers import Receiver, status
from tests.unit.studio.conftest import PASSWORD as CHOSEN

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_tries = itertools.count(1)


@pytest.fixture(scope="module")
def studio_settings() -> dict[str, str]:
    """It may tell receivers on this machine."""
    return {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8"}


def _fresh(name: str) -> str:
    """A name that no earlier try of the test has taken."""
    return f"{name}.{next(_tries)}"


def test_an_admin_lets_somebody_in_and_out(as_role: Callable[[str], Page], studio: Studio) -> None:
    assert "admin" in ROLES
    page, name = as_role("admin"), _fresh("nora")
    page.goto(f"{studio.url}/members/")
    page.get_by_role("textbox", name="Username", exact=True).fill(name)
    page.get_by_label("Role", exact=True).select_option("author")
    page.get_by_role("button", name="Create invite link").click()
    address = page.locator("#new-link").inner_text()
    browser = page.context.browser
    assert browser is not None
    theirs = browser.new_context(reduced_motion="reduce").new_page()
    theirs.goto(address)
    bring_into_form(theirs, "light, 390")
    looks_right(theirs, "light, 390")
    theirs.get_by_label("Password", exact=True).fill(CHOSEN)
    theirs.get_by_label("Confirm password").fill(CHOSEN)
    theirs.get_by_role("button", name="Set password").click()
    expect(theirs.get_by_text("Password set. Welcome!")).to_be_visible()
    # Choosing the password has signed them in.
    theirs.goto(f"{studio.url}/new-capability/")
    expect(theirs.get_by_role("heading", level=1)).to_contain_text("New")
    page.goto(f"{studio.url}/members/")
    page.get_by_label(f"Role of {name}", exact=True).select_option("viewer")
    page.get_by_role("button", name=f"Change the role of {name}").click()
    expect(page.get_by_text(f"{name} is now a viewer.")).to_be_visible()
    # The session of the right that was lost has ended.
    theirs.reload()
    expect(theirs.get_by_role("heading", name="Sign in")).to_be_visible()
    theirs.context.close()


def test_an_admin_makes_renews_and_ends_a_key(as_role: Callable[[str], Page], studio: Studio) -> None:
    page, name = as_role("admin"), _fresh("night jobs")
    page.goto(f"{studio.url}/keys/")
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    page.get_by_label("Limit to skill groups").fill("fitness")
    page.get_by_role("button", name="Create key").click()
    first = page.locator("#new-key").inner_text()
    ids = [one["capability_id"] for one in _list(studio, first).json()["capabilities"]]
    assert ids
    assert "excel_analyzer" not in ids
    page.get_by_role("link", name=name).click()
    page.get_by_label("Old key works for").select_option("1 hour")
    page.get_by_role("button", name="Rotate key").click()
    second = page.locator("#new-key").inner_text()
    assert [_list(studio, key).status_code for key in (first, second)] == [200, 200]
    page.get_by_role("button", name="Revoke key").click()
    expect(page.get_by_role("heading", name=f"Revoke API key “{name}”?")).to_be_visible()
    assert [_list(studio, key).status_code for key in (first, second)] == [200, 200]
    page.get_by_role("dialog").get_by_role("button", name="Revoke key").click()
    expect(page.get_by_text(f"API key “{name}” was revoked.")).to_be_visible()
    page.wait_for_timeout(1200)
    assert [_list(studio, key).status_code for key in (first, second)] == [401, 401]


def _list(studio: Studio, key: str) -> httpx2.Response:
    return httpx2.get(
        f"{studio.url}/api/v1/capability_registry_list", headers={"Authorization": f"Bearer {key}"}, timeout=10
    )


def test_an_admin_makes_a_webhook_and_tries_it(as_role: Callable[[str], Page], studio: Studio) -> None:
    receiver = Receiver(replies=[status(500)])
    try:
        page, name = as_role("admin"), _fresh("chat")
        page.goto(f"{studio.url}/webhooks/")
        page.get_by_role("textbox", name="Name", exact=True).fill(name)
        page.get_by_label("URL").fill(receiver.url)
        page.get_by_label("capability.published").check()
        page.get_by_role("button", name="Create webhook").click()
        expect(page.locator("#new-secret")).to_contain_text("whsec_")
        page.get_by_role("link", name=name).click()
        page.get_by_role("button", name="Send test event").click()
        expect(page.get_by_role("cell", name="Queued")).to_be_visible()
        studio.manage("worker", "--once")
        # The log asks again by itself until nothing is queued.
        expect(page.get_by_role("cell", name="Failed")).to_be_visible(timeout=30_000)
        expect(page.get_by_role("cell", name="answered 500")).to_be_visible()
        page.get_by_role("button", name="Send webhook.test").click()
        expect(page.get_by_role("cell", name="Queued")).to_be_visible()
        studio.manage("worker", "--once")
        expect(page.get_by_role("cell", name="Delivered")).to_be_visible(timeout=30_000)
        assert len(receiver.requests) == 2
        assert receiver.requests[0].headers["webhook-id"] == receiver.requests[1].headers["webhook-id"]
        page.get_by_role("button", name="Delete webhook").click()
        expect(page.get_by_text("The log of 1 delivery is deleted.")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Delete webhook").click()
        expect(page.get_by_text(f"Webhook {name} deleted.")).to_be_visible()
    finally:
        receiver.stop()


WORSE = """
from registry.publishing import publication
from registry.usage import feedback
from registry.common.actors import SYSTEM, Actor
from registry.models import Revision
agent = Actor("agent_key", "agent")
def tell(outcome, times):
    for _ in range(times):
        feedback.record_outcome(capability_id="disk_pressure", outcome=outcome, by=agent)
tell("confirmed_success", 8)
files = dict(Revision.objects.get(capability__capability_id="disk_pressure").files)
files["skill.md"] += "\\nAsk first.\\n"
assert publication.publish(files=files, by=SYSTEM).status == "published"
tell("confirmed_failure", 6)
"""


def test_a_publisher_rolls_a_worse_revision_back_from_home(as_role: Callable[[str], Page], studio: Studio) -> None:
    studio.manage("shell", "-c", WORSE)
    page = as_role("publisher")
    page.goto(studio.url)
    waiting = page.get_by_role("region", name="Needs your attention")
    waiting.get_by_role("link", name="fails more often").click()
    expect(page.get_by_text("Regression since revision 1")).to_be_visible()
    page.get_by_role("link", name="Roll back to revision 1").click()
    expect(page.get_by_label("Reason (required)")).to_have_value("Revision 2 failed in 6 of 6 uses")
    page.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.get_by_text("Revision 1 is live again.")).to_be_visible()
    page.goto(f"{studio.url}/capabilities/disk_pressure/feedback/")
    expect(page.get_by_text("Regression since")).to_have_count(0)
    page.goto(studio.url)
    expect(page.get_by_role("link", name="fails more often")).to_have_count(0)


def test_who_is_not_in_the_team_reads(as_role: Callable[[str], Page], studio: Studio) -> None:
    page, name = as_role("admin"), _fresh("Finance")
    page.goto(f"{studio.url}/teams/")
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    page.get_by_role("button", name="Create team").click()
    page.get_by_label("Capability ID").fill("billing_refund")
    page.get_by_role("button", name="Add capability").click()
    expect(page.get_by_role("link", name="billing_refund")).to_be_visible()
    browser = page.context.browser
    assert browser is not None
    theirs = browser.new_context().new_page()
    sign_in(theirs, studio.url, "the-publisher", PASSWORD)
    theirs.goto(f"{studio.url}/capabilities/billing_refund/")
    expect(theirs.get_by_text("View only")).to_be_visible()
    expect(theirs.get_by_role("link", name="Edit", exact=True)).to_have_count(0)
    theirs.goto(f"{studio.url}/capabilities/billing_refund/edit/")
    expect(theirs.get_by_text(f"Only members of the team '{name}'")).to_be_visible()
    page.get_by_label("Member", exact=True).select_option("the-publisher")
    page.get_by_role("button", name="Add member").click()
    theirs.reload()
    theirs.wait_for_url("**/capabilities/billing_refund/edit/**")
    theirs.context.close()
