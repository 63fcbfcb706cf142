"""A right that goes while the page is open: nothing is written, nothing that was typed is lost, and it is said why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, PASSWORD, create, expect_state, open_file, save, sign_in, texts_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TYPED = "# Typed\n\nNobody may lose this.\n"
SCRIPTS = {
    "role": "operators.set_role(username={name!r}, role={to!r}, by=SYSTEM)",
    "team": "team = teams.create_team(name={to!r}, by=SYSTEM); "
    "teams.set_owning_team(capability_id={name!r}, key=team.pk, by=SYSTEM)",
    "free": "teams.set_owning_team(capability_id={name!r}, key=None, by=SYSTEM)",
}


@pytest.fixture
def as_new(studio: Studio, browser: Browser) -> Iterator[Callable[[str, str], Page]]:
    """Makes somebody with a role and signs them in, in a browser of their own: the others keep their rights."""
    contexts = []

    def come(name: str, role: str) -> Page:
        studio.manage("operator", "create", name, "--role", role, "--password-stdin", text=PASSWORD)
        context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        context.add_init_script(AUTOSAVE_OFF)
        contexts.append(context)
        page = context.new_page()
        sign_in(page, studio.url, name, PASSWORD)
        return page

    yield come
    for context in contexts:
        context.close()


def _do(studio: Studio, what: str, name: str, to: str = "") -> None:
    """As an admin would, in a process of their own."""
    script = SCRIPTS[what].format(name=name, to=to)
    studio.manage(
        "shell",
        "-c",
        f"from registry.access import operators, teams; from registry.common.actors import SYSTEM; {script}",
    )


def _wish_to_save(page: Page) -> None:
    page.get_by_role("button", name="Save draft").click()
    expect_state(page, "Couldn't save")
    assert texts_of(page)["skill_md"] == TYPED


def test_who_becomes_a_viewer_while_writing_keeps_the_text(
    studio: Studio, as_new: Callable[[str, str], Page]
) -> None:  # fmt: skip
    page = as_new("vera", "author")
    create(page, studio.url, "vera_log")
    open_file(page, "skill.md").fill(TYPED)
    _do(studio, "role", "vera", "viewer")
    # The session of the right that was lost has ended.
    _wish_to_save(page)
    notice = page.get_by_role("alert").filter(has_text="You've been signed out.")
    expect(notice).to_be_visible()
    with page.context.expect_page() as opened:
        notice.get_by_role("link", name="Sign in in another tab").click()
    sign_in(opened.value, studio.url, "vera", PASSWORD)
    _wish_to_save(page)
    expect(page.get_by_role("alert").filter(has_text="Viewers can't edit drafts.")).to_be_visible()


def test_what_a_team_takes_over_while_somebody_writes_is_refused_and_can_be_saved_when_it_is_free_again(
    studio: Studio, as_new: Callable[[str, str], Page]
) -> None:
    # A second try of this test finds what the first has made.
    name = f"theo{uuid4().hex[:6]}"
    page = as_new(name, "author")
    create(page, studio.url, f"{name}_log")
    open_file(page, "skill.md").fill(TYPED)
    _do(studio, "team", f"{name}_log", "Others")
    _wish_to_save(page)
    expect(page.get_by_role("alert").filter(has_text="Only members of the team 'Others'")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="What you typed is still here.")).to_be_visible()
    _do(studio, "free", f"{name}_log")
    save(page)
    page.reload()
    assert texts_of(page)["skill_md"] == TYPED


def test_who_may_no_longer_publish_keeps_the_note_and_nothing_is_published(
    studio: Studio, as_new: Callable[[str, str], Page]
) -> None:
    page = as_new("paula", "publisher")
    create(page, studio.url, "paula_log")
    save(page)
    page.get_by_role("button", name="Review & publish").click()
    page.get_by_label("Release note (required)").fill("A note at some length")
    _do(studio, "role", "paula", "author")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("heading", name="You've been signed out")).to_be_visible()
    expect(page.get_by_role("definition").filter(has_text="A note at some length")).to_be_visible()
    sign_in(page, studio.url, "paula", PASSWORD)
    page.goto(f"{studio.url}/capabilities/paula_log/publish/")
    expect(page.get_by_role("button", name="Publish", exact=True)).to_have_count(0)
    page.goto(f"{studio.url}/capabilities/paula_log/")
    expect(page.get_by_text("Not published yet")).to_be_visible()


def test_what_a_team_takes_over_while_the_gate_is_open_is_not_published(
    studio: Studio, as_new: Callable[[str, str], Page]
) -> None:
    page = as_new("petra", "publisher")
    create(page, studio.url, "petra_log")
    save(page)
    page.get_by_role("button", name="Review & publish").click()
    page.get_by_label("Release note (required)").fill("Now")
    _do(studio, "team", "petra_log", "Keepers")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="Only members of the team 'Keepers'")).to_be_visible()
    expect(page.get_by_text("Your note wasn't saved:")).to_be_visible()
    expect(page.get_by_role("button", name="Publish", exact=True)).to_have_count(0)
    page.goto(f"{studio.url}/capabilities/petra_log/")
    expect(page.get_by_text("Not published yet")).to_be_visible()
