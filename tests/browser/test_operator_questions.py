"""The table of twelve questions in docs/studio.md: each is walked on a running product, and its clicks are counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.browser.hand import Hand
from tests.factories import bundle, tool
from tests.servers import ROOT, run_manage
from tests.sweeps import check_each

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROW: Final = re.compile(r"^\| (.+) \| .+ \| (\d+|–) \|$", re.MULTILINE)
TO_BE_FEW, FEW = 10, 2
# Three revisions in use by named keys, failures with a conversation, a message in vain, a case and something withdrawn.
_USED = """
from django.utils import timezone
from features.evaluations import case_store
from registry.common.actors import Actor
from registry.core.queries import get_capability
from registry.models import LoadCount, UnmatchedMessage
from registry.publishing.quarantine import quarantine
from registry.usage.feedback import record_outcome
from registry.usage.outcome_reports import ReportedReason
olga, agent = Actor("operator", "olga"), Actor("agent_key", "night shift")
today = timezone.now().date()
for number in (1, 2):
    LoadCount.objects.create(day=today, capability_id="visits", revision=number, key_name=f"key {number}", count=3)
talk = [{"role": "user", "text": "Tune my piano on Friday"}, {"role": "agent", "text": "I book it."}]
for _ in range(9):
    record_outcome(capability_id="visits", outcome="confirmed_failure", by=agent,
                   said=ReportedReason("The day was left out", "visit_book", "ARGUMENTS_INVALID", "day", talk))
UnmatchedMessage.objects.create(form="f", text="my parrot lost its voice", decision="none", count=3, requested_by={})
case = {"name": "books", "messages": ["tune my piano"], "expect": {"loads": "visits"}}
case_store.save_case(capability=get_capability("visits"), document=case, by=olga)
quarantine(capability_id="meals", by=olga, note="It told a guest about another guest")
"""


@pytest.fixture(scope="module")
def studio_settings() -> dict[str, str]:
    # Nobody plays what is started here.
    return {"MODEL_URL": "http://127.0.0.1:1/v1", "MODEL_NAMES": "small"}


@pytest.fixture(scope="module", autouse=True)
def used(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("visits")
    for body in ("Book the visit.", "Book the visit with `visit_book`."):
        files = bundle("visits", [tool("visit_book", "write")], name="Piano tuning visits", body=body)
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        run_manage("bundle", "publish", str(folder), "--note", body, env=studio.env)
    studio.manage("shell", "-c", _USED)


def _tab(hand: Hand, name: str) -> None:
    hand.click(hand.page.get_by_role("main").get_by_role("link", name=re.compile(rf"^{name}")).first)


def _which_agents(hand: Hand) -> None:
    _tab(hand, "Insights")
    expect(hand.page.get_by_role("row").filter(has_text="key 2").locator("td").first).to_have_text("2")


def _who_changed(hand: Hand) -> None:
    _tab(hand, "History")
    _tab(hand, "Compare revisions")
    hand.click(hand.page.get_by_role("main").get_by_role("button", name="Compare"))
    expect(hand.page.locator("ins, .line-added, td").filter(has_text="visit_book").first).to_be_visible()


def _what_it_did(hand: Hand) -> None:
    _tab(hand, "Insights")
    _tab(hand, "What happened")
    expect(hand.page.get_by_text("I book it.").first).to_be_visible()


def _why(hand: Hand) -> None:
    hand.click(hand.page.get_by_role("link", name="See why"))
    expect(hand.page.get_by_text("The day was left out").first).to_be_visible()


def _is_it_good(hand: Hand) -> None:
    _tab(hand, "Evaluations")
    hand.click(hand.page.get_by_role("button", name="Run all cases"))
    expect(hand.page.locator(".run-table")).to_be_visible()


def _not_covered(hand: Hand) -> None:
    hand.click(hand.page.get_by_role("navigation", name="Studio").get_by_role("link", name="Unmet requests"))
    hand.click(hand.page.get_by_role("link", name="Unmatched messages"))
    expect(hand.page.get_by_text("my parrot lost its voice").first).to_be_visible()


def _which_messages(hand: Hand) -> None:
    hand.click(hand.page.get_by_role("main").get_by_role("link", name="Match rate"))
    expect(hand.page.get_by_text("my parrot lost its voice").first).to_be_visible()


def _revision_1(hand: Hand) -> None:
    _tab(hand, "History")
    hand.click(hand.page.get_by_role("main").get_by_role("link", name="Revision 1", exact=True))
    expect(hand.page.get_by_role("heading", name="As it was")).to_be_visible()


def _who_uses_it(hand: Hand) -> None:
    hand.click(hand.page.get_by_role("button", name=re.compile("Search")).first)
    expect(hand.page.locator("#palette input")).to_be_focused()
    hand.type("visit_book")
    hand.click(hand.page.locator("#palette").get_by_text("Piano tuning visits"))
    hand.page.wait_for_url(f"**{VISITS}")


def _why_withdrawn(hand: Hand) -> None:
    expect(hand.page.get_by_text("It told a guest about another guest").first).to_be_visible()


def _who_must_act(hand: Hand) -> None:
    expect(hand.page.get_by_role("region", name="Needs your attention").locator("time").first).to_be_visible()


HOME: Final = "/"
VISITS: Final = "/capabilities/visits/"
# By a word of the question: where one is, and the way to the answer.
WALKS: Final[dict[str, tuple[str, Callable[[Hand], None]]]] = {
    "still use revision": (VISITS, _which_agents),
    "changed this sentence": (VISITS, _who_changed),
    "agent do with it": (VISITS, _what_it_did),
    "Half of all uses": (HOME, _why),
    "my instruction": (VISITS, _is_it_good),
    "don't cover": (HOME, _not_covered),
    "match rate": (HOME, _which_messages),
    "look like": (VISITS, _revision_1),
    "Which tools": (HOME, _who_uses_it),
    "quarantined": ("/capabilities/meals/", _why_withdrawn),
    "must act": (HOME, _who_must_act),
}


def _read_table() -> dict[str, str]:
    text = (ROOT / "docs" / "studio.md").read_text("utf-8")
    section = text[text.index("## Twelve questions") :]
    return dict(ROW.findall(section[: section.index("\n## ")]))


def test_each_question_is_answered_in_the_clicks_of_the_table(studio: Studio, as_role: Callable[[str], Page]) -> None:
    clicks = _read_table()
    assert len(clicks) == 12
    assert sum(count.isdigit() and int(count) <= FEW for count in clicks.values()) >= TO_BE_FEW
    page = as_role("admin")

    def walk(question: str) -> None:
        begin, way = next(one for words, one in WALKS.items() if words in question)
        page.goto(f"{studio.url}{begin}")
        hand = Hand(page)
        way(hand)
        assert str(hand.clicks) == clicks[question]

    check_each([question for question, count in clicks.items() if count.isdigit()], walk)
