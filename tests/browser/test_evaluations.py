"""By forms alone: three cases, a draft against what is live, one fails, the instructions are fixed, and it goes through
the rule for publishing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import find_violations
from tests.browser.layout import find_layout_faults
from tests.browser.pictures import OF_EVALUATIONS, THEMES, encode_webp, folder_for
from tests.browser.steps import put, save
from tests.factories import bundle, tool
from tests.model_servers import model_server
from tests.servers import run_manage
from tests.vendors import Reply, tool_names

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ORDER = tool("tea_order", "write")
MINUTES = "Say that it steeps four minutes."
# Of the page, and of the picture, which is read beside a text.
_PAGE, _PICTURE = (1280, 860), (800, 538)
HERE = "/capabilities/tea/evaluations/"


def tea_model(body: Any) -> Reply:
    """Loads tea where it is asked for, orders where the user wants that, and says what the instructions want."""
    said = json.dumps(body["messages"])
    if "tea" not in said.lower() or "capability_skill_load" not in tool_names(body):
        return "Why did the kettle leave? It had to let off steam.", []
    if "joke" in said:
        return "Why did the kettle leave? It had to let off steam.", []
    if "tea__tea_order" not in tool_names(body):
        return "", [("capability_skill_load", {"capability_id": "tea"})]
    if (
        "order" in json.dumps([one for one in body["messages"] if one["role"] == "user"])
        and said.count('"tool_call') < 4
    ):
        return "", [("tea__tea_order", {})]
    return ("Enjoy. It steeps four minutes." if MINUTES in said else "Enjoy."), []


@pytest.fixture(scope="module")
def studio_settings() -> Iterator[dict[str, str]]:
    with model_server("openai", tea_model) as server:
        yield {"MODEL_URL": server.url, "MODEL_NAMES": "small", "MODEL_PRICE": "0.15/0.60"}


@pytest.fixture
def folder(tmp_path: Path, pytestconfig: pytest.Config) -> Path | None:
    """Where pictures go: a release shows that they can be taken."""
    asked = folder_for(tmp_path)
    return asked if asked != tmp_path or pytestconfig.getoption("--rare") else None


def _take(page: Page, folder: Path | None, name: str) -> None:
    """See that the page fits, and take its picture in each theme where pictures are wanted."""
    assert name in OF_EVALUATIONS
    page.get_by_role("button", name="Close the message").click() if page.locator(".toast").count() else None
    for width in (390, _PAGE[0]):
        page.set_viewport_size({"width": width, "height": _PAGE[1]})
        assert find_layout_faults(page) == [], f"{name}, {width}"
        assert find_violations(page) == [], f"{name}, {width}"
    if folder is None:
        return
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_timeout(200)
        picture = encode_webp(page, page.screenshot(animations="disabled"), size=_PICTURE)
        (folder / f"{name}-{theme}.webp").write_bytes(picture)
    page.emulate_media(color_scheme="light")


def _write_case(
    page: Page, url: str, name: str, says: str, *, words: str = "", loads: str = "tea", order: bool = False
) -> None:
    page.goto(f"{url}{HERE}new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("The user says").fill(says)
    page.get_by_label("The agent loads").select_option(loads)
    page.get_by_label("It says", exact=True).fill(words)
    if order:
        page.locator("summary").filter(has_text="tea_order").click()
        page.get_by_label("It is called").check()
        page.get_by_label("The agent asks before").check()
    if words:
        page.get_by_label("This must pass").check()


def _edit(page: Page, url: str, body: str) -> None:
    page.goto(f"{url}/capabilities/tea/edit/")
    put(page, "skill.md", bundle("tea", [ORDER], body=body)["skill.md"])
    save(page)


def _run(page: Page, studio: Studio) -> None:
    page.goto(f"{studio.url}{HERE}")
    page.get_by_role("button", name="Run all cases").click()
    expect(page.get_by_role("button", name="Cancel run")).to_be_visible()
    studio.manage("worker", "--once")
    # What is live was played first; the table has the draft beside it.
    page.get_by_role("region", name="Cases").get_by_role("link", name="Draft").first.click()
    expect(page.get_by_role("heading", name="Draft", level=1)).to_be_visible()
    expect(page.locator("#state").get_by_text("Done", exact=True)).to_be_visible(timeout=15_000)


def test_a_change_is_tried_fails_is_fixed_and_goes_through_the_rule(
    studio: Studio, as_role: Callable[[str], Page], folder: Path | None, tmp_path: Path
) -> None:
    source = tmp_path / "tea"
    source.mkdir()
    for name, text in bundle("tea", [ORDER], body=MINUTES).items():
        (source / name).write_text(text, "utf-8")
    run_manage("bundle", "publish", str(source), env=studio.env)
    page = as_role("admin")
    page.goto(f"{studio.url}/settings/publishing/")
    page.get_by_label("At least passed, in percent").fill("100")
    page.get_by_role("button", name="Save rule").click()
    expect(page.get_by_text("Everything · 100 % passed")).to_be_visible()

    cases: tuple[dict[str, Any], ...] = (
        {"name": "says how long it steeps", "says": "tea please", "words": "four minutes"},
        {"name": "orders after asking", "says": "order tea please", "order": True},
        {"name": "a joke is not for this", "says": "tell me a joke", "loads": "none"},
    )
    for number, case in enumerate(cases):
        _write_case(page, studio.url, **case)
        if not number:
            _take(page, folder, "evaluation-case")
        page.get_by_role("button", name="Save case").click()
    expect(page.get_by_role("link", name="a joke is not for this")).to_be_visible()

    _edit(page, studio.url, "Keep it short.")
    _run(page, studio)
    expect(page.get_by_text("Changed", exact=True)).to_be_visible()
    page.get_by_role("link", name="says how long it steeps").click()
    # Of the draft, and of a model that does nothing.
    expect(page.get_by_text("It did not say “four minutes”")).to_have_count(2)
    _take(page, folder, "evaluation-failed")
    page.goto(f"{studio.url}/capabilities/tea/publish/")
    expect(page.get_by_text(re.compile("2 of 3 evaluations passed"))).to_be_visible()
    _take(page, folder, "evaluation-gate")

    _edit(page, studio.url, f"Keep it short. {MINUTES}")
    page.goto(f"{studio.url}/capabilities/tea/publish/")
    expect(page.get_by_text("There are no results of evaluations for exactly these texts")).to_be_visible()
    _run(page, studio)
    expect(page.get_by_text("3/3").first).to_be_visible()
    _take(page, folder, "evaluation-passed")
    page.goto(f"{studio.url}/capabilities/tea/publish/")
    page.get_by_label("Release note (required)").fill("Shorter")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Published").first).to_be_visible()
    page.goto(f"{studio.url}{HERE}")
    expect(page.get_by_role("heading", name="Passed by revision")).to_be_visible()
