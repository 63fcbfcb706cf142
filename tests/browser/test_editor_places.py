"""From a finding to the field that writes it: jump, fix it in the form, and the finding is gone."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from registry.authoring.field_locator import FIELDS, ROWS, is_valid_location
from tests.browser.steps import (
    AUTOSAVE_OFF,
    caret,
    choose,
    create,
    open_document,
    open_file,
    open_form,
    put,
    save,
    texts_of,
    write_section,
)
from tests.factories import to_json, tool
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
_numbers = itertools.count(1)
LIMIT: dict[str, Any] = {"type": "whole", "description": "How many entries at most."}
FORM = {
    "schema_id": "PlaceForm.v1",
    "title": "Place",
    "definition": {"surfaceId": "main", "catalogId": "none", "components": [{"id": "root", "component": "Nothing"}]},
}


@pytest.fixture
def editor(as_role: Callable[[str], Page], studio: Studio) -> Page:
    """The editor of a capability of its own, which saves when it is told to."""
    page = as_role("publisher")
    page.context.add_init_script(AUTOSAVE_OFF)
    create(page, studio.url, f"place_{next(_numbers)}")
    return page


def test_findings_of_a_longer_text_are_drawn_over_a_shorter_one(editor: Page) -> None:
    """An answer may come when the text has changed already."""
    area = open_file(editor, "skill.md")
    with editor.expect_response("**/draft/check/") as late:
        area.fill("# Title\n\n## Steps\n" + "\nOne more line." * 30 + "\n\n**User:** what a user would say\n")
    answer = late.value.text()
    assert "PLACEHOLDER_LEFT" in answer
    open_document(editor)
    area = open_file(editor, "skill.md")
    editor.route("**/draft/check/", lambda route: route.fulfill(body=answer, content_type="text/html"))
    with editor.expect_response("**/draft/check/"):
        area.fill("# Title\n\n## Steps\n\nLess.")
    expect(_finding(editor, "PLACEHOLDER_LEFT")).to_be_visible()
    expect(open_document(editor)).to_contain_text("Less.")


def _tools(*arguments: dict[str, Any]) -> str:
    """A tool without a fault before one with these arguments of `limit`, folded both."""
    tools = [tool("place_get"), *(tool("place_list", properties={"limit": one}) for one in arguments)]
    return to_json(tools)


def _finding(page: Page, code: str) -> Locator:
    return page.locator("#findings .issue").filter(has=page.locator("code", has_text=re.compile(f"^{code}$"))).first


def _go_to(page: Page, code: str) -> None:
    _finding(page, code).locator("a.issue__place").click()


def _field(control: Locator) -> Locator:
    """A control with its label and what stands below it."""
    return control.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' field ')][1]")


def test_a_wrong_type_is_mended_in_the_form(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    put(editor, "tools.json", _tools(LIMIT))
    # From another file, into a row that is folded.
    open_form(editor, "capability.json")
    _go_to(editor, "TOOL_SCHEMA_INVALID")
    kind = form.get_by_role("combobox", name="Type")
    expect(kind).to_be_focused()
    expect(kind).to_be_in_viewport()
    expect(kind).to_have_attribute("aria-invalid", "true")
    expect(kind).to_have_accessible_description(re.compile("^Error: .*type"))
    beside = form.locator(".property .field-finding")
    expect(beside).to_contain_text("type")
    page_of = beside.get_by_role("link", name="TOOL_SCHEMA_INVALID")
    assert str(page_of.get_attribute("href")).endswith("/help/findings/TOOL_SCHEMA_INVALID/")
    # The fold says what it holds, and the other one holds nothing.
    expect(form.locator("summary", has_text="place_list")).to_contain_text("Errors: 1")
    expect(form.locator("summary", has_text="place_get").locator(".fold-count")).to_have_count(0)
    kind.select_option("integer")
    expect(_finding(editor, "TOOL_SCHEMA_INVALID")).to_have_count(0)
    expect(beside).to_have_count(0)
    expect(kind).not_to_have_attribute("aria-invalid", "true")
    expect(kind).to_be_focused()
    written = json.loads(texts_of(editor)["tools_json"])[1]["args_schema"]["properties"]["limit"]
    assert written == {"type": "integer", "description": LIMIT["description"]}


def test_what_no_field_writes_is_shown_in_its_row_and_leads_to_the_text(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    put(editor, "tools.json", _tools({"type": "string", "description": "Which.", "pattern": "("}))
    beside = form.locator("li.property .field-finding")
    form.locator("summary", has_text="place_list").click()
    expect(beside).to_contain_text("pattern")
    _go_to(editor, "TOOL_SCHEMA_INVALID")
    expect(editor.locator("#editor-said")).to_have_text("This can only be edited in code.")
    expect(editor.get_by_role("textbox", name="tools.json", exact=True)).to_be_focused()
    line = next(n for n, row in enumerate(texts_of(editor)["tools_json"].split("\n"), 1) if '"pattern"' in row)
    assert caret(editor, "tools.json")[0] == line
    open_form(editor, "tools.json")
    beside.get_by_role("button", name="Open code").click()
    expect(editor.get_by_role("textbox", name="tools.json", exact=True)).to_be_focused()


def test_a_phrase_and_a_missing_key_lead_to_their_fields(editor: Page) -> None:
    form = open_form(editor, "capability.json")
    capability = json.loads(texts_of(editor)["capability_json"])
    del capability["name"]
    capability["intent_triggers"] = ["one phrase", "another one", "one phrase"]
    capability["license"] = 7
    put(editor, "capability.json", to_json(capability))
    _go_to(editor, "TRIGGER_DUPLICATE")
    phrases = form.get_by_role("textbox", name="Trigger phrases")
    expect(phrases).to_be_focused()
    _go_to(editor, "FIELD_MISSING")
    expect(form.get_by_role("textbox", name="Name", exact=True)).to_be_focused()
    # What is folded away is opened.
    _go_to(editor, "FIELD_INVALID")
    expect(form.get_by_role("textbox", name="License")).to_be_focused()
    # A quick fix is offered beside the field as well; the field has the focus once its button is gone.
    _field(phrases).get_by_role("button", name="Remove the second one").click()
    expect(phrases).to_be_focused()
    expect(_field(phrases).locator(".field-finding")).to_have_count(0)
    assert json.loads(texts_of(editor)["capability_json"])["intent_triggers"] == ["one phrase", "another one"]


def test_a_finding_of_the_skill_is_marked_in_the_document(editor: Page) -> None:
    document = open_document(editor)
    marks = document.locator(".cm-lintRange-warning")
    expect(marks).to_have_count(3)
    write_section(editor, "Default behavior", "Answer in one sentence.")
    expect(marks).to_have_count(2)


def test_a_finding_leads_to_its_sentence_which_what_is_typed_replaces(editor: Page) -> None:
    choose(editor, "capability.json")
    editor.locator("#findings a.issue__place").first.click()
    document = editor.get_by_role("textbox", name="Instructions", exact=True)
    expect(document).to_be_focused()
    editor.keyboard.type("Answer in one sentence.")
    assert "\n\nAnswer in one sentence.\n\n## " in texts_of(editor)["skill_md"]
    editor.locator("#findings a.issue__place").last.click()
    expect(document).to_be_focused()
    editor.keyboard.type("Answers.")
    # Who speaks stays.
    assert "\n**Agent:** Answers.\n" in texts_of(editor)["skill_md"]


def test_an_address_with_a_place_opens_its_field(editor: Page) -> None:
    open_form(editor, "tools.json")
    put(editor, "tools.json", _tools(LIMIT))
    save(editor)
    editor.goto(editor.url.replace("/edit/", "/publish/"))
    editor.locator(".issue", has_text="TOOL_SCHEMA_INVALID").locator("a.issue__place").first.click()
    expect(editor.get_by_role("combobox", name="Type")).to_be_focused()


def test_a_finding_does_not_move_to_the_row_that_took_its_place(editor: Page) -> None:
    form = open_form(editor, "tools.json")
    right = LIMIT | {"type": "integer"}
    tools = [tool("place_get", properties={"limit": right}), tool("place_list", properties={"limit": LIMIT})]
    put(editor, "tools.json", to_json(tools))
    wrong = form.locator("li.property .field-finding-error")
    expect(wrong).to_have_count(1)
    # The next check does not come.
    editor.route("**/draft/check/", lambda route: None)
    form.locator("summary").nth(1).click()
    form.get_by_role("button", name="Move up").click()
    expect(form.locator("summary").first).to_contain_text("place_list")
    expect(wrong).to_have_count(0)


FULL: dict[str, Any] = {
    "capability.json": {
        "capability_id": "full",
        "skill_profile": "playbook",
        "playbook": {"problem": "p", "conditions": [], "keywords": ["k"]},
        "metadata": {"a/b": "c"},
    },
    "tools.json": [
        tool(
            "full_save",
            "write",
            {
                "kind": {"type": "string", "enum": ["a", "b"]},
                "rows": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"day": {"type": "string"}}},
                },
            },
            result_schema={"type": "object", "properties": {"id": {"type": "string"}}},
        )
    ],
    "ui_schemas.json": [FORM],
}


def test_the_forms_and_the_server_name_the_same_fields(editor: Page) -> None:
    def check(file: str) -> None:
        put(editor, file, to_json(FULL[file]))
        form = open_form(editor, file)
        places = form.locator("[data-field]")
        expect(places.first).to_be_attached()
        drawn = places.evaluate_all("all => all.map(one => one.dataset.field)")
        patterns = (*FIELDS[file], *ROWS.get(file, ()))
        assert [one for one in drawn if not any(is_valid_location(pattern, one) for pattern in patterns)] == []
        assert [pattern for pattern in patterns if not any(is_valid_location(pattern, one) for one in drawn)] == []

    check_each(FULL, check)


def test_findings_beside_fields_are_accessible(editor: Page) -> None:
    from tests.browser.test_looks import bring_into_form, fits, is_accessible

    looked_at = {"capability.json": "light, 390", "tools.json": "dark, 1440", "ui_schemas.json": "dark, 390"}
    put(editor, "ui_schemas.json", to_json([FORM]))
    put(editor, "tools.json", _tools(LIMIT, {"type": "string", "pattern": "("}))
    put(editor, "capability.json", '{"intent_triggers": ["a", "a"], "os": [], "priority": "x", "name": ""}')
    for file, look in looked_at.items():
        form = open_form(editor, file)
        expect(form.locator(".field-finding").first).to_be_attached()
        for fold in form.locator("details").all():
            fold.evaluate("fold => { fold.open = true; }")
        for each in ("light, 1440", "light, 390"):
            bring_into_form(editor, each)
            fits(editor, each)
        bring_into_form(editor, look)
        is_accessible(editor, look)


def test_the_text_has_its_marks_as_before(editor: Page) -> None:
    open_file(editor, "tools.json")
    put(editor, "tools.json", _tools(LIMIT))
    _go_to(editor, "TOOL_SCHEMA_INVALID")
    expect(editor.get_by_role("textbox", name="tools.json", exact=True)).to_be_focused()
    expect(editor.locator("#editor-said")).to_be_hidden()


def test_the_outline_leads_back_from_a_place_of_the_text(editor: Page) -> None:
    switch = editor.get_by_role("button", name="Code", exact=True)
    style = "one => getComputedStyle(one).backgroundColor"
    plain = switch.evaluate(style)
    address = editor.url.partition("?")[0]
    editor.goto(f"{address}?file=capability.json&line=3")
    expect(editor.get_by_role("textbox", name="capability.json", exact=True)).to_be_focused()
    expect(switch).to_have_attribute("aria-pressed", "true")
    assert switch.evaluate(style) != plain
    choose(editor, "capability.json")
    expect(editor.get_by_role("group", name="Details as a form")).to_be_visible()
    expect(switch).to_have_attribute("aria-pressed", "false")
    # What was chosen by the switch stays.
    switch.click()
    choose(editor, "tools.json")
    expect(editor.get_by_role("textbox", name="tools.json", exact=True)).to_be_visible()
    editor.reload()
    expect(switch).to_have_attribute("aria-pressed", "true")


def test_a_waived_issue_is_neither_counted_nor_a_warning(editor: Page) -> None:
    address, count = editor.url, editor.locator("[data-findings-count]")
    expect(count).to_have_attribute("data-mark", "warning")
    before = int(count.inner_text())
    editor.get_by_role("link", name="Waive PLACEHOLDER_LEFT").first.click()
    editor.get_by_label("Reason").fill("Each team fills it in.")
    editor.get_by_label("End date").fill((datetime.now(UTC) + timedelta(days=9)).date().isoformat())
    editor.get_by_role("button", name="Waive issue").click()
    editor.goto(address.partition("?")[0])
    expect(editor.locator("#findings .issue--waived")).to_have_count(1)
    expect(count).to_have_text(str(before - 1))
    open_file(editor, "skill.md")
    expect(editor.locator(".cm-lint-marker-info")).to_have_count(1)
