"""What each role does in a browser of its own: the author writes and asks, the publisher reviews and publishes, the
agent loads; the admin lets people and keys in and sets the rules; the viewer reads, and no more. The same pages on
PostgreSQL: test_review.py."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from playwright.sync_api import expect

from tests.browser.pictures import folder_for, take
from tests.browser.steps import PASSWORD, expect_state, sign_in, write_section
from tests.receivers import Receiver
from tests.servers import Studio
from tests.unit.studio.conftest import PASSWORD as CHOSEN

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.rare]

People = Callable[[str], "Page"]
# On a machine that does other things beside.
PATIENCE_MS = 20_000
EXAMPLE = """**User:** the ficus has its water
**Agent:** calls `{tool}(plant="ficus")`, then says that it is saved."""
QUESTION = "Does it need the plant, or the room?"


@pytest.fixture(scope="module")
def studio_settings() -> dict[str, str]:
    """Receivers on this machine may be told."""
    return {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8"}


@pytest.fixture
def people(studio: Studio, browser: Browser, allowed_on_console: list[str]) -> Iterator[People]:
    """Signs somebody in, in a browser of their own, and leaves them on Home. Nothing of theirs may fault."""
    contexts, said = [], []

    def come(username: str) -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE_MS)
        context.set_default_navigation_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: said.append(f"script: {error}"))
        page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
        sign_in(page, studio.url, username, PASSWORD if username.startswith("the-") else CHOSEN)
        expect(page.get_by_role("heading", name="Home", exact=True)).to_be_visible()
        return page

    expect.set_options(timeout=PATIENCE_MS)
    yield come
    expect.set_options(timeout=5_000)
    for context in contexts:
        context.close()
    assert not [text for text in said if not any(re.search(pattern, text) for pattern in allowed_on_console)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """For pictures."""
    return folder_for(tmp_path)


def test_an_author_writes_a_publisher_publishes_and_an_agent_loads(
    studio: Studio, people: People, folder: Path, allowed_on_console: list[str]
) -> None:
    author = people("the-author")
    _create_with_two_tools_and_a_form(author)
    _is_stopped_by_a_finding_and_mends_it(author, folder)
    _ask(author, "For the people on the third floor")
    expect(author.get_by_role("radio", name="Approve")).to_have_count(0)
    publisher = people("the-publisher")
    _find_it_on_home(publisher)
    _read_and_send_back(publisher, folder)
    _answer_and_hand_in_again(author)
    publisher.goto(studio.url)
    publisher.get_by_role("region", name="Needs your attention").get_by_role("link", name="asks you to review").click()
    expect(publisher.get_by_text("The plant, by its name.")).to_be_visible()
    publisher.get_by_role("radio", name="Approve").check()
    publisher.get_by_role("button", name="Submit review").click()
    expect(publisher.get_by_text("Approved. Ready to publish.")).to_be_visible()
    publisher.get_by_role("link", name="Publish", exact=True).click()
    publisher.get_by_label("Release note (required)").fill("Asked for by the third floor")
    publisher.get_by_role("button", name="Publish", exact=True).click()
    expect(publisher.get_by_text("Revision 1 is live.")).to_be_visible()
    _an_agent_loads_it(studio)
    publisher.get_by_role("link", name="View it").click()
    publisher.get_by_role("link", name="History", exact=True).click()
    expect(publisher.get_by_text("approved by the-publisher")).to_be_visible()


def _create_with_two_tools_and_a_form(author: Page) -> None:
    author.get_by_role("link", name="New capability").first.click()
    # The field of the phrases is another one as soon as the scripts of the page have come.
    author.wait_for_url("**/new-capability/")
    author.get_by_label("Name", exact=True).fill("Plant Care")
    author.locator("#id_description").fill(
        "Keeps track of when plants were watered. Use it when the user talks about watering."
    )
    phrases = author.get_by_label("Trigger phrases")
    phrases.fill("water the plants")
    phrases.press("Enter")
    author.get_by_label("Example messages").fill("I have watered the ficus\nwhich plants are dry?")
    add = author.get_by_role("button", name="Add tool")
    add.click()
    tool = author.get_by_role("group", name="Tool 1")
    _fill_tool(tool, "plant_list", "Lists the plants of a room", "room", "Which room")
    add.click()
    tool = author.get_by_role("group", name="Tool 2")
    _fill_tool(tool, "watering_save", "Saves that a plant was watered", "plant", "Its name")
    tool.get_by_label("Access", exact=True).select_option("write")
    tool.get_by_label("Required").check()
    tool.get_by_label("Generate a form").check()
    author.get_by_role("button", name="Create draft").click()
    author.wait_for_url("**/capabilities/plant_care/edit/**")


def _fill_tool(tool: Locator, name: str, does: str, needs: str, meaning: str) -> None:
    tool.get_by_label("Name", exact=True).fill(name)
    tool.locator("[name$='-does']").fill(does)
    tool.get_by_label("Argument", exact=True).fill(needs)
    tool.locator("[name$='-meaning']").fill(meaning)


def _is_stopped_by_a_finding_and_mends_it(author: Page, folder: Path) -> None:
    write_section(author, "Default behavior", "Save what was watered, once.")
    write_section(author, "Examples", EXAMPLE.format(tool="watering_store"))
    author.get_by_role("button", name="Review & publish").click()
    expect(author.get_by_role("heading", name="Publish Plant Care")).to_be_visible()
    finding = author.locator(".issue--error").filter(has_text="watering_store")
    expect(finding).to_be_visible()
    expect(author.get_by_text("Fix 1 error to submit for review.")).to_be_visible()
    expect(author.get_by_role("button", name="Submit for review")).to_have_count(0)
    take(author, folder, "role-author")
    finding.locator("a.issue__place").click()
    author.wait_for_url("**/capabilities/plant_care/edit/**")
    write_section(author, "Examples", EXAMPLE.format(tool="watering_save"))
    expect(author.locator("#findings .badge--danger")).to_have_count(0)


def _ask(author: Page, note: str) -> None:
    author.get_by_role("button", name="Review & publish").click()
    expect(author.get_by_role("button", name="Publish", exact=True)).to_have_count(0)
    author.get_by_label("Release note (required)").fill(note)
    author.get_by_role("button", name="Submit for review").click()
    expect(author.get_by_role("heading", name="Review of ")).to_be_visible()


def _find_it_on_home(publisher: Page) -> None:
    waiting = publisher.get_by_role("region", name="Needs your attention")
    expect(waiting.get_by_text("For the people on the third floor")).to_be_visible()
    waiting.get_by_role("link", name="asks you to review").click()


def _read_and_send_back(publisher: Page, folder: Path) -> None:
    changes = publisher.get_by_role("region", name="What changes")
    expect(changes).to_contain_text("watering_save")
    expect(publisher.locator(".sides ins, .sides .is-added").first).to_be_visible()
    line = publisher.locator("tr").filter(has_text="Save what was watered, once.").get_by_role("link").last
    line.click()
    publisher.get_by_label(re.compile(r"Comment on skill.md:\d+")).fill(QUESTION)
    publisher.locator("tr.composer").get_by_role("button", name="Comment", exact=True).click()
    expect(publisher.locator("tr.is-said")).to_contain_text(QUESTION)
    # Words on a line do not squeeze a text that has nothing to stand beside.
    said = publisher.locator("tr.is-said").evaluate("row => row.cells[0].getBoundingClientRect().right")
    text = publisher.locator("tr.is-said").evaluate(
        "row => row.previousElementSibling.lastElementChild.getBoundingClientRect().right"
    )
    assert text == pytest.approx(said, abs=2)
    # Two lines and their padding: the template's own line breaks are none of the text.
    assert publisher.locator("tr.is-said").evaluate("row => row.offsetHeight") < 120
    publisher.locator("tr.is-said").scroll_into_view_if_needed()
    take(publisher, folder, "role-publisher")
    publisher.get_by_role("radio", name="Request changes").check()
    publisher.get_by_label("Comment", exact=True).last.fill("One question, see there")
    publisher.get_by_role("button", name="Submit review").click()
    expect(publisher.get_by_text("Changes requested.")).to_be_visible()


def _answer_and_hand_in_again(author: Page) -> None:
    author.reload()
    expect(author.get_by_text(QUESTION).first).to_be_visible()
    author.get_by_label("Comment", exact=True).fill("The plant, by its name.")
    author.get_by_role("button", name="Comment", exact=True).click()
    author.get_by_role("link", name="Edit draft").click()
    write_section(author, "Default behavior", "Save what was watered, once, with the plant's name.")
    expect_state(author, "Saved just now")
    _ask(author, "The plant's name is said now")
    expect(author.get_by_text("submitted round 2").first).to_be_visible()


def _an_agent_loads_it(studio: Studio) -> None:
    key = re.search(r"csk_\S+", studio.prepared)
    assert key is not None
    deadline = time.monotonic() + 5
    with httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key[0]}"}) as agent:
        while True:
            answer = agent.get("/api/v1/capability_skill_load", params={"capability_id": "plant_care"})
            if answer.status_code == 200 or time.monotonic() > deadline:
                break
            time.sleep(0.05)
    assert answer.status_code == 200, answer.text
    loaded = answer.json()
    assert "with the plant's name" in loaded["skill_doc"]
    assert {tool["name"]: tool["policy"]["kind"] for tool in loaded["tools"]} == {
        "plant_list": "read",
        "watering_save": "write",
    }
    assert [tool["policy"].get("requires_approval") for tool in loaded["tools"]][1] is True
    assert loaded["ui_schemas"]


def test_an_admin_lets_people_and_keys_in_and_sets_the_rules(
    studio: Studio, people: People, folder: Path, allowed_on_console: list[str]
) -> None:
    admin = people("the-admin")
    _make_a_member(admin)
    nora = people("nora")
    _make_a_key(admin, studio)
    # What belongs to a team is shut for the others the moment it is given, and a refusal is said in words.
    allowed_on_console.append("403")
    _make_a_team(admin)
    nora.goto(f"{studio.url}/capabilities/meals/edit/")
    nora.wait_for_url("**/capabilities/meals/edit/**")
    author = people("the-author")
    author.goto(f"{studio.url}/capabilities/meals/edit/")
    expect(author.get_by_text("Only members of the team 'Kitchen'")).to_be_visible()
    _ask_for_two_in_a_group(admin)
    receiver = Receiver()
    try:
        _make_a_webhook_and_try_it(admin, studio, receiver)
    finally:
        receiver.stop()
    _read_the_audit_log(admin, folder)


# For each page that is a tab: its section.
_SECTIONS = {
    "Skill groups": "Capabilities",
    "Scheduled releases": "Reviews",
    "Agent proposals": "Reviews",
    "Feedback": "Insights",
    "Usage": "Insights",
    "Members": "Settings",
    "Teams": "Settings",
    "API keys": "Settings",
    "Webhooks": "Settings",
    "Publishing policy": "Settings",
    "Audit log": "Settings",
}


def _menu(page: Page, name: str) -> None:
    section = _SECTIONS.get(name, name)
    page.get_by_role("navigation", name="Studio").get_by_role("link", name=section).click()
    if section != name:
        page.get_by_role("navigation", name="Pages of this section").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def _make_a_member(admin: Page) -> None:
    _menu(admin, "Members")
    admin.get_by_role("textbox", name="Username", exact=True).fill("nora")
    admin.get_by_label("Role", exact=True).select_option("author")
    admin.get_by_role("button", name="Create invite link").click()
    address = admin.locator("#new-link").inner_text()
    browser = admin.context.browser
    assert browser is not None
    context = browser.new_context()
    theirs = context.new_page()
    theirs.goto(address)
    theirs.get_by_label("Password", exact=True).fill(CHOSEN)
    theirs.get_by_label("Confirm password").fill(CHOSEN)
    theirs.get_by_role("button", name="Set password").click()
    expect(theirs.get_by_text("Password set. Welcome!")).to_be_visible()
    context.close()


def _make_a_key(admin: Page, studio: Studio) -> None:
    _menu(admin, "API keys")
    admin.get_by_role("textbox", name="Name", exact=True).fill("kitchen bot")
    admin.get_by_label("Propose changes").check()
    admin.get_by_label("Limit to skill groups").fill("nutrition")
    admin.get_by_role("button", name="Create key").click()
    key = admin.locator("#new-key").inner_text()
    headers = {"Authorization": f"Bearer {key}"}
    listed = httpx2.get(f"{studio.url}/api/v1/capability_registry_list", headers=headers, timeout=20)
    assert [one["capability_id"] for one in listed.json()["capabilities"]] == ["meals"]


def _make_a_team(admin: Page) -> None:
    _menu(admin, "Teams")
    admin.get_by_role("textbox", name="Name", exact=True).fill("Kitchen")
    admin.get_by_role("button", name="Create team").click()
    admin.get_by_label("Member", exact=True).select_option("nora")
    admin.get_by_role("button", name="Add member").click()
    admin.get_by_label("Capability ID").fill("meals")
    admin.get_by_role("button", name="Add capability").click()
    expect(admin.get_by_role("link", name="meals")).to_be_visible()


def _ask_for_two_in_a_group(admin: Page) -> None:
    _menu(admin, "Publishing policy")
    new = admin.get_by_role("region", name="Add group rule")
    new.get_by_label("Group").fill("nutrition")
    new.get_by_label("Require approval from another person").check()
    new.get_by_role("button", name="Add rule").click()
    rule = admin.get_by_role("region", name="Group nutrition")
    expect(rule.get_by_label("Require approval from another person")).to_be_checked()


def _make_a_webhook_and_try_it(admin: Page, studio: Studio, receiver: Receiver) -> None:
    _menu(admin, "Webhooks")
    admin.get_by_role("textbox", name="Name", exact=True).fill("chat")
    admin.get_by_label("URL").fill(receiver.url)
    admin.get_by_label("capability.published").check()
    admin.get_by_role("button", name="Create webhook").click()
    expect(admin.locator("#new-secret")).to_contain_text("whsec_")
    admin.get_by_role("link", name="chat").click()
    admin.get_by_role("button", name="Send test event").click()
    expect(admin.get_by_role("cell", name="Queued")).to_be_visible()
    studio.manage("worker", "--once")
    expect(admin.get_by_role("cell", name="Delivered")).to_be_visible(timeout=30_000)
    assert b"webhook.test" in receiver.requests[0].body
    assert receiver.requests[0].headers["webhook-signature"]


def _read_the_audit_log(admin: Page, folder: Path) -> None:
    _menu(admin, "Audit log")
    admin.get_by_label("Who").fill("the-admin")
    admin.get_by_role("button", name="Show", exact=True).click()
    expect(admin.get_by_text("Log verified")).to_be_visible()
    rows = admin.locator("tbody tr")
    for verb, subject in (
        ("operator.create", "nora"),
        ("agent_key.create", "kitchen bot"),
        ("team.create", "Kitchen"),
        ("team.add_member", "Kitchen"),
        ("capability.set_owner", "meals"),
        ("release_rule.set", "nutrition"),
        ("webhook.create", "chat"),
        ("webhook.test", "chat"),
    ):
        expect(rows.filter(has_text=verb).filter(has_text=subject)).to_have_count(1)
    take(admin, folder, "role-admin")


def test_a_viewer_reads_and_is_offered_nothing_that_writes(
    studio: Studio, people: People, folder: Path, allowed_on_console: list[str]
) -> None:
    viewer = people("the-viewer")
    _offers_nothing_that_writes(viewer)
    _menu(viewer, "Capabilities")
    _offers_nothing_that_writes(viewer)
    viewer.get_by_label("Search by name, ID or purpose").fill("weight")
    expect(viewer).to_have_url(re.compile("q=weight"))
    expect(viewer.locator("tbody tr").first).to_contain_text("Weight Tracking")
    viewer.get_by_role("link", name="Weight Tracking").click()
    expect(viewer.get_by_role("heading", name="Instructions")).to_be_visible()
    _offers_nothing_that_writes(viewer)
    viewer.get_by_role("link", name="History", exact=True).click()
    expect(viewer.get_by_text("Live", exact=True)).to_be_visible()
    _offers_nothing_that_writes(viewer)
    viewer.get_by_role("link", name="Revision 1").click()
    expect(viewer.get_by_role("heading", name="Files")).to_be_visible()
    _offers_nothing_that_writes(viewer)
    _menu(viewer, "Playground")
    viewer.get_by_label("User message").fill("I just weighed 187.6 lbs")
    viewer.get_by_role("button", name="Send").click()
    expect(viewer.get_by_text("weighed", exact=True)).to_be_visible()
    _offers_nothing_that_writes(viewer)
    take(viewer, folder, "role-viewer")
    for page in (
        "Skill groups",
        "Reviews",
        "Scheduled releases",
        "Agent proposals",
        "Unmet requests",
        "Incidents",
        "Feedback",
        "Usage",
    ):
        _menu(viewer, page)
        _offers_nothing_that_writes(viewer)
    # Of the settings a viewer has the teams.
    viewer.get_by_role("navigation", name="Studio").get_by_role("link", name="Settings").click()
    expect(viewer.get_by_role("heading", level=1, name="Teams")).to_be_visible()
    for page in ("Members", "API keys", "Webhooks", "Audit log", "Publishing policy"):
        expect(viewer.get_by_role("link", name=page, exact=True)).to_have_count(0)
    allowed_on_console.append("403")
    for address, words in (
        ("/capabilities/weights/edit/", "Viewers can't edit drafts."),
        ("/new-capability/", "Viewers can't edit drafts."),
        ("/keys/", "Only admins can open this page."),
        ("/audit/", "Only admins can open this page."),
    ):
        viewer.goto(studio.url + address)
        expect(viewer.get_by_role("heading", name="You don't have access")).to_be_visible()
        expect(viewer.get_by_text(words)).to_be_visible()
        expect(viewer.get_by_role("navigation", name="Studio")).to_be_visible()


def _offers_nothing_that_writes(viewer: Page) -> None:
    """Forms that are sent with POST change something, but for one's own tour and for what is taken along as files."""
    main = viewer.get_by_role("main")
    expect(main).to_be_visible()
    writing = "form[method=post]:not([action*=tour]):not([action*=export]), [hx-post], [formaction]"
    expect(main.locator(writing)).to_have_count(0)
    for name in ("New capability", "Edit", "Publish", "Roll back", "New skill group"):
        expect(main.get_by_role("link", name=name, exact=True)).to_have_count(0)
