"""docs/tutorial.md, done for real: every label in bold is clicked or filled in, every command is run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.steps import sign_in
from tests.servers import ROOT, start_studio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.rare]

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
PASSWORD = "what-only-the-operator-knows-4"


def _section(number: int) -> str:
    found = re.search(rf"^## {number}\. .*?(?=^## )", TUTORIAL, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[0]


def _typed(label: str, number: int) -> str:
    """What the page says to type into a field; `number` counts the fields with this label."""
    found = re.findall(rf"\*\*{re.escape(label)}\*\*: `(.+?)`(?: and, on the next line, `(.+?)`)?[.,;]?", _steps())
    assert len(found) > number, label
    return "\n".join(filter(None, found[number]))


def _steps() -> str:
    return _section(2) + _section(3)


def _labels() -> set[str]:
    """The labels in bold; those within code are the author's own Markdown."""
    return set(re.findall(r"\*\*(.+?)\*\*", re.sub(r"`[^`]*`", "", _steps())))


class _Hand:
    """Clicks and types, and remembers the labels that it used."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.used: set[str] = set()

    def click(self, role: str, name: str) -> None:
        self.used.add(name)
        self.page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]

    def fill(self, label: str, number: int = 0) -> Locator:
        field = self.field(label).nth(number)
        field.fill(_typed(label, number))
        return field

    def tick(self, label: str) -> None:
        self.field(label).check()

    def field(self, label: str) -> Locator:
        self.used.add(label)
        return self.page.get_by_label(label, exact=True)


@pytest.fixture
def new_studio(tmp_path: Path) -> Iterator[Studio]:
    """A product that nobody has signed in to, at each try: the first password is only good once."""
    studio = start_studio(tmp_path / "studio")
    yield studio
    studio.stop()


def test_the_tutorial_leads_to_an_agent_that_uses_the_capability(
    new_studio: Studio, page: Page, tmp_path: Path
) -> None:
    first_password = re.search(r"password: (\S+)", new_studio.prepared)
    assert first_password is not None
    for line in ("Operator:  admin   password: ", "Agent key: csk_"):
        assert line in new_studio.prepared
        assert line in TUTORIAL
    sign_in(page, new_studio.url, "admin", first_password[1])
    page.get_by_label("Current password").fill(first_password[1])
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_label("Confirm new password").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    hand = _Hand(page)
    _write(hand)
    _publish(hand)
    assert hand.used == _labels()
    _run_commands(new_studio, tmp_path)


def _write(hand: _Hand) -> None:
    hand.click("link", "New capability")
    hand.fill("Name")
    hand.fill("Description")
    expect(hand.page.get_by_label("ID", exact=True)).to_have_value("plant_care")
    hand.fill("Trigger phrases").press("Enter")
    hand.fill("Example messages")
    hand.click("button", "Add tool")
    hand.fill("Name", 1)
    hand.fill("Description", 1)
    hand.field("Access").select_option(label="Write (requires approval)")
    hand.fill("Argument")
    hand.fill("Description", 2)
    hand.tick("Required")
    hand.tick("Generate a form")
    hand.click("button", "Create draft")
    expect(hand.page.locator("#findings")).to_contain_text("3 warnings")
    hand.used.add("Instructions")
    hand.page.get_by_role("navigation", name="Outline").get_by_role("link", name="Instructions").click()
    for section in ("Default behavior", "Examples"):
        hand.used.add(section)
        hand.page.get_by_role("navigation", name="Outline").get_by_role("link", name=section).click()
        for number, line in enumerate(_typed(section, 0).split("\n")):
            # The words of the example that is there are replaced, who speaks stays.
            hand.page.keyboard.press("ArrowDown") if number else None
            hand.page.keyboard.type(re.sub(r"^\*\*\w+:\*\* ", "", line))
    expect(hand.page.locator("#findings")).not_to_contain_text("PLACEHOLDER_LEFT")


def _publish(hand: _Hand) -> None:
    hand.click("button", "Review & publish")
    hand.fill("Release note (required)")
    hand.click("button", "Publish")
    expect(hand.page.get_by_text("Revision 1 is live.")).to_be_visible()
    hand.click("link", "Playground")
    hand.page.get_by_label("User message").fill("I watered the fern today")
    hand.click("button", "Send")
    expect(hand.page.locator(".bubble__head")).to_contain_text("Plant Care")


def _run_commands(studio: Studio, folder: Path) -> None:
    program = re.search(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
    assert program is not None
    (folder / "plant_agent.py").write_text(program[1], "utf-8")
    steps = re.findall(r"```console\n\$ (.+)\n((?:.*\n)*?)```", TUTORIAL)
    assert len(steps) == 5
    for shown, expected in steps:
        command = shown.replace("http://127.0.0.1:8000", studio.url).replace(".venv/bin/python", f"'{sys.executable}'")
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**studio.env, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        printed = re.sub(r"(sha256:|\bcall_)[0-9a-f]{6,}", r"\1...", done.stdout)
        assert printed.rstrip(" \n") == expected.rstrip("\n"), f"$ {command}\n{done.stderr}"
