"""The pictures of docs/studio.md; pictures.py says how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import OF_ROLES, PICTURES, THEMES, folder_for, take
from tests.browser.steps import choose
from tests.servers import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
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
    return studio


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
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{in_use.url}/capabilities/weights/edit/")
    choose(page, "tools.json", "/2")
    page.get_by_role("tab", name="Forms", exact=True).click()
    drawn = page.frame_locator("iframe.preview-form").get_by_role("button", name="Save weigh-in")

    def form_is_drawn() -> None:
        expect(drawn).to_be_visible(timeout=20_000)
        page.wait_for_timeout(1500)

    take(page, folder, "editor", until=form_is_drawn)


def test_every_picture_that_the_docs_show_is_there() -> None:
    shown = set(re.findall(r"img/([\w-]+\.png)", "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))))
    shown |= set(re.findall(r"docs/img/([\w-]+\.png)", (ROOT / "README.md").read_text()))
    taken = {f"{name}-{theme}.png" for name in (*(page[0] for page in PAGES), "editor", *OF_ROLES) for theme in THEMES}
    assert shown <= taken
    assert {path.name for path in PICTURES.glob("*.png")} == taken
