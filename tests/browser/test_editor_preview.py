"""The preview: what readers would get, and what hostile texts cannot do in it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.steps import AUTOSAVE_OFF, choose, create, put, texts_of
from tests.servers import ROOT
from tests.sweeps import check_each
from tests.unit.studio.pages.test_draft_preview import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
FORMS = json.loads((ROOT / "examples" / "weights" / "ui_schemas.json").read_text("utf-8"))
VIOLATIONS = """window.violations = [];
document.addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective));"""


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of the weights, which stores nothing by itself."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    page.context.add_init_script(VIOLATIONS)
    page.goto(f"{studio.url}/capabilities/weights/edit/")
    return page


def _view(page: Page, name: str) -> None:
    page.get_by_role("tablist", name="Issues and preview").get_by_role("tab", name=name).click()


def test_a_form_is_drawn_filled_and_its_action_held_against_the_tool(editor: Page) -> None:
    _view(editor, "Forms")
    frame = editor.frame_locator("iframe.preview-form")
    weight = frame.locator("input").nth(1)
    expect(weight).to_have_value("187.6")
    weight.fill("186.4")
    frame.get_by_role("button", name="Save weigh-in").click()
    log = editor.locator(".action-log")
    expect(log).to_contain_text("Calls weight_entry_save_batch: write, requires approval.")
    expect(log).to_contain_text('"weight": 186.4')
    frame.get_by_role("button", name="Cancel").click()
    expect(log).to_contain_text("The form closes. No tool is called.")
    editor.get_by_role("button", name="Dark preview").click()
    expect(editor.get_by_role("button", name="Light preview")).to_be_visible()
    colour = (
        editor.frame_locator("iframe.preview-form")
        .locator("body")
        .evaluate("body => getComputedStyle(body).backgroundColor")
    )
    assert colour == "rgb(20, 25, 32)"
    ink = (
        editor.frame_locator("iframe.preview-form")
        .get_by_role("button", name="Save weigh-in")
        .evaluate("button => getComputedStyle(button).color")
    )
    assert ink == "rgb(255, 255, 255)"
    assert editor.evaluate("violations") == []


def test_what_is_typed_into_a_form_survives_another_theme(editor: Page) -> None:
    _view(editor, "Forms")
    frame = editor.frame_locator("iframe.preview-form")
    weight = frame.locator("input").nth(1)
    expect(weight).to_have_value("187.6")
    weight.fill("186.4")
    editor.evaluate("window.studioTheme.choose('dark')")
    expect(frame.locator("html")).to_have_class("a2ui-dark")
    expect(weight).to_have_value("186.4")
    editor.get_by_role("button", name="Light preview").click()
    expect(frame.locator("html")).to_have_class("a2ui-light")
    expect(weight).to_have_value("186.4")


def test_the_theme_is_offered_where_a_form_cannot_be_drawn(editor: Page) -> None:
    _view(editor, "Forms")
    put(editor, "ui_schemas.json", '[{"schema_id": "Broken.v1", "definition": {"components": 7}}]')
    expect(editor.locator("#preview .banner--warning")).to_be_visible()
    editor.get_by_role("button", name="Dark preview").click()
    expect(editor.get_by_role("button", name="Light preview")).to_be_visible()


def test_the_preview_follows_the_text(editor: Page) -> None:
    _view(editor, "Preview")
    page = editor.frame_locator("iframe.preview-frame")
    expect(page.get_by_role("heading", name="Weight Tracking")).to_be_visible()
    put(editor, "skill.md", texts_of(editor)["skill_md"].replace("# Weight Tracking", "# Another title"))
    expect(page.get_by_role("heading", name="Another title")).to_be_visible()
    _view(editor, "Prompt")
    expect(editor.locator("pre.prompt")).to_contain_text("# Another title")
    expect(editor.get_by_text("tokens")).to_be_visible()
    _view(editor, "API response")
    expect(editor.locator("pre.prompt")).to_contain_text('"capability_id": "weights"')


def test_hostile_markdown_runs_nothing_and_asks_nobody(editor: Page) -> None:
    asked: list[str] = []
    editor.context.on("request", lambda request: asked.append(request.url))
    said: list[str] = []

    def hear(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    editor.on("dialog", hear)
    frame = editor.frame_locator("iframe.preview-frame")

    def check(name: str) -> None:
        asked.clear()
        said.clear()
        # A title of its own, so that the text before is not taken for it.
        put(editor, "skill.md", f"# Hostile {name}\n\n{HOSTILE[name]}\n")
        _view(editor, "Preview")
        title = frame.get_by_role("heading", name=f"Hostile {name}")
        expect(title).to_be_visible()
        for word in frame.locator(".link").all():
            word.click()
        editor.wait_for_timeout(300)
        expect(title).to_be_visible()
        assert {urlsplit(url).netloc for url in asked} <= {urlsplit(editor.url).netloc, ""}
        assert said == []
        assert editor.evaluate("violations.splice(0)") == []

    check_each(HOSTILE, check)


def test_a_component_that_holds_itself_freezes_nothing(editor: Page) -> None:
    broken = json.loads(json.dumps(FORMS[0]))
    broken["definition"]["components"][1]["children"].append("root")
    put(editor, "ui_schemas.json", json.dumps([broken]))
    _view(editor, "Forms")
    expect(editor.get_by_text("It is drawn once its")).to_be_visible()
    expect(editor.locator("iframe.preview-form")).to_have_count(0)


def test_a_hostile_form_asks_nobody_and_reaches_nothing(editor: Page) -> None:
    asked: list[str] = []
    editor.context.on("request", lambda request: asked.append(request.url))
    hostile = json.loads(json.dumps(FORMS[0]))
    text = "<img src=https://evil.example/x onerror=alert(1)> [x](javascript:alert(1)) ![y](https://evil.example/y)"
    for component in hostile["definition"]["components"]:
        if component["component"] == "Text":
            component["text"] = text
    put(editor, "ui_schemas.json", json.dumps([hostile]))
    _view(editor, "Forms")
    frame = editor.frame_locator("iframe.preview-form")
    expect(frame.get_by_text("onerror=alert(1)").first).to_be_visible()
    assert (
        frame.locator("body").evaluate(
            "() => { try { return [parent.document.title]; } catch (error) { return error.name; } }"
        )
        == "SecurityError"
    )
    assert {urlsplit(url).netloc for url in asked} <= {urlsplit(editor.url).netloc, ""}
    assert editor.evaluate("violations") == []


def test_what_another_frame_says_is_not_heard(editor: Page) -> None:
    _view(editor, "Forms")
    expect(editor.frame_locator("iframe.preview-form").locator("input").nth(1)).to_be_visible()
    editor.evaluate("window.postMessage({type: 'action', name: 'forged', context: {}}, '*')")
    editor.wait_for_timeout(300)
    expect(editor.get_by_text("forged")).to_have_count(0)


def test_a_lost_connection_is_said_in_the_preview(editor: Page, allowed_on_console: list[str]) -> None:
    allowed_on_console.append("ERR_CONNECTION_REFUSED")
    editor.route("**/draft/preview/", lambda route: route.abort("connectionrefused"))
    _view(editor, "Preview")
    expect(editor.get_by_text("Can't reach the server.")).to_be_visible()
    editor.unroute("**/draft/preview/")
    put(editor, "skill.md", "# Again\n")
    expect(editor.frame_locator("iframe.preview-frame").get_by_role("heading", name="Again")).to_be_visible()


def test_nothing_breaks_the_content_policy_while_one_writes(editor: Page, studio: Studio) -> None:
    create(editor, studio.url, f"policy_{next(_numbers)}")
    for name in ("skill.md", "tools.json"):
        choose(editor, name)
        for _ in range(2):
            editor.get_by_role("button", name="Code", exact=True).click()
            area = editor.locator(f"#panel-{name.replace('.', '_')} .cm-content")
            if not area.is_visible():
                continue
            for keys in ("Control+a", "x", "Enter", "Control+a", "Control+x", "Control+v", "Control+f", "Escape"):
                area.press(keys)
            area.press_sequentially('{"name": `a')
    assert editor.evaluate("violations") == []
