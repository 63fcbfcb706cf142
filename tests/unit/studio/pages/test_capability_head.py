"""The head that all pages of a capability share."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import SYSTEM
from registry.models import Capability, Team
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish, tool
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

PAGE = "/capabilities/alpha/"
FILE = "references/units.md"
# Every page below the tabs, with the tab that is marked and what the breadcrumb ends with.
PAGES = {
    "": ("Overview", "Alpha Bet"),
    "instructions/": ("Instructions", "Instructions"),
    "tools/": ("Tools", "Tools"),
    "forms/": ("Forms", "Forms"),
    "files/": ("Attached files", "Attached files"),
    f"files/read/{FILE}": ("Attached files", FILE),
    "history/": ("History", "History"),
    "history/1/": ("History", "Revision 1"),
    "history/compare/": ("History", "Compare revisions"),
    "draft/history/": ("History", "Draft history"),
    "feedback/": ("Insights", "Insights"),
}


def _headings(page: str) -> list[str]:
    found = re.findall(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", one).split()) for one in found]


def _head(page: str) -> str:
    return page[page.index('<header class="cap-head">') : page.index("</header>", page.index("cap-head"))]


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("publisher")


@pytest.mark.parametrize("where", PAGES)
def test_the_heading_is_the_name_on_every_tab(where: str, client: Client) -> None:
    publish(name="Alpha Bet")
    publish(name="Alpha Bet", body="Two.")
    files = bundle(name="Alpha Bet") | {FILE: "Kilograms."}
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    page = client.get(f"{PAGE}{where}").content.decode()
    tab, crumb = PAGES[where]
    assert _headings(page) == ["Alpha Bet"]
    assert "Alpha Bet" in re.findall(r"<title>(.*?)</title>", page, re.DOTALL)[0]
    assert re.search(rf'aria-current="(page|true)">\s*{tab}\b', page)
    crumbs = re.findall(r'<nav aria-label="Breadcrumb">.*?</nav>', page, re.DOTALL)
    assert len(crumbs) == 1
    assert f'aria-current="page"><bdi>{crumb}</bdi>' in crumbs[0]
    # The sidebar says where the capability is, on each of its tabs.
    assert re.search(r'href="/capabilities/"\s+aria-current="(page|true)"', page)


def test_it_names_the_owner_and_the_groups(client: Client) -> None:
    publish(metadata={"owner": "Health & Fitness"}, skill_groups=["fitness"])
    head = _head(client.get(PAGE).content.decode())
    assert "Health &amp; Fitness" in head
    assert "<bdi>fitness</bdi>" in head
    teams.create_team(name="Movers", by=SYSTEM)
    teams.set_owning_team(capability_id="alpha", key=Team.objects.get().pk, by=SYSTEM)
    head = _head(client.get(PAGE).content.decode())
    assert "Movers" in head
    assert "Health" not in head


@pytest.mark.parametrize(
    ("role", "has_draft", "primary", "menu"),
    [
        ("viewer", True, [], ["Download", "Share"]),
        ("author", True, ["Edit"], ["Duplicate", "Download", "Share"]),
        ("publisher", False, ["Edit"], ["Duplicate", "Download", "Share", "Deprecate", "Quarantine", "Retire"]),
        (
            "publisher",
            True,
            ["Review & publish"],
            ["Duplicate", "Download", "Share", "Deprecate", "Quarantine", "Retire"],
        ),
    ],
)
def test_it_offers_one_primary_action_and_what_the_role_may_do(
    role: str, has_draft: bool, primary: list[str], menu: list[str], signed_in: SignIn
) -> None:
    publish()
    if has_draft:
        drafts.save_draft(capability_id="alpha", files=bundle(body="New."), based_on=None, by=OLGA)
    head = _head(signed_in(role).get(PAGE).content.decode())
    words = [
        (css, re.sub(r"<[^>]+>", "", text).strip())
        for css, text in re.findall(r'<(?:a|button) class="([^"]*)"\s*[^>]*>(.*?)</(?:a|button)>', head, re.DOTALL)
    ]
    assert [text for css, text in words if "btn--primary" in css] == primary
    assert [text for css, text in words if "menu__item" in css] == menu
    assert "/playground/?m=alpha+please" in head


def test_the_menu_follows_the_status(client: Client) -> None:
    publish()
    publication.retire(capability_id="alpha", by=OLGA)
    head = _head(client.get(PAGE).content.decode())
    assert "Restore" in head
    assert "Deprecate" not in head
    assert Capability.objects.get().status == "retired"


@pytest.mark.parametrize("text", ["", "[1]", '{"emoji": 5, "name": 7}', "{", "[" * 5000])
def test_a_draft_of_any_content_has_a_head(text: str, client: Client) -> None:
    drafts.save_draft(capability_id="alpha", files={"capability.json": text}, based_on=None, by=OLGA)
    assert _headings(client.get(PAGE).content.decode()) == ["alpha"]


def test_the_parts_of_a_release_are_tabs_of_what_is_published(client: Client) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    assert f'href="{PAGE}tools/"' not in client.get(PAGE).content.decode()
    assert client.get(f"{PAGE}tools/")["Location"] == PAGE
    publish(tools=[tool("alpha_read")])
    assert f'href="{PAGE}tools/"' in client.get(PAGE).content.decode()
    assert "alpha_read" in client.get(f"{PAGE}tools/").content.decode()
    assert "No forms." in client.get(f"{PAGE}forms/").content.decode()
    assert 'id="skill-doc"' in client.get(f"{PAGE}instructions/").content.decode()
