"""The pictures of docs/studio.md and docs/authors/; pictures.py says how they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import OF_EVALUATIONS, OF_ROLES, PICTURES, THEMES, TOTAL_BYTES_MAX, folder_for, take
from tests.browser.steps import choose
from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.rare]
# Name, address, what must be seen before it is taken.
PAGES = (
    ("home", "/", "heading:Home"),
    ("capabilities", "/capabilities/", "link:Weight Tracking"),
    ("publish", "/capabilities/weights/publish/", "heading:Publish Weight Tracking"),
    ("playground", "/playground/?m=I+just+weighed+187.6+lbs", "heading:Playground"),
    ("skill-groups", "/skill-groups/", "heading:Skill groups"),
    ("history", "/capabilities/weights/history/", "heading:Revisions"),
)


# A registry in use, inside `manage.py shell`: loads of two months, revisions, results, a review, a proposal.
IN_USE = """
import json
from datetime import UTC, datetime, timedelta
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import Capability, LoadCount, MatchCount
from registry.publishing import proposals, publication, reviews
from registry.usage import feedback

AUTHOR, PUBLISHER = Actor("operator", "the-author"), Actor("operator", "the-publisher")
AGENT = Actor("agent_key", "support bot")


def changed(capability_id, words):
    files = dict(Capability.objects.get(capability_id=capability_id).published_revision.files)
    return files | {"skill.md": (files["skill.md"].rstrip() + "\\n" + words).rstrip() + "\\n"}


today = datetime.now(UTC).date()
for day in range(60):
    for place, capability_id in enumerate(("weights", "meals", "disk_pressure", "billing_refund")):
        LoadCount.objects.create(
            day=today - timedelta(days=day),
            capability_id=capability_id,
            revision=1,
            key_name="support bot",
            count=max(1, (90 - day) * (4 - place) // 4 + (day * 7 + place * 5) % 23),
        )
    for decision, count in (("match", 150 - day), ("none", 12 + day // 6), ("ambiguous", 3)):
        MatchCount.objects.create(day=today - timedelta(days=day), decision=decision, count=count)
for note, words in (("Asks for the unit", "Ask for the unit."), ("Says the trend", "Say the trend of the month.")):
    done = publication.publish(files=changed("weights", words), by=PUBLISHER, note=note)
    assert done.status == "published", done.findings
OUTCOMES = {"weights": ("confirmed_success", 46), "meals": ("used", 21), "disk_pressure": ("likely_failure", 3)}
for capability_id, (outcome, times) in OUTCOMES.items():
    for _ in range(times):
        feedback.record_outcome(capability_id=capability_id, outcome=outcome, by=AGENT)
saved = drafts.save_draft(
    capability_id="workouts", files=changed("workouts", "Rest for a day after three."), based_on=None, by=AUTHOR
)
reviews.request_review(
    capability_id="workouts", draft_version=saved.version, by=AUTHOR, note="Rest days, as the coaches asked for"
)
files = changed("weights", "")
tools = json.loads(files["tools.json"])
tools[-1]["policy"]["requires_approval"] = False
files["tools.json"] = json.dumps(tools, indent=2) + "\\n"
drafts.save_draft(capability_id="weights", files=files, based_on=None, by=AUTHOR)
proposals.propose(
    files=changed("disk_pressure", "Ask before anything is removed."),
    by=AGENT,
    note="Users were startled when files went at once",
)
"""


@pytest.fixture(scope="module")
def in_use(studio: Studio) -> Studio:
    """A registry in which something happens."""
    studio.manage("shell", "-c", IN_USE)
    draft_for_authors(studio)
    return studio


# The bundle of docs/authors/ as a draft.
_SAVED = """
import json
from registry.catalog import drafts
from registry.common.actors import Actor
drafts.save_draft(
    capability_id="lost_items", files=json.loads({files}), based_on=None, by=Actor("operator", "the-author")
)
"""


def draft_for_authors(studio: Studio) -> None:
    """Save it."""
    studio.manage("shell", "-c", _SAVED.format(files=json.dumps(json.dumps(_examples_for_authors()))))


def _examples_for_authors() -> dict[str, str]:
    text = "".join(path.read_text("utf-8") for path in (ROOT / "docs" / "authors").glob("*.md"))
    return dict(re.findall(r"^```\w+ ([\w.]+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_for(tmp_path)


def test_the_pages(as_role: Callable[[str], Page], in_use: Studio, folder: Path) -> None:
    page = as_role("admin")
    page.goto(in_use.url)
    # The first steps are for those who have not taken them.
    skip = page.get_by_role("region", name="Get started").get_by_role("button", name="Skip")
    if skip.is_visible():
        skip.click()
    for name, address, seen in PAGES:
        page.goto(f"{in_use.url}{address}")
        role, _, words = seen.partition(":")
        expect(page.get_by_role(role, name=words).first).to_be_visible()  # type: ignore[arg-type]
        take(page, folder, name)


def test_the_editor(as_role: Callable[[str], Page], in_use: Studio, folder: Path) -> None:
    page = as_role("author")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{in_use.url}/capabilities/weights/edit/")
    choose(page, "tools.json", "/2")
    page.get_by_role("tab", name="Forms", exact=True).click()
    drawn = page.frame_locator("iframe.preview-form").get_by_role("button", name="Save weigh-in")

    def form_is_drawn() -> None:
        expect(drawn).to_be_visible(timeout=20_000)
        page.wait_for_timeout(1500)

    take(page, folder, "editor", until=form_is_drawn)


# Of docs/authors/: its name, the part of the outline and its file, the tab beside it, and what must be seen there.
FOR_AUTHORS = (
    ("instructions", "skill.md", "Default behavior", "Preview"),
    ("tools", "tools.json", "lost_item_report", "Prompt"),
    ("forms", "ui_schemas.json", "lost item", "Forms"),
    ("triggers", "capability.json", "", "Issues"),
)


def test_the_editor_for_authors(as_role: Callable[[str], Page], in_use: Studio, folder: Path) -> None:
    page = as_role("author")
    page.set_viewport_size({"width": 1280, "height": 800})
    for name, file, part, beside in FOR_AUTHORS:
        page.goto(f"{in_use.url}/capabilities/lost_items/edit/")
        outline = page.locator("#outline")
        links = outline.locator(f"a[data-file='{file}']")
        (links.filter(has_text=part) if part else links).first.click()
        expect(page.locator(f"#panel-{file.replace('.', '_')}")).to_be_visible()
        page.get_by_role("tab", name=re.compile(beside)).click()
        drawn = page.frame_locator("iframe.preview-form").get_by_role("button", name="Send report")

        def is_drawn(beside: str = beside, drawn: Locator = drawn) -> None:
            if beside == "Forms":
                expect(drawn).to_be_visible(timeout=20_000)
            page.wait_for_timeout(1500)

        take(page, folder, name, until=is_drawn, height=560)


def test_a_review(as_role: Callable[[str], Page], in_use: Studio, folder: Path) -> None:
    page = as_role("publisher")
    page.goto(f"{in_use.url}/reviews/1/")
    expect(page.get_by_role("button", name=re.compile("Approve|Submit|Comment")).first).to_be_visible()
    take(page, folder, "review")


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) <= TOTAL_BYTES_MAX


def test_every_picture_that_the_docs_show_is_there() -> None:
    texts = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    shown = set(re.findall(r"\bimg/([\w-]+\.webp)", "".join(path.read_text("utf-8") for path in texts)))
    names = (
        *(page[0] for page in PAGES),
        "editor",
        "review",
        *(one[0] for one in FOR_AUTHORS),
        *OF_ROLES,
        *OF_EVALUATIONS,
    )
    taken = {f"{name}-{theme}.webp" for name in names for theme in THEMES}
    assert shown == taken
    assert {path.name for path in PICTURES.iterdir()} == taken
