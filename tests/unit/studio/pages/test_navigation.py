"""The frame: who is shown which page, and that every one is there."""

from __future__ import annotations

import pytest
from django.test import Client, RequestFactory
from django.urls import ResolverMatch

from studio.pages.navigation import MAY, PAGES, NavItem, find_current_page
from studio.pages.urls import urlpatterns
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.url_name)
def test_every_entry_leads_to_a_page(entry: NavItem, signed_in: SignIn) -> None:
    answer = signed_in("admin").get(entry.url)
    assert answer.status_code == 200


def test_shortcuts_and_pages_are_there_once() -> None:
    shortcuts = [entry.shortcut for entry in PAGES if entry.shortcut]
    assert len(set(shortcuts)) == len(shortcuts)
    assert len({entry.url_name for entry in PAGES}) == len(PAGES)
    # The key that begins them all.
    assert "g" not in shortcuts


@pytest.mark.parametrize("role", ["viewer", "author", "publisher", "admin"])
def test_nobody_is_shown_a_page_that_they_may_not_open(role: str, signed_in: SignIn) -> None:
    client = signed_in(role)
    page = client.get("/capabilities/")
    shown = [tab.page for group in page.context["navigation"] for link in group.links for tab in link.tabs]
    assert [client.get(one.url).status_code for one in shown] == [200] * len(shown)
    assert ("API keys" in [str(one.label) for one in shown]) == (role == "admin")
    assert shown == [entry for entry in PAGES if MAY[entry.right](page.context["user"])]


def test_the_sidebar_has_four_groups_and_eleven_entries(signed_in: SignIn) -> None:
    groups = signed_in("admin").get("/").context["navigation"]
    assert [(str(group.label), [str(link.section.label) for link in group.links]) for group in groups] == [
        ("Build", ["Home", "Capabilities", "Reviews"]),
        ("Test & monitor", ["Playground", "Insights", "Unmet requests", "Incidents"]),
        ("Admin", ["Sources", "Settings"]),
        ("Resources", ["Docs", "Help"]),
    ]


@pytest.mark.parametrize(
    ("address", "label", "current", "tabs"),
    [
        ("/", "Home", "page", []),
        ("/capabilities/", "Capabilities", "page", ["Capabilities", "Compatibility", "Skill groups"]),
        ("/matrix/", "Capabilities", "true", ["Capabilities", "Compatibility", "Skill groups"]),
        ("/new-capability/", "Capabilities", "true", []),
        ("/docs/", "Docs", "page", ["Docs", "API reference"]),
        ("/docs/studio/", "Docs", "true", []),
        ("/api/v1/docs", "Docs", "true", ["Docs", "API reference"]),
        ("/releases/", "Reviews", "true", ["Reviews", "Decisions", "Scheduled releases", "Agent proposals"]),
        (
            "/keys/", "Settings", "true",
            ["Members", "Teams", "API keys", "Webhooks", "Publishing policy", "Audit log", "Backup"],
        ),
    ],
)  # fmt: skip
def test_the_page_that_is_open_is_marked(
    address: str, label: str, current: str, tabs: list[str], signed_in: SignIn
) -> None:
    context = signed_in("admin").get(address).context
    links = [link for group in context["navigation"] for link in group.links]
    assert [(str(link.section.label), link.current) for link in links if link.current] == [(label, current)]
    assert [str(tab.page.label) for tab in context["section_tabs"]] == tabs


def test_each_page_of_a_capability_is_of_a_section() -> None:
    names = [str(one.name) for one in urlpatterns if "<capability_id:capability_id>" in str(one.pattern)]
    assert len(names) > 40

    def section(name: str) -> NavItem | None:
        request = RequestFactory().get("/")
        request.resolver_match = ResolverMatch(
            print, (), {"capability_id": "alpha"}, url_name=name, namespaces=["studio"]
        )
        return find_current_page(request)

    assert [name for name in names if section(name) is None] == []
    assert section("waiver_create") is section("capability_show") is section("capability_list")


def test_who_has_one_page_of_a_section_sees_no_tabs(signed_in: SignIn) -> None:
    context = signed_in("viewer").get("/teams/").context
    assert context["section_tabs"] == ()
    assert [(str(label), url) for label, url in context["breadcrumbs"]] == [("Settings", "/teams/"), ("Teams", "")]


def test_strangers_are_shown_no_navigation() -> None:
    page = Client().get("/sign-in/").content.decode()
    assert "<nav" not in page
    assert "palette" not in page
    assert '<html lang="en"' in page
