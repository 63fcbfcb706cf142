"""An author asks, a publisher approves and publishes, and nobody is their own second person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.steps import create, open_file, save

if TYPE_CHECKING:
    from playwright._impl._api_structures import SetCookieParam
    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AsOne = Callable[[str], "Page"]

SKILL = """# Sleep log

## When to use

When the user says when they slept.

## Default behavior

Save what was said, {times}.

## Examples

**User:** I slept at ten.
**Agent:** Saved.
"""


@pytest.fixture
def as_one(
    browser: Browser, studio: Studio, as_role: Callable[[str], Page], sessions: dict[str, SetCookieParam]
) -> Iterator[AsOne]:
    """A browser of their own for each role, signed in."""
    contexts: list[BrowserContext] = []

    def sign(role: str) -> Page:
        as_role(role)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        context.add_cookies([{**sessions[f"the-{role}"], "url": studio.url}])
        return context.new_page()

    yield sign
    for context in contexts:
        context.close()


def test_from_an_authors_question_to_a_second_persons_yes(studio: Studio, as_one: AsOne) -> None:
    admin, author, publisher = (as_one(role) for role in ("admin", "author", "publisher"))
    _ask_for_two(admin, studio)
    create(author, studio.url, "sleep_log")
    open_file(author, "skill.md").fill(SKILL.format(times="once"))
    save(author)
    author.get_by_role("button", name="Review & publish").click()
    author.get_by_label("Release note (required)").fill("The first nights")
    expect(author.get_by_role("button", name="Publish", exact=True)).to_have_count(0)
    author.get_by_role("button", name="Submit for review").click()
    expect(author.get_by_role("heading", name="Review of ")).to_be_visible()
    expect(author.get_by_role("radio", name="Approve")).to_have_count(0)
    author.get_by_label("Reviewer", exact=True).select_option("the-publisher")
    author.get_by_role("button", name="Add reviewer").click()
    expect(author.get_by_role("region", name="Reviewers")).to_contain_text("Waiting")
    address = author.url
    _comment_on_a_line(publisher, studio, address)
    _decide(publisher, "Request changes", "Say how often")
    expect(publisher.get_by_text("Changes requested.")).to_be_visible()
    _is_told(author, studio)
    _submit_fixed_skill(author, studio)
    _is_told_no_more(author, studio)
    publisher.goto(address)
    _is_rendered(publisher)
    _decide(publisher, "Approve")
    expect(publisher.get_by_text("Approved. Ready to publish.")).to_be_visible()
    publisher.get_by_role("link", name="Publish", exact=True).click()
    publisher.get_by_label("Release note (required)").fill("Reviewed")
    publisher.get_by_role("button", name="Publish", exact=True).click()
    expect(publisher.get_by_text("Revision 1 is live.")).to_be_visible()
    publisher.get_by_role("link", name="View it").click()
    publisher.get_by_role("link", name="History", exact=True).click()
    expect(publisher.get_by_text("Approved by the-publisher")).to_be_visible()
    _not_ones_own(publisher, studio)


def _decide(page: Page, decision: str, words: str = "") -> None:
    page.get_by_role("radio", name=decision).check()
    page.get_by_label("Comment", exact=True).last.fill(words)
    page.get_by_role("button", name="Submit review").click()


def _is_rendered(page: Page) -> None:
    """Both rounds as a reader sees them, beside each other."""
    page.get_by_role("link", name="Rendered").click()
    sides = page.locator(".rendered__sides").first.locator("article")
    expect(sides.nth(0)).to_contain_text("Once", ignore_case=True)
    expect(sides.nth(1)).to_contain_text("once a night")
    page.get_by_role("link", name="Diff").click()
    expect(sides).to_have_count(0)


def _ask_for_two(admin: Page, studio: Studio) -> None:
    admin.goto(f"{studio.url}/settings/publishing/")
    whole = admin.get_by_role("region", name="Default")
    whole.get_by_label("Require approval from another person").check()
    whole.get_by_role("button", name="Save").click()
    expect(admin.get_by_text("Policy saved.")).to_be_visible()


def _comment_on_a_line(publisher: Page, studio: Studio, address: str) -> None:
    publisher.goto(f"{studio.url}/reviews/")
    publisher.get_by_role("main").get_by_role("link", name="Sleep Log").click()
    expect(publisher).to_have_url(address)
    publisher.get_by_role("link", name="Comment on line 9 of skill.md").click()
    # Below the line, with the focus, and without a page load.
    assert publisher.url == address
    words = publisher.get_by_label("Comment on skill.md:9")
    expect(words).to_be_focused()
    line = publisher.get_by_role("link", name="Comment on line 9 of skill.md")
    expect(publisher.locator("tr:has(a[href*='line=9']) + tr.composer [name=words]")).to_be_focused()
    words.press("Escape")
    expect(words).to_have_count(0)
    expect(line).to_be_focused()
    publisher.keyboard.press("Enter")
    words.fill("Once a night?")
    # What is said of the whole draft by then is not lost.
    publisher.get_by_role("radio", name="Request changes").check()
    publisher.get_by_label("Comment", exact=True).fill("Two small things.")
    publisher.locator("tr.composer").get_by_role("button", name="Comment", exact=True).click()
    expect(publisher.locator("tr.is-said")).to_contain_text("Once a night?")
    _answer_and_resolve(publisher)


def _answer_and_resolve(publisher: Page) -> None:
    publisher.get_by_role("link", name="Reply").click()
    talk = publisher.get_by_role("complementary", name="Activity")
    talk.get_by_text("Reply", exact=True).first.click()
    talk.get_by_label("Your reply").fill("Asked and answered.")
    talk.get_by_role("button", name="Reply").click()
    expect(talk.get_by_text("Asked and answered.")).to_be_visible()
    expect(talk.get_by_text("1 unresolved comment")).to_be_visible()
    talk.get_by_role("button", name="Resolve").click()
    expect(talk.get_by_text("1 resolved")).to_be_visible()
    expect(publisher.get_by_role("radio", name="Request changes")).to_be_checked()
    expect(publisher.get_by_label("Comment", exact=True)).to_have_value("Two small things.")
    expect(talk.get_by_text("Asked and answered.")).to_be_hidden()
    talk.locator(".entry-fold summary").click()
    expect(talk.get_by_text("Asked and answered.")).to_be_visible()
    talk.get_by_role("button", name="Reopen").click()
    expect(talk.get_by_text("1 unresolved", exact=True)).to_be_visible()


REQUESTED = "Changes requested by the-publisher"


def _is_told(author: Page, studio: Studio) -> None:
    """What the publisher asks for, wherever the author looks, with the way to answer."""
    author.goto(f"{studio.url}/")
    first = author.get_by_role("region", name="Needs your attention").get_by_role("listitem").first
    expect(first).to_contain_text("the-publisher requested changes on Sleep Log")
    expect(first).to_contain_text("Say how often")
    expect(
        author.get_by_role("navigation", name="Studio").get_by_role("link", name=re.compile("Reviews"))
    ).to_contain_text("1")
    first.get_by_role("link", name="Open review").click()
    expect(author.get_by_role("heading", name="Review of ")).to_be_visible()
    for address in ("reviews/", "capabilities/sleep_log/", "capabilities/sleep_log/edit/"):
        author.goto(f"{studio.url}/{address}")
        told = author.get_by_role("region", name="Changes requested")
        expect(told).to_contain_text(REQUESTED)
        expect(told).to_contain_text("Say how often")
    author.get_by_role("link", name="Open review").click()
    expect(author.get_by_role("heading", name="Review of ")).to_be_visible()


def _is_told_no_more(author: Page, studio: Studio) -> None:
    for address in ("", "reviews/", "capabilities/sleep_log/", "capabilities/sleep_log/edit/"):
        author.goto(f"{studio.url}/{address}")
        expect(author.locator("h1")).to_be_visible()
        expect(author.get_by_text(REQUESTED)).to_have_count(0)


def _submit_fixed_skill(author: Page, studio: Studio) -> None:
    author.goto(f"{studio.url}/capabilities/sleep_log/edit/")
    open_file(author, "skill.md").fill(SKILL.format(times="once a night"))
    save(author)
    author.get_by_role("button", name="Review & publish").click()
    author.get_by_label("Release note (required)").fill("Once a night")
    author.get_by_role("button", name="Submit for review").click()
    expect(author.get_by_text("submitted round 2").first).to_be_visible()


def _not_ones_own(publisher: Page, studio: Studio) -> None:
    publisher.goto(f"{studio.url}/capabilities/sleep_log/edit/")
    open_file(publisher, "skill.md").fill(SKILL.format(times="twice"))
    save(publisher)
    publisher.get_by_role("button", name="Review & publish").click()
    expect(publisher.get_by_role("button", name="Publish", exact=True)).to_be_disabled()
    publisher.get_by_label("Release note (required)").fill("My own")
    publisher.get_by_role("button", name="Submit for review").click()
    expect(publisher.get_by_text("approve your own changes")).to_be_visible()
    expect(publisher.get_by_role("radio", name="Approve")).to_have_count(0)


def test_a_release_is_planned_and_called_off(studio: Studio, as_one: AsOne) -> None:
    publisher, admin = as_one("publisher"), as_one("admin")
    admin.goto(f"{studio.url}/settings/publishing/")
    whole = admin.get_by_role("region", name="Default")
    whole.get_by_label("Require approval from another person").uncheck()
    whole.get_by_role("button", name="Save").click()
    create(publisher, studio.url, "nap_log")
    save(publisher)
    publisher.get_by_role("button", name="Review & publish").click()
    publisher.get_by_label("Publish with the placeholder text").check()
    publisher.get_by_label("Release note (required)").fill("At night")
    publisher.get_by_role("radio", name="Schedule").check()
    day = publisher.evaluate("new Date(Date.now() + 86400000).toISOString().slice(0, 16)")
    publisher.get_by_label("Date and time").fill(day)
    publisher.get_by_role("button", name="Schedule release").click()
    expect(publisher.get_by_text("Nap Log goes live on")).to_be_visible()
    publisher.get_by_role("button", name="Cancel release of Nap Log").click()
    expect(publisher.get_by_role("heading", name="Cancel release of “Nap Log”?")).to_be_visible()
    publisher.get_by_role("dialog").get_by_role("button", name="Cancel release").click()
    expect(publisher.get_by_text("Release of Nap Log canceled.")).to_be_visible()
