"""Somebody who is not an engineer makes a capability: step by step, as a copy, from files, from a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from capability_rules.bundles.archives import write_zip
from tests.browser.steps import AUTOSAVE_OFF, texts_of
from tests.factories import bundle

if TYPE_CHECKING:
    import httpx2
    from playwright.sync_api import Dialog, Page, Route

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DO_WHAT_IS_DUE = """
from registry.core.jobs import queue
while queue.run_next_job(with_concurrency_key=True):
    pass
"""


@pytest.fixture
def author(as_role: Callable[[str], Page], page: Page) -> Page:
    page.add_init_script(AUTOSAVE_OFF)
    return as_role("author")


def _begin(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/new-capability/")
    page.get_by_label("Name", exact=True).fill(name)
    page.locator("#id_description").fill("Logs naps. Use it when somebody says 'bad night'.")


def test_two_tools_and_a_form_without_a_line_of_json(author: Page, studio: Studio) -> None:
    _begin(author, studio.url, "Nap Log")
    expect(author.get_by_label("ID", exact=True)).to_have_value("nap_log")
    phrases = author.get_by_label("Trigger phrases")
    phrases.fill("weigh-in")
    phrases.press("Enter")
    expect(author.get_by_text("Agents will ask the user which one they mean")).to_be_visible()
    author.get_by_role("button", name="Remove weigh-in").click()
    expect(author.get_by_text("Agents will ask the user which one they mean")).to_have_count(0)
    author.get_by_role("button", name="bad night").click()
    expect(author.get_by_role("button", name="Remove bad night")).to_be_visible()
    author.get_by_label("Example messages").fill("I had a bad night and napped")
    add = author.get_by_role("button", name="Add tool")
    add.click()
    called = author.locator("#tools").get_by_label("Name", exact=True)
    expect(called).to_be_focused()
    called.fill("nap_find")
    author.locator("[name$='-does']").fill("Finds naps of a day")
    author.get_by_label("Argument", exact=True).fill("day")
    author.get_by_label("Type", exact=True).select_option("date")
    author.locator("[name$='-meaning']").fill("Which day")
    add.click()
    expect(called).to_have_count(2)
    called.last.fill("nap_save")
    author.locator("[name$='-does']").last.fill("Saves one nap")
    author.get_by_label("Access", exact=True).last.select_option("write")
    author.get_by_label("Argument", exact=True).last.fill("minutes")
    author.get_by_label("Type", exact=True).last.select_option("whole number")
    author.locator("[name$='-meaning']").last.fill("How long it was")
    author.get_by_label("Required").last.check()
    author.get_by_label("Generate a form").last.check()
    author.get_by_role("button", name="Create draft").click()
    author.wait_for_url("**/capabilities/nap_log/edit/**")
    texts = texts_of(author)
    capability, tools = json.loads(texts["capability_json"]), json.loads(texts["tools_json"])
    assert capability["intent_triggers"] == ["bad night"]
    assert capability["utterances"]["should_match"] == ["I had a bad night and napped"]
    assert [(each["name"], each["policy"]["kind"]) for each in tools] == [("nap_find", "read"), ("nap_save", "write")]
    assert json.loads(texts["ui_schemas_json"])[0]["actions"]["send"] == {"tool": "nap_save"}
    expect(author.locator("#findings .issues")).to_contain_text("PLACEHOLDER_LEFT")
    expect(author.locator("#findings .badge--danger")).to_have_count(0)


def test_who_types_on_while_the_answer_is_on_its_way_loses_nothing(author: Page, studio: Studio) -> None:
    _begin(author, studio.url, "Slow Log")
    author.get_by_role("button", name="Add tool").click()
    author.get_by_role("button", name="Add tool").click()
    expect(author.locator("#tools").get_by_label("Name", exact=True)).to_have_count(2)
    held: list[Route] = []
    _hold(author, held)
    author.get_by_role("button", name="Add tool").click()
    expect(author.get_by_role("button", name="Add tool")).to_be_disabled()
    does = author.locator("[name$='-does']").first
    does.fill("Finds naps")
    author.locator("#tools").get_by_label("Name", exact=True).last.fill("nap_save")
    author.get_by_label("Generate a form").last.check()
    does.focus()
    does.press("ArrowLeft")
    _let_go(author, held)
    expect(author.locator("#tools").get_by_label("Name", exact=True)).to_have_count(3)
    expect(does).to_be_focused()
    does.press_sequentially("!")
    expect(does).to_have_value("Finds nap!s")
    expect(author.locator("#tools").get_by_label("Name", exact=True).nth(1)).to_have_value("nap_save")
    expect(author.get_by_label("Generate a form").nth(1)).to_be_checked()
    # The rows behind one that goes move up, and what is typed into them meanwhile moves with them.
    _hold(author, held)
    author.get_by_role("button", name="Delete tool 1").click()
    author.locator("[name$='-does']").nth(1).fill("Saves naps")
    author.locator("[name$='-meaning']").nth(1).fill("Which")
    _let_go(author, held)
    expect(author.locator("#tools").get_by_label("Name", exact=True)).to_have_count(2)
    expect(author.locator("#tools").get_by_label("Name", exact=True).first).to_have_value("nap_save")
    expect(author.locator("[name$='-does']").first).to_have_value("Saves naps")
    expect(author.locator("[name$='-meaning']").first).to_be_focused()
    expect(author.locator("[name$='-meaning']").first).to_have_value("Which")


def _hold(author: Page, held: list[Route]) -> None:
    """Requests of the page wait from here on."""

    def hold(route: Route) -> None:
        held.append(route)

    author.route("**/new-capability/", hold)


def _let_go(author: Page, held: list[Route]) -> None:
    """What is held back goes its way, words to look up as well; what a busy machine sends only now is not held."""
    while held:
        held.pop().continue_()
    author.unroute_all()


def test_what_is_wrong_stands_where_it_was_typed(
    author: Page, studio: Studio, allowed_on_console: list[str]
) -> None:  # fmt: skip
    allowed_on_console.append("400")
    _begin(author, studio.url, "Nap Log Two")
    author.get_by_role("button", name="Add tool").click()
    author.locator("#tools").get_by_label("Name", exact=True).fill("Not A Name")
    author.get_by_role("button", name="Create draft").click()
    expect(author.locator(".field__error").get_by_text("Add a description")).to_be_visible()
    expect(author.locator("#tools").get_by_label("Name", exact=True)).to_have_value("not_a_name")
    author.get_by_role("button", name="Delete tool").click()
    expect(author.locator("#tools").get_by_label("Name", exact=True)).to_have_count(0)
    author.get_by_role("button", name="Create draft").click()
    author.wait_for_url("**/capabilities/nap_log_two/edit/**")


def test_who_types_before_the_script_has_come_types_on(author: Page, studio: Studio) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    # By whatever digest it is served.
    author.route("**/capability_new*.js", hold)
    author.goto(f"{studio.url}/new-capability/", wait_until="commit")
    author.get_by_label("Trigger phrases").press_sequentially("bad night\nsleep")
    assert held
    _let_go(author, held)
    entry = author.locator("#id_triggers_entry")
    expect(entry).to_be_focused()
    author.keyboard.type(" log")
    expect(entry).to_have_value("sleep log")
    expect(author.get_by_role("button", name="Remove bad night")).to_be_visible()
    author.keyboard.press("Enter")
    expect(author.get_by_role("button", name="Remove sleep log")).to_be_visible()


def test_enter_in_a_field_creates_and_adds_no_row(author: Page, studio: Studio) -> None:
    _begin(author, studio.url, "Nap Log Three")
    author.get_by_label("Name", exact=True).press("Enter")
    author.wait_for_url("**/capabilities/nap_log_three/edit/**")


def test_a_folder_of_two_becomes_two_drafts(author: Page, studio: Studio, tmp_path: Path) -> None:
    for name in ("folder_one", "folder_two"):
        (tmp_path / "mine" / name).mkdir(parents=True)
        for file, text in bundle(name).items():
            (tmp_path / "mine" / name / file).write_text(text, "utf-8")
    author.goto(f"{studio.url}/new-capability/files/")
    author.get_by_label("Folder").set_input_files(tmp_path / "mine")
    author.get_by_role("button", name="Import").click()
    expect(author.get_by_role("heading", name="2 drafts imported")).to_be_visible()
    author.get_by_role("link", name="Folder Two").click()
    author.wait_for_url("**/capabilities/folder_two/edit/**")


def test_a_git_address_that_is_refused_is_told_when_the_job_has_ended(author: Page, studio: Studio) -> None:
    author.goto(f"{studio.url}/new-capability/git/")
    author.get_by_label("Repository URL").fill("https://127.0.0.1/skills")
    author.get_by_role("button", name="Import").click()
    expect(author.get_by_role("heading", name="Importing")).to_be_visible()
    studio.manage("shell", "-c", DO_WHAT_IS_DUE)
    expect(author.get_by_role("alert").filter(has_text="Nothing was imported")).to_be_visible(timeout=20_000)


def test_what_an_agent_asked_for_becomes_a_draft(author: Page, studio: Studio, agent: httpx2.Client) -> None:
    assert agent.get("/api/v1/capability_skill_load", params={"capability_id": "moon_phase"}).status_code == 404
    row = author.get_by_role("row").filter(has_text="moon_phase")
    for _ in range(20):
        author.goto(f"{studio.url}/demand/")
        if row.count():
            break
        author.wait_for_timeout(500)
    row.get_by_role("link", name="Create").click()
    expect(author.get_by_label("ID", exact=True)).to_have_value("moon_phase")
    author.locator("#id_description").fill("Tells the phase of the moon. Use it when asked.")
    author.get_by_role("button", name="Create draft").click()
    author.wait_for_url("**/capabilities/moon_phase/edit/**")
    author.goto(f"{studio.url}/demand/")
    expect(row.get_by_text("Not published")).to_be_visible()
    row.get_by_role("button", name="Dismiss").click()
    expect(author.get_by_text("Dismissed. It returns")).to_be_visible()
    expect(row).to_have_count(0)


def test_a_fault_far_below_is_said_where_the_page_opens_and_leads_there(
    author: Page, studio: Studio, allowed_on_console: list[str]
) -> None:
    allowed_on_console.append("400")
    _begin(author, studio.url, "Far Below")
    author.get_by_role("button", name="Add tool").click()
    author.locator("#tools").get_by_label("Name", exact=True).fill("nap!")
    author.locator("[name$='-does']").fill("Finds naps")
    author.get_by_role("button", name="Create draft").click()
    fault = author.get_by_role("link", name="Tool 1")
    expect(fault).to_be_in_viewport()
    expect(author.locator("#tools").get_by_label("Name", exact=True)).not_to_be_in_viewport()
    fault.click()
    expect(author.locator("#tools").get_by_label("Name", exact=True)).to_be_in_viewport()
    author.locator("#tools").get_by_label("Name", exact=True).fill("Nap find")
    author.get_by_role("button", name="Create draft").click()
    author.wait_for_url("**/capabilities/far_below/edit/**")
    assert json.loads(texts_of(author)["tools_json"])[0]["name"] == "nap_find"


def test_the_browser_asks_before_it_leaves_words_behind_and_else_never(author: Page, studio: Studio) -> None:
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    author.on("dialog", leave)
    author.goto(f"{studio.url}/new-capability/")
    author.get_by_role("link", name="Help", exact=True).click()
    expect(author.get_by_role("heading", name="Help")).to_be_visible()
    assert asked == []
    _begin(author, studio.url, "Left Behind")
    author.get_by_role("link", name="Help", exact=True).click()
    expect(author.get_by_role("heading", name="Help")).to_be_visible()
    assert asked == ["beforeunload"]
    _begin(author, studio.url, "Left Behind")
    author.get_by_role("button", name="Create draft").click()
    author.wait_for_url("**/capabilities/left_behind/edit/**")
    assert asked == ["beforeunload"]


_DROP = """async ([zone, files]) => {
    const given = new DataTransfer();
    for (const [name, bytes] of files) given.items.add(new File([new Uint8Array(bytes)], name));
    zone.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
}"""


def test_an_archive_is_dropped_and_imported(as_role: Callable[[str], Page], studio: Studio) -> None:
    page = as_role("author")
    page.goto(f"{studio.url}/new-capability/files/")
    skill = "---\nname: towel-folding\ndescription: Folds towels. Use when asked for.\n---\n\n# Towels\n\nFold.\n"
    archive = write_zip({"towel-folding/SKILL.md": skill.encode()})
    zone = page.locator("[data-drop-zone]").element_handle()
    page.evaluate(_DROP, [zone, [["towels.zip", list(archive)]]])
    expect(page.get_by_role("status").filter(has_text="towels.zip")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 draft imported").or_(page.locator("#editor"))).to_be_visible()
