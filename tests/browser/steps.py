"""What people do in the Studio."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.unit.studio.forms import form_with

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PASSWORD = "Correct-horse-battery-9"
# The frames of the preview have no storage, and may not say so.
AUTOSAVE_OFF = "try { localStorage.setItem('autosave', 'off'); } catch { /* a frame of the preview */ }"


def sign_in(page: Page, url: str, username: str, password: str) -> None:
    """From wherever, to the page after the sign-in."""
    page.goto(f"{url}/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Sign in")).to_have_count(0)


def create(page: Page, url: str, capability_id: str) -> None:
    """A new capability in its editor, by what its form sends; test_capability_new.py and the stories fill it in."""
    shown = page.request.get(f"{url}/new-capability/")
    form = form_with(SimpleNamespace(content=shown.body()), "Create draft")
    given = {
        "name": capability_id.replace("_", " ").title(),
        "capability_id": capability_id,
        "description": "Tests the Studio. Use it when a test runs.",
    }
    headers = {"Referer": shown.url}
    # The editor that it leads to is drawn once, by the page.
    done = page.request.post(f"{url}{form.action}", form=form.values | given, headers=headers, max_redirects=0)
    assert done.headers["location"].startswith(f"/capabilities/{capability_id}/edit/"), done.status
    page.goto(url + done.headers["location"])


# What the Studio calls the four files.
LABELS = {
    "capability.json": "Details",
    "skill.md": "Instructions",
    "tools.json": "Tools",
    "ui_schemas.json": "Forms",
}


def choose(page: Page, name: str, part: str = "") -> None:
    """A part of the outline; what stands beside it stays what it was."""
    beside = page.get_by_role("tablist", name="Issues and preview").get_by_role("tab", selected=True)
    shown = beside.get_attribute("id")
    outline = page.locator("#outline")
    if not outline.is_visible():
        page.locator(".shell__outline summary").click()
    outline.locator(
        f"a[data-file='{name}'][data-part='{part}']" if part else f"a.outline__head[data-file='{name}']"
    ).click()
    expect(page.locator(f"#panel-{name.replace('.', '_')}")).to_be_visible()
    page.locator(f"#{shown}").click()


def open_file(page: Page, name: str) -> Locator:
    """Its part of the outline, as code; answers what is typed in."""
    choose(page, name)
    _show(page, code=True)
    area = page.get_by_role("textbox", name=name, exact=True)
    expect(area).to_be_visible()
    return area


def open_form(page: Page, name: str) -> Locator:
    """Its part of the outline, as a form."""
    choose(page, name)
    _show(page, code=False)
    form = page.get_by_role("group", name=f"{LABELS[name]} as a form")
    expect(form).to_be_visible()
    return form


def open_document(page: Page) -> Locator:
    """The instructions as a document; answers what is typed in."""
    choose(page, "skill.md")
    _show(page, code=False)
    document = page.get_by_role("textbox", name="Instructions", exact=True)
    expect(document).to_be_visible()
    return document


def write_section(page: Page, title: str, words: str) -> None:
    """In the document, in place of what stands below a heading of level 2; where it is missing, it is added."""
    open_document(page)
    text = texts_of(page)["skill_md"]
    body = re.search(rf"(?<=^## {re.escape(title)}\n).*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if body is None:
        put(page, "skill.md", f"{text.rstrip()}\n\n## {title}\n\n{words}\n")
    else:
        put(page, "skill.md", f"{text[: body.start()]}\n{words}\n\n{text[body.end() :]}".rstrip() + "\n")


def _show(page: Page, *, code: bool) -> None:
    switch = page.get_by_role("button", name="Code", exact=True)
    if (switch.get_attribute("aria-pressed") == "true") != code:
        switch.click()


def texts_of(page: Page) -> dict[str, str]:
    """The four texts as they would be sent, by the name of their field."""
    texts: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.code [name]')].map(field => [field.name, field.value]))"
    )
    return texts


def put(page: Page, name: str, text: str) -> None:
    """A whole text at once, as a script or an extension of the browser would: typing a mebibyte takes minutes."""
    page.locator(f"#{name.replace('.', '_')}").evaluate(
        "(area, text) => { area.value = text; area.dispatchEvent(new Event('input', {bubbles: true})); }", text
    )


def save(page: Page) -> None:
    """By the button, until it is done."""
    page.get_by_role("button", name="Save draft").click()
    expect_state(page, "Saved just now")


def expect_state(page: Page, words: str) -> None:
    """What stands beside the buttons of the editor."""
    expect(page.locator(".save-words")).to_have_text(words)


def caret(page: Page, name: str) -> tuple[int, int]:
    """Line and column of the caret in a file's text, from 1, in code points."""
    line, column = page.locator(f"#panel-{name.replace('.', '_')} .cm-content").evaluate(
        "content => { const view = content.cmTile?.view ?? content.cmView?.view;"
        " const { doc, selection: { main: { head } } } = view.state; const line = doc.lineAt(head);"
        " return [line.number, [...doc.sliceString(line.from, head)].length + 1]; }"
    )
    return line, column


def publish(page: Page, note: str) -> None:
    """From the editor through the gate."""
    page.get_by_role("button", name="Review & publish").click()
    page.get_by_label("Release note (required)").fill(note)
    for tick in page.get_by_label("Publish with the placeholder text").all():
        tick.check()
    page.get_by_role("button", name="Publish", exact=True).click()
