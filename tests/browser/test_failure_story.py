"""An admin connects a model, sees why uses fail, makes a case of it, fixes the sentence, publishes, and fewer fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.hand import Hand
from tests.browser.steps import publish
from tests.factories import bundle, tool
from tests.model_servers import ModelServer, model_server
from tests.servers import run_manage
from tests.vendors import Reply, tool_names

if TYPE_CHECKING:
    import httpx2
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAMES_THE_DAY = "Pass on the day that the customer names. "
SAID = "Please tune my piano at 12 Harbor Lane on Friday, December 4"
FAILED_CALL = {"tool": "visit_book", "code": "ARGUMENTS_INVALID", "missing": "day"}
# From the row of the inbox until the case is saved, and until the caret stands in the sentence.
CLICKS_TO_CASE, CLICKS_TO_SENTENCE = 3, 2


def tuner(body: Any) -> Reply:
    """Books what it is asked for, and leaves the day out unless the instructions say better."""
    if "visits__visit_book" not in tool_names(body):
        return "", [("capability_skill_load", {"capability_id": "visits"})]
    if [one["role"] for one in body["messages"]].count("tool") > 1:
        return "Your visit is booked.", []
    day = {"day": "2026-12-04"} if NAMES_THE_DAY.strip() in str(body["messages"]) else {}
    return "", [("visits__visit_book", {"street": "12 Harbor Lane", **day})]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server("openai", tuner) as found:
        yield found


@pytest.fixture(scope="module")
def studio_settings() -> dict[str, str]:
    return {"MODEL_ALLOWED_NETWORKS": "127.0.0.1"}


@pytest.fixture(autouse=True)
def visits(studio: Studio, tmp_path: Path) -> None:
    street, day = (
        {"type": "string", "description": "Where"},
        {"type": "string", "format": "date", "description": "When"},
    )
    book = tool("visit_book", "write", {"street": street, "day": day}, required=["street", "day"])
    files = bundle(
        "visits", [book], name="Piano tuning visits", intent_triggers=["tune my piano"],
        body="Book the visit with `visit_book`.",
    )  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    run_manage("bundle", "publish", str(tmp_path), env=studio.env)


def _report(agent: httpx2.Client, outcome: str, times: int, **said: Any) -> None:
    for _ in range(times):
        sent = {"capability_id": "visits", "outcome": outcome, **said}
        assert agent.post("/api/v1/capability_feedback", json=sent).status_code == 200


def _connect_model(page: Page, url: str, model: str) -> None:
    page.goto(f"{url}/settings/model/")
    page.get_by_label("Address").fill(model)
    page.get_by_label("This server needs no key").check()
    page.get_by_role("button", name="Save model").click()
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("[data-probe]")).to_have_attribute("data-probe", "models")
    page.get_by_role("button", name="Save model").click()
    expect(page.get_by_text("Model saved.")).to_be_visible()


def _run_cases(page: Page, studio: Studio) -> None:
    page.goto(f"{studio.url}/capabilities/visits/evaluations/")
    page.get_by_role("button", name="Run all cases").click()
    expect(page.get_by_role("button", name="Cancel run")).to_be_visible()
    studio.manage("worker", "--once")
    expect(page.locator("#state").get_by_text("Done", exact=True)).to_be_visible(timeout=15_000)


def test_a_failure_becomes_a_case_and_a_better_sentence(
    studio: Studio, server: ModelServer, as_role: Callable[[str], Page], agent: httpx2.Client
) -> None:
    page = as_role("admin")
    _connect_model(page, studio.url, server.url)
    page.goto(f"{studio.url}/settings/data/")
    page.get_by_label("Keep conversations of failed uses").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    talk = [{"role": "user", "text": SAID}]
    _report(agent, "confirmed_success", 4)
    why = "The day was left out"
    _report(agent, "confirmed_failure", 6, reason=why, failed_call=FAILED_CALL, conversation=talk)

    page.goto(studio.url)
    hand = Hand(page)
    hand.click(page.get_by_role("link", name="See why"))
    failed = page.locator("[data-failed]")
    expect(failed).to_have_attribute("data-failed", "60")
    expect(page.get_by_text(why).first).to_be_visible()
    hand.click(page.get_by_role("link", name="Add as case").first)
    expect(page.get_by_label("Name", exact=True)).to_have_value(why)
    expect(page.get_by_label("The user says")).to_have_value(SAID)
    hand.click(page.get_by_role("button", name="Save case"))
    expect(page.get_by_role("link", name=why)).to_be_visible()
    assert hand.clicks <= CLICKS_TO_CASE
    _run_cases(page, studio)
    expect(page.locator("tbody [data-state]").first).to_have_attribute("data-state", "failed")

    page.goto(studio.url)
    hand = Hand(page)
    hand.click(page.get_by_role("link", name="See why"))
    hand.click(page.get_by_role("link", name=re.compile(r"Open line \d+")).first)
    expect(page.get_by_role("textbox", name="Instructions", exact=True)).to_be_focused()
    assert hand.clicks <= CLICKS_TO_SENTENCE
    hand.type(NAMES_THE_DAY)
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator(".save-words")).to_have_text("Saved just now")
    _run_cases(page, studio)
    states = page.locator("tbody tr").first.locator("[data-state]")
    # What is live, the draft, and a model that does nothing.
    expect(states).to_have_count(3)
    assert [one.get_attribute("data-state") for one in states.all()] == ["failed", "passed", "failed"]
    page.goto(f"{studio.url}/capabilities/visits/edit/")
    publish(page, "It passes on the day")
    expect(page).to_have_url(re.compile(r"/capabilities/visits/$"))

    # The incident of the release before is closed, and what comes now is counted for itself.
    _report(agent, "confirmed_success", 9)
    _report(agent, "confirmed_failure", 1, reason="The tuner was ill")
    page.goto(f"{studio.url}/incidents/")
    expect(page.get_by_text("Piano tuning visits")).to_have_count(0)
    page.goto(f"{studio.url}/capabilities/visits/outcomes/")
    expect(failed).to_have_attribute("data-failed", "35")
    page.get_by_role("link", name="Revision 2").click()
    expect(failed).to_have_attribute("data-failed", "10")
