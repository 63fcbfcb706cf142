"""Irreversible actions are asked about first, with scripts and without: nothing happens before, Cancel leaves all."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# One of each for each way of browsing, and for a second try where a test is run again.
SETUP = """
from datetime import UTC, datetime
from features.webhooks import webhook_store
from registry.catalog import drafts
from registry.access import agent_keys, operators
from registry.common.actors import SYSTEM
from features.sources import source_sync
from registry.models import LoadCount
from tests.factories import bundle, publish
for tag in ("scripts1", "plain1", "scripts2", "plain2"):
    agent_keys.create_key(name=f"{tag} key", by=SYSTEM)
    operators.create_operator(username=f"{tag}.member", password="Correct-horse-battery-9", role="author", by=SYSTEM)
    publish(f"{tag}_one")
    LoadCount.objects.create(
        day=datetime.now(UTC).date(), capability_id=f"{tag}_one", revision=1, key_name=f"{tag} key", count=1520
    )
    publish(f"{tag}_two")
    drafts.save_draft(
        capability_id=f"{tag}_two",
        files=bundle(f"{tag}_two", body="New.") | {"references/units.md": "# Units"},
        based_on=None,
        by=SYSTEM,
    )
    webhook_store.create_webhook(name=f"{tag} hook", url="https://hooks.example.com/x", by=SYSTEM)
    source_sync.add_git_source(spec=f"https://git.example/{tag}", mode="draft", every_minutes=600, by=SYSTEM)
"""


@dataclass(frozen=True)
class Case:
    """A button and what becomes of it; `{tag}` is filled in, as a title with `{Tag}`."""

    page: str
    button: str
    title: str
    effect: str
    confirm: str
    done: str
    cancel_to: str
    types: tuple[tuple[str, str], ...] = ()
    link: str = ""
    opens: str = ""


CASES = {
    "revoke": Case(
        page="/keys/",
        button="Revoke {tag} key",
        title="Revoke API key “{tag} key”?",
        effect="1,520 loads of 1 capability in the last 30 days.",
        confirm="Revoke key",
        done="API key “{tag} key” was revoked.",
        cancel_to="/keys/",
    ),
    "deactivate": Case(
        page="/members/",
        button="Deactivate {tag}.member",
        title="Deactivate member “{tag}.member”?",
        effect="{tag}.member is signed out everywhere and can't sign in.",
        confirm="Deactivate member",
        done="{tag}.member was deactivated and signed out.",
        cancel_to="/members/",
    ),
    "retire": Case(
        page="/capabilities/{tag}_one/",
        opens="More actions",
        button="Retire",
        title="Retire capability “{Tag} One”?",
        effect="Calls from 1 key will fail: 1,520 loads in the last 30 days.",
        confirm="Retire capability",
        types=(("Why is it retired?", "Nobody needs it."), ("Type {tag}_one to confirm", "{tag}_one")),
        done="{Tag} One is retired. Agents can no longer load it.",
        cancel_to="/capabilities/{tag}_one/",
    ),
    "delete webhook": Case(
        page="/webhooks/",
        link="{tag} hook",
        button="Delete webhook",
        title="Delete webhook “{tag} hook”?",
        effect="hooks.example.com gets no more events.",
        confirm="Delete webhook",
        done="Webhook {tag} hook deleted.",
        cancel_to="/webhooks/",
    ),
    "remove source": Case(
        page="/sources/",
        link="https://git.example/{tag}",
        button="Disconnect source",
        title="Disconnect source “https://git.example/{tag}”?",
        effect="It imported no capabilities.",
        confirm="Disconnect source",
        done="https://git.example/{tag} disconnected. Imported capabilities stay.",
        cancel_to="/sources/",
    ),
    "remove file": Case(
        page="/capabilities/{tag}_two/files/",
        button="Remove references/units.md",
        title="Remove file “references/units.md”?",
        effect="This version of the file was never published.",
        confirm="Remove file",
        done="Removed references/units.md from the draft.",
        cancel_to="/capabilities/{tag}_two/files/",
    ),
    "discard draft": Case(
        page="/capabilities/{tag}_two/edit/",
        button="Discard draft",
        title="Discard draft of “{Tag} Two”?",
        effect="Agents aren't affected: they keep the published revision.",
        confirm="Discard draft",
        done="Draft discarded. You can restore it from the draft history for 30 days.",
        cancel_to="/capabilities/{tag}_two/edit/",
    ),
}


@pytest.fixture(scope="module")
def furnished(studio: Studio) -> Studio:
    """With something to end for each case."""
    studio.manage("shell", "-c", SETUP)
    return studio


@pytest.fixture(params=["scripts", "plain"])
def way(request: pytest.FixtureRequest) -> str:
    """A browser with scripts, and one without."""
    return str(request.param)


# Without them it is the page that the test above asks.
_WITH_SCRIPTS = pytest.mark.parametrize(
    "way", ["scripts", pytest.param("plain", marks=pytest.mark.rare)], indirect=True
)


@pytest.fixture
def admin(furnished: Studio, as_role: Callable[[str], Page], way: str) -> Iterator[Page]:
    """An admin's page."""
    page = as_role("admin")
    browser = page.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=way == "scripts", storage_state=page.context.storage_state())
    yield context.new_page()
    context.close()


_tries: Counter[tuple[str, str]] = Counter()


def _writes(studio: Studio) -> int:
    """How many writes the registry has recorded that people have made."""
    with closing(sqlite3.connect(f"file:{studio.data_dir / 'studio.sqlite3'}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT COUNT(*) FROM registry_auditevent WHERE actor_name = 'the-admin'")
        return int(found.fetchone()[0])


def _press(page: Page, studio: Studio, case: Case, way: str, tag: str) -> None:
    """To the dialog, or to the page without scripts."""
    page.goto(f"{studio.url}{case.page.format(tag=tag, Tag=tag.title())}")
    if case.link:
        page.get_by_role("link", name=case.link.format(tag=tag, Tag=tag.title())).click()
    if case.opens:
        page.locator(f"summary[aria-label='{case.opens}']").click()
    page.get_by_role("button", name=case.button.format(tag=tag, Tag=tag.title()), exact=True).click()
    asked = page.get_by_role("dialog") if way == "scripts" else page.get_by_role("main")
    expect(asked.get_by_role("heading", name=case.title.format(tag=tag, Tag=tag.title()), exact=True)).to_be_visible()


def _confirm(page: Page, case: Case, way: str) -> None:
    dialog = page.get_by_role("dialog")
    asked = dialog if way == "scripts" and dialog.count() else page.get_by_role("main")
    asked.get_by_role("button", name=case.confirm, exact=True).click()


# Each is one script and one template; these three differ in where the button is and in what has to be typed. What each
# of all actions asks is in tests/unit/studio/pages/test_confirmations.py.
_EACH_TIME = ("revoke", "retire", "discard draft")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in _EACH_TIME else pytest.mark.rare) for name in CASES]
)
def test_it_is_asked_first_cancel_leaves_all_and_confirming_acts(
    name: str, way: str, admin: Page, furnished: Studio
) -> None:
    _tries[name, way] += 1
    tag = f"{way}{_tries[name, way]}"
    case, before = CASES[name], _writes(furnished)
    _press(admin, furnished, case, way, tag)
    expect(admin.get_by_text(case.effect.format(tag=tag, Tag=tag.title()))).to_be_visible()
    path = case.cancel_to.format(tag=tag, Tag=tag.title())
    button = admin.get_by_role("button", name=case.button.format(tag=tag, Tag=tag.title()), exact=True)
    # A menu is closed behind what was chosen in it.
    opener = admin.locator(f"summary[aria-label='{case.opens}']") if case.opens else button
    if way == "scripts":
        dialog = admin.get_by_role("dialog")
        cancel = dialog.get_by_role("button", name="Cancel")
        expect(cancel).to_be_focused()
        cancel.click()
        expect(dialog).to_have_count(0)
        expect(opener).to_be_focused()
        opener.press("Enter")
        if case.opens:
            button.press("Enter")
        expect(cancel).to_be_focused()
        admin.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        # A key has left the menu open.
        expect(button).to_be_focused()
        button.click()
        expect(cancel).to_be_focused()
    else:
        first = admin.get_by_label(case.types[0][0]) if case.types else admin.get_by_role("link", name="Cancel")
        expect(first).to_be_focused()
        admin.get_by_role("link", name="Cancel").click()
        assert admin.url.removeprefix(furnished.url).startswith(path)
        # The browser's own way back is as good.
        _press(admin, furnished, case, way, tag)
        admin.go_back()
        assert admin.url.removeprefix(furnished.url).startswith(path)
        _press(admin, furnished, case, way, tag)
    assert _writes(furnished) == before
    if case.types:
        _confirm(admin, case, way)
        # Asked where it is: the dialog stays, and without scripts the browser says it.
        if way == "scripts":
            expect(admin.get_by_role("dialog").get_by_text("Fill in this field.").first).to_be_visible()
        expect(admin.get_by_label(case.types[0][0])).to_be_focused()
        assert _writes(furnished) == before
    for label, text in case.types:
        admin.get_by_label(label.format(tag=tag, Tag=tag.title())).fill(text.format(tag=tag, Tag=tag.title()))
    _confirm(admin, case, way)
    expect(admin.get_by_text(case.done.format(tag=tag, Tag=tag.title()))).to_be_visible()
    assert _writes(furnished) == before + 1
    # Back leads to a page that asks nothing a second time.
    admin.go_back()
    expect(admin.get_by_role("heading", level=1)).to_be_visible()
    assert _writes(furnished) == before + 1


@_WITH_SCRIPTS
def test_the_menu_of_a_capability_asks_as_its_page_does(admin: Page, furnished: Studio, way: str) -> None:
    before = _writes(furnished)
    admin.goto(f"{furnished.url}/capabilities/meals/history/")
    more = admin.locator("summary[aria-label='More actions']")
    more.click()
    admin.get_by_role("button", name="Retire", exact=True).click()
    question = admin.get_by_role("heading", name="Retire capability “Meal Tracking”?", exact=True)
    expect(question).to_be_visible()
    if way == "scripts":
        dialog = admin.get_by_role("dialog")
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
        # The menu has closed behind it.
        expect(more).to_be_focused()
    else:
        admin.get_by_role("link", name="Cancel").click()
    expect(question).to_have_count(0)
    assert admin.url == f"{furnished.url}/capabilities/meals/history/"
    assert _writes(furnished) == before


@_WITH_SCRIPTS
def test_an_admin_is_not_offered_to_deactivate_themselves_and_is_refused(
    way: str, admin: Page, furnished: Studio
) -> None:
    before = _writes(furnished)
    admin.goto(f"{furnished.url}/members/")
    own = admin.get_by_role("row").filter(has=admin.get_by_text("You", exact=True))
    expect(own).to_have_count(1)
    expect(own).to_contain_text("the-admin")
    expect(own.get_by_role("button")).to_have_count(0)
    expect(own.get_by_role("combobox")).to_have_count(0)
    expect(own.get_by_role("link", name="Change password")).to_be_visible()
    token = admin.locator("[name=csrfmiddlewaretoken]").first.input_value()
    for verb in ("disable", "reset"):
        answer = admin.request.post(
            f"{furnished.url}/members/{verb}/",
            form={"csrfmiddlewaretoken": token, "username": "the-admin", "confirmed": "yes", "seen_state": ""},
            headers={"Referer": f"{furnished.url}/members/"},
        )
        assert answer.status == 403, verb
        assert "You can&#x27;t" in answer.text()
    assert _writes(furnished) == before
    admin.reload()
    expect(admin.get_by_role("heading", name="Members", level=1)).to_be_visible()


def test_a_press_on_a_page_that_is_out_of_date_says_so(admin: Page, furnished: Studio, way: str) -> None:
    name = f"late {time.time_ns()}"
    furnished.manage("agent_key", "create", name)
    admin.goto(f"{furnished.url}/keys/")
    admin.get_by_role("button", name=f"Revoke {name}").click()
    furnished.manage("agent_key", "revoke", name)
    before = _writes(furnished)
    admin.get_by_role("button", name="Revoke key").click()
    expect(admin.get_by_text(f"API key {name} was already revoked")).to_be_visible()
    assert _writes(furnished) == before


def test_a_double_click_acts_once(admin: Page, furnished: Studio, way: str) -> None:
    name = f"double {time.time_ns()}"
    furnished.manage("agent_key", "create", name)
    before = _writes(furnished)
    admin.goto(f"{furnished.url}/keys/")
    admin.get_by_role("button", name=f"Revoke {name}").click()
    admin.get_by_role("button", name="Revoke key").dblclick()
    expect(admin.get_by_role("heading", name="API keys", level=1)).to_be_visible()
    assert _writes(furnished) == before + 1


def test_the_confirmation_page_fits_a_phone_and_is_accessible_by_keyboard(
    admin: Page, furnished: Studio, way: str
) -> None:
    admin.set_viewport_size({"width": 320, "height": 700})
    name = f"phone_{time.time_ns()}"
    furnished.manage("agent_key", "create", name)
    admin.goto(f"{furnished.url}/keys/revoke/?name={name}")
    assert admin.get_by_role("link", name="Cancel").bounding_box() is not None
    if way == "scripts":
        assert admin.evaluate("document.documentElement.scrollWidth") <= 320
    expect(admin.get_by_role("link", name="Cancel")).to_be_focused()
    admin.keyboard.press("Tab")
    expect(admin.get_by_role("button", name="Revoke key")).to_be_focused()
    admin.keyboard.press("Enter")
    expect(admin.get_by_text(f"API key “{name}” was revoked.")).to_be_visible()
