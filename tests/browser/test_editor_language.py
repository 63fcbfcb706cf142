"""The editor in another language: whatever its scripts show is a translation."""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from capability_rules.schema_loader import read_schema
from capability_rules.validation.rules.sections import list_sections
from tests.browser.steps import AUTOSAVE_OFF, choose, create, put
from tests.browser.test_editor_places import FORM, FULL
from tests.factories import to_json
from tests.unit.studio.brackets import CLOSED, OPENED, outside_brackets
from tests.unit.studio.script_texts import EDITOR, SERVED, literals

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
MARKED = [one.words for file in (*SERVED, *EDITOR) for one in literals(file.read_text("utf-8")) if one.is_marked]
CATALOG = json.dumps({text: f"{OPENED}{text}{CLOSED}" for text in MARKED})
# Findings bring words of the server, whose templates this test does not translate; suggestions those of the bundle.
SHOWN = """all => all.map(one => {
    const copy = one.cloneNode(true);
    const ofServer = ".field-finding-words > .visually-hidden, .issue__code, [data-fix], [data-at*='-suggested-']";
    for (const words of copy.querySelectorAll(ofServer)) words.remove();
    return copy.outerHTML;
})"""
# Values of the bundle that stand as texts in the forms; the words that a playbook is written in.
CHOSEN = ("Does", "Place", "PlaceForm", "day", "id", "full", "save", "first", "bins")
FORMAT = ("Do", "Check", "Say", "Steps", "Goal", "Title")


def _descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from [schema["description"]] if isinstance(schema.get("description"), str) else []
        for inner in schema.values():
            yield from _descriptions(inner)


def _registry_texts() -> list[str]:
    """What schemas and profiles say: texts of the registry, the same for an agent and a person in every language."""
    found = [words for name in ("capability", "tools", "ui_schemas") for words in _descriptions(read_schema(name))]
    for profile in ("capability", "playbook"):
        found += [words for one in list_sections(profile) for words in (one.hint, one.name)]
    return sorted(set(found), key=len, reverse=True)


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio, allowed_on_console: list[str]) -> Page:
    """The editor whose page brings each sentence in brackets."""
    # A page that a test answers has no address: its frames may not read from this computer.
    allowed_on_console += ["loopback", "ERR_FAILED"]
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    create(page, studio.url, f"spoken_{next(_numbers)}")

    def translate(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=f"{answer.text()};Object.assign(django.catalog, {CATALOG});")

    page.route("**/script-texts/", translate)
    page.reload()
    return page


def _untranslated(page: Page, selector: str) -> list[str]:
    shown = "".join(page.locator(selector).evaluate_all(SHOWN))
    for words in _registry_texts():
        shown = shown.replace(html.escape(words, quote=False), "")
    return outside_brackets(shown, (*CHOSEN, *FORMAT))


def test_the_forms_and_the_preview_speak_the_readers_language(editor: Page) -> None:
    put(editor, "skill.md", "# Title\n\nWords\n\n## Steps\n\n### 1. first\n\n**Do:** day\n\n## first\n\n## \n")
    for file, value in FULL.items():
        put(editor, file, to_json(value))
    for file in ("capability.json", "skill.md", "tools.json", "ui_schemas.json"):
        choose(editor, file)
        form = editor.locator(f".file[data-file='{file}'] .form-view")
        expect(form.locator("button").first).to_be_attached()
        if file == "tools.json":
            expect(form.locator(".field-finding").first).to_be_attached()
        assert _untranslated(editor, f".file[data-file='{file}'] .form-view > *") == [], file
    assert _untranslated(editor, ".save-words") == []
    for view in ("skill", "forms", "agent", "load"):
        editor.locator(f"#view-{view}").click()
        expect(editor.locator("#preview > *").first).to_be_visible()
        expect(editor.locator(".preview-wait")).to_have_count(0)
        assert _untranslated(editor, "#preview > *") == [], view


def test_what_a_form_cannot_show_is_said_in_the_readers_language(editor: Page) -> None:
    for text in ("{", "[1,", '[1, {"a": 1}]', '"text"'):
        put(editor, "tools.json", text)
        choose(editor, "tools.json")
        form = ".file[data-file='tools.json'] .form-view"
        expect(editor.locator(f"{form} .banner").first).to_be_visible()
        assert _untranslated(editor, f"{form} > *") == [], text
    put(editor, "ui_schemas.json", to_json({"a": FORM["definition"]}))
    choose(editor, "ui_schemas.json")
    expect(editor.locator(".screen")).to_have_count(1)
    assert _untranslated(editor, ".file[data-file='ui_schemas.json'] .form-view > *") == []


def test_the_text_editor_speaks_it_too(editor: Page) -> None:
    choose(editor, "capability.json")
    editor.locator("[data-code]").click()
    editor.locator("#panel-capability_json .cm-content").press("Control+f")
    expect(editor.locator(".cm-search")).to_be_visible()
    assert _untranslated(editor, ".cm-panels") == []
