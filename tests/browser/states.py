"""The states that `test_states.py` measures: a page, and the steps that lead to the state.

Each begins in the furnished Studio (`state_furnishing.py` adds to it), may change it, and must not depend on another.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, open_document, open_file, open_form, put, save

if TYPE_CHECKING:
    from playwright.sync_api import Page

Step = Callable[["Page"], object]


@dataclass(frozen=True)
class State:
    """A page, the steps that lead to the state, and who takes them."""

    address: str
    steps: tuple[Step, ...] = ()
    role: str = "admin"


def press(name: str, *, nth: int = 0) -> Step:
    """Click a button by its name."""
    return lambda page: page.get_by_role("button", name=name, exact=True).nth(nth).click()


def follow(name: str) -> Step:
    """Click a link by its name."""
    return lambda page: page.get_by_role("link", name=name, exact=True).first.click()


def fill(label: str, text: str) -> Step:
    """Write into a field by its label; `{n}` in the text is a number that was not used before."""
    return lambda page: page.get_by_label(label, exact=True).first.fill(text.replace("{n}", str(time.time_ns())))


def choose(label: str, value: str) -> Step:
    """Choose in a select by its label."""
    return lambda page: page.get_by_label(label, exact=True).select_option(value)


def see(selector: str) -> Step:
    """Wait until an element is in sight."""
    return lambda page: expect(page.locator(selector).first).to_be_visible()


def unfold(selector: str = "main details:not([data-menu])") -> Step:
    """Open what is folded."""
    return lambda page: page.locator(selector).evaluate_all("folds => folds.forEach(one => { one.open = true; })")


def fill_last(text: str) -> Step:
    """Write into the last text area of the page that opened for a comment."""
    return lambda page: page.locator(".composer [name=words]").last.fill(text)


def type_in(selector: str, text: str) -> Step:
    """Type into an element."""
    return lambda page: page.locator(selector).first.fill(text)


def comment_on(row: str) -> Step:
    """Open the form of a comment on the first line of a kind, such as `.is-added`, and write into it."""

    def step(page: Page) -> None:
        page.locator(f"tr{row} .sides-no a[href*='line=']").last.click()
        page.locator(".composer [name=words]").last.fill("Why is this no longer approved? " * 4)

    return step


def confirm(page: Page) -> None:
    """Agree to what was asked."""
    page.locator("[name=confirmed]").click()


def asked_by(button: str, *, nth: int = 0) -> tuple[Step, ...]:
    """Press a button that asks before anything is done."""
    return press(button, nth=nth), see("#question")


def refused_in_dialog(button: str) -> tuple[Step, ...]:
    """Agree without what was asked for."""
    return *asked_by(button), confirm, see(".field__error")


def agreed(button: str) -> tuple[Step, ...]:
    """Press a button, and agree to what its dialog asks."""
    return *asked_by(button), confirm


def edit(*steps: Step) -> tuple[Step, ...]:
    """In the editor without autosave, which would change the state while it is measured."""

    def reload(page: Page) -> None:
        page.context.add_init_script(AUTOSAVE_OFF)
        page.reload()

    return reload, *steps


def remove_tool(page: Page) -> None:
    """Remove the first tool, which can be undone."""
    form = open_form(page, "tools.json")
    form.locator("details.tool summary").first.click()
    form.get_by_role("button", name="Delete tool").first.click()
    expect(page.locator("#editor-undo")).to_contain_text("Undo")


FAULTY = (
    "# Weights\n\n## When to use\n\n## Examples\n\n| "
    + "w" * 90
    + " | b |\n| --- | --- |\n| 1 | `"
    + "n" * 90
    + "` |\n"
)


def write_all(text: str) -> Step:
    """Put other instructions into the document."""
    return lambda page: put(page, "skill.md", text)


def open_card(page: Page) -> None:
    """Open the card of the first tool that the instructions name."""
    page.locator(".md-chip").first.click()


def leave_unsaved(page: Page) -> None:
    """Type, close the page as a crash does, and open it again: what was typed is offered."""
    open_file(page, "skill.md").press_sequentially("mine")
    page.wait_for_timeout(800)
    page.evaluate("window.onbeforeunload = null")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_text("Unsaved changes from")).to_be_visible()


def save_against_another(page: Page) -> None:
    """Save what was typed after somebody else has saved the same draft."""
    other = page.context.new_page()
    other.goto(page.url)
    open_file(other, "skill.md").press_sequentially("theirs")
    save(other)
    other.close()
    open_file(page, "skill.md").press_sequentially("mine")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", name="You saved this draft in another tab")).to_be_visible()


def save_signed_out(page: Page) -> None:
    """Save after the session has ended."""
    cookies = page.context.cookies()
    open_file(page, "skill.md").press_sequentially("mine")
    page.context.clear_cookies(name=re.compile("session"))
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator("#notice")).to_be_visible()
    page.context.add_cookies(cookies)  # type: ignore[arg-type]


def send_signed_out(page: Page) -> None:
    """Send the form of a new capability after the session has ended."""
    cookies = page.context.cookies()
    fill("Name", "Housekeeping requests")(page)
    page.locator("#id_description").fill("Takes requests of guests. " * 9)
    page.context.clear_cookies(name=re.compile("session"))
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("heading", name="You've been signed out")).to_be_visible()
    page.context.add_cookies(cookies)  # type: ignore[arg-type]


def send_after_sign_in(page: Page) -> None:
    """Send it with the token of the session before."""
    fill("Name", "Housekeeping requests")(page)
    page.locator("#id_description").fill("Takes requests of guests. " * 9)
    page.locator("[name=csrfmiddlewaretoken]").evaluate_all(
        "all => all.forEach(one => { one.value = 'x'.repeat(64); })"
    )
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("heading", name="Submit again?")).to_be_visible()


REVIEW = "/reviews/1/"
SMALL_REVIEW = "/reviews/2/"
WEIGHTS = "/capabilities/weights/"
LONG = "/capabilities/" + "l" * 31 + "_" + "i" * 32 + "/"
FOLDS = unfold()
MORE: Step = lambda page: page.locator("summary[aria-label='More actions']").click()  # noqa: E731

# Comments on lines, wherever they can be written.
_COMMENTS = {
    "review, a comment on a line that is the same": State(SMALL_REVIEW, (FOLDS, comment_on(".is-same"))),
    "review, a comment on a line that was changed": State(SMALL_REVIEW, (FOLDS, comment_on(".is-changed"))),
    "review, a comment on a line that has comments": State(SMALL_REVIEW, (FOLDS, comment_on(":has(+ .is-said)"))),
    "review, a comment on a file that is new": State(REVIEW, (FOLDS, comment_on(".is-added:is(.is-whole *)"))),
    "review, a change being suggested": State(
        SMALL_REVIEW, (FOLDS, comment_on(".is-same"), unfold(".composer details"))
    ),
    "review, a comment without words": State(
        SMALL_REVIEW, (FOLDS, comment_on(".is-same"), fill_last(""), press("Comment"), see(".field__error"))
    ),
}
# What is shown once, to be copied.
_SECRETS = {
    "keys, a new key": State("/keys/", (fill("Name", "new {n}"), press("Create key"), see("#new-key"))),
    "key, rotated": State("/keys/2/", (choose("Old key works for", "0"), *agreed("Rotate key"), see("#new-key"))),
    "live, a new key": State(
        WEIGHTS + "live/", (fill("API key for", "new {n}"), press("Create API key"), see("#new-key"))
    ),
    "webhooks, a new secret": State(
        "/webhooks/",
        (fill("Name", "n {n}"), fill("URL", "https://h.example.com/x"), press("Create webhook"), see("#new-secret")),
    ),
    "webhook, its secret replaced": State("/webhooks/1/", (FOLDS, *agreed("Replace secret"), see("#new-secret"))),
    "source, its secret replaced": State("/sources/1/", (*agreed("Replace secret"), see("#new-secret"))),
    "share, a new link": State(WEIGHTS + "share/", (fill("Name", "p {n}"), press("Create link"), see("#new-link"))),
    "share, an install code": State(LONG + "share/", (see("#code"),)),
    "members, an invitation": State(
        "/members/", (fill("Username", "n.{n}@example.com"), press("Create invite link"), see("#new-link"))
    ),
}
_DIALOGS = {
    "keys, revoke": State("/keys/", asked_by("Revoke a key with quite a long name, " + "n" * 40)),
    "members, deactivate": State("/members/", asked_by("Deactivate the-author")),
    "overview, retire": State(WEIGHTS, (MORE, *asked_by("Retire"))),
    "overview, retire without a note": State(WEIGHTS, (MORE, *refused_in_dialog("Retire"))),
    "overview, quarantine": State(LONG, (MORE, *asked_by("Quarantine"))),
    "editor, discard the draft": State(WEIGHTS + "edit/", asked_by("Discard draft")),
    "releases, cancel": State("/releases/", asked_by("Cancel release of Excel Analyzer")),
    "review, cancel": State(REVIEW, asked_by("Cancel review")),
    "webhook, delete": State("/webhooks/1/", (FOLDS, *asked_by("Delete webhook"))),
    "source, disconnect": State("/sources/1/", asked_by("Disconnect source")),
    "share, replace the code": State(WEIGHTS + "share/", asked_by("Replace code")),
    "team, remove a member": State("/teams/1/", asked_by("Remove the-author")),
    "policy, remove a rule": State("/settings/publishing/", asked_by("Remove rule of health")),
    "palette": State("/", (press("Search or jump to Ctrl K"), see("#palette-found li"))),
    "palette, nothing found": State("/", (press("Search or jump to Ctrl K"), type_in("#palette input", "zzzz"))),
    "shortcuts": State("/", (lambda page: page.keyboard.press("?"), see("#shortcuts[open]"))),
}
# What a page says after an action.
_SAID = {
    "gate, published without a note": State(
        WEIGHTS + "publish/", (fill("Release note (required)", ""), press("Publish"), see(".field__error"))
    ),
    "keys, a name that is missing": State("/keys/", (press("Create key"), see(".field__error"))),
    "decision, without a reason": State(
        "/capabilities/refund_rules/decisions/", (press("This is fine"), see(".field__error"))
    ),
    "members, a role changed": State("/members/", (press("Change the role of the-author"), see(".toast"))),
    "new, too long": State(
        "/new-capability/", (fill("Name", "n" * 300), fill("ID", "i" * 90), press("Create draft"), see(".field__error"))
    ),
    "session, signed out": State("/new-capability/", (send_signed_out,)),
    "session, submit again": State("/new-capability/", (send_after_sign_in,)),
}
_REVIEWS = {
    f"review, {name}": State(f"/reviews/{number}/", (FOLDS,))
    for number, name in enumerate(("approved", "returned", "withdrawn", "published", "rolled back"), start=2)
}
_PAGES = {
    "overview, quarantined": State("/capabilities/harmful_desk/", (FOLDS,)),
    "overview, retired": State("/capabilities/introduction/", (FOLDS,)),
    "overview, deprecated": State("/capabilities/workouts/", (FOLDS,)),
    "overview, a draft alone": State("/capabilities/many/", (FOLDS,)),
    "overview, a long name and id": State(LONG, (FOLDS,)),
    "history, a long name and id": State(LONG + "history/"),
    "editor, a long name and id": State(LONG + "edit/"),
    "list, long names": State("/capabilities/?q=housekeeping"),
    "list, as a viewer": State("/capabilities/", role="viewer"),
    "overview, as a viewer": State(WEIGHTS, role="viewer"),
    "review, as a viewer": State(REVIEW, (FOLDS,), role="viewer"),
    "keys, none found": State("/keys/?q=zzzz"),
    "incidents, none found": State("/incidents/?q=zzzz"),
    "audit log, none found": State("/audit/?subject=zzzz"),
}
_EDITOR = {
    "editor, the instructions": State(WEIGHTS + "edit/", edit(open_document)),
    "editor, the menu of blocks": State(
        WEIGHTS + "edit/", edit(open_document, press("Insert /"), see("[role=option]"))
    ),
    "editor, the card of a tool": State(WEIGHTS + "edit/", edit(open_document, open_card, see(".md-card"))),
    "editor, no instructions": State(WEIGHTS + "edit/", edit(open_document, write_all(""), see(".cm-placeholder"))),
    "editor, instructions with faults": State(
        WEIGHTS + "edit/", edit(open_document, write_all(FAULTY), see(".cm-lintRange-error"))
    ),
    "editor, comments and one whose line is gone": State(
        "/capabilities/returned_desk/edit/", edit(open_document, see(".margin-note q"))
    ),
    "editor, a reply being written": State(
        "/capabilities/returned_desk/edit/", edit(open_document, unfold(".margin-note details"))
    ),
    "editor, the details": State(WEIGHTS + "edit/", edit(lambda page: open_form(page, "capability.json"))),
    "editor, a tool removed": State(WEIGHTS + "edit/", edit(remove_tool)),
    "editor, unsaved changes found": State("/capabilities/withdrawn_desk/edit/", edit(leave_unsaved)),
    "editor, a conflict": State("/capabilities/approved_desk/edit/", edit(save_against_another)),
    "editor, signed out": State("/capabilities/returned_desk/edit/", edit(save_signed_out)),
}
STATES = {**_COMMENTS, **_SECRETS, **_DIALOGS, **_SAID, **_REVIEWS, **_PAGES, **_EDITOR}
