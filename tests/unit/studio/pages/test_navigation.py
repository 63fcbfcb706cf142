"""The frame: who is shown which page, and that every one is there."""

from __future__ import annotations

import pytest
from django.test import Client, RequestFactory
from django.urls import ResolverMatch

from studio.pages.navigation import MAY, PAGES, SECTIONS, NavItem, find_current_page
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


@pytest.mark.parametrize(("role", "first"), [("viewer", "/teams/"), ("admin", "/members/")])
def test_settings_lead_to_the_first_page_that_one_may_open(role: str, first: str, signed_in: SignIn) -> None:
    assert signed_in(role).get("/settings/")["Location"] == first


def test_a_page_that_is_not_there_has_the_frame_of_who_is_signed_in(signed_in: SignIn) -> None:
    found = signed_in("viewer").get("/nowhere/")
    assert (found.status_code, bool(found.context["navigation"])) == (404, True)
    stranger = Client().get("/nowhere/")
    assert stranger.status_code == 404
    assert "navigation" not in stranger.context


def test_the_sidebar_shows_every_section_in_its_group(signed_in: SignIn) -> None:
    groups = signed_in("admin").get("/").context["navigation"]
    assert [section for group in groups for section in (link.section for link in group.links)] == list(SECTIONS)
    assert [str(group.label) for group in groups] == ["Build", "Test & monitor", "Admin", "Resources"]


def test_a_feature_adds_a_tab_to_a_section_of_the_core(signed_in: SignIn) -> None:
    context = signed_in("viewer").get("/tool-sources/").context
    (tab,) = (tab for tab in context["section_tabs"] if tab.current)
    assert str(tab.page.label) == "Tool sources"
    assert context["section_tabs"][0].page.url_name == "studio:capability_list"


@pytest.mark.parametrize(
    ("address", "label", "current", "has_tabs"),
    [
        ("/", "Home", "page", False),
        ("/capabilities/", "Capabilities", "page", True),
        ("/matrix/", "Capabilities", "true", True),
        ("/new-capability/", "Capabilities", "true", False),
        ("/docs/", "Docs", "page", True),
        ("/docs/studio/", "Docs", "true", False),
        ("/api/v1/docs", "Docs", "true", True),
        ("/releases/", "Reviews", "true", True),
        ("/keys/", "Settings", "true", True),
    ],
)
def test_the_page_that_is_open_is_marked(
    address: str, label: str, current: str, has_tabs: bool, signed_in: SignIn
) -> None:
    context = signed_in("admin").get(address).context
    links = [link for group in context["navigation"] for link in group.links]
    assert [(str(link.section.label), link.current) for link in links if link.current] == [(label, current)]
    (section,) = (section for section in SECTIONS if str(section.label) == label)
    assert tuple(tab.page for tab in context["section_tabs"]) == (section.pages if has_tabs else ())


@pytest.mark.parametrize(
    ("address", "shown_on"),
    [("/mirrors/new/", "/mirrors/"), ("/new-source/", "/sources/"), ("/new-team/", "/teams/"), ("/keys/", "/keys/")],
)
def test_a_page_after_an_error_in_its_form_is_marked_as_it_was(address: str, shown_on: str, signed_in: SignIn) -> None:
    client = signed_in("admin")
    page, answer = client.get(shown_on), client.post(address, {})
    assert answer.status_code == 400
    for found in ("section_tabs", "navigation", "breadcrumbs"):
        assert answer.context[found] == page.context[found], found


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
