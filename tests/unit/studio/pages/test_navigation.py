"""The frame: who is shown which page, and that every one is there."""

from __future__ import annotations

import pytest
from django.test import Client

from studio.pages.navigation import ENTRIES, NavItem, list_nav_items
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.url_name)
def test_every_entry_leads_to_a_page(entry: NavItem, signed_in: SignIn) -> None:
    answer = signed_in("admin").get(entry.url)
    assert answer.status_code == 200


def test_shortcuts_and_pages_are_there_once() -> None:
    shortcuts = [entry.shortcut for entry in ENTRIES if entry.shortcut]
    assert len(set(shortcuts)) == len(shortcuts)
    assert len({entry.url_name for entry in ENTRIES}) == len(ENTRIES)
    # The key that begins them all.
    assert "g" not in shortcuts


@pytest.mark.parametrize("role", ["viewer", "author", "publisher", "admin"])
def test_nobody_is_shown_a_page_that_they_may_not_open(role: str, signed_in: SignIn) -> None:
    client = signed_in(role)
    page = client.get("/capabilities/")
    shown = [entry for _, entries in page.context["groups"] for entry in entries]
    assert [client.get(one.entry.url).status_code for one in shown] == [200] * len(shown)
    assert ("Keys" in [str(one.entry.label) for one in shown]) == (role == "admin")
    assert [one.entry for one in shown] == list_nav_items(page.context["user"])


@pytest.mark.parametrize(
    ("address", "label", "current"),
    [
        ("/", "Home", "page"),
        ("/capabilities/", "Capabilities", "page"),
        ("/new-capability/", "Capabilities", "true"),
        ("/keys/", "Keys", "page"),
    ],
)
def test_the_page_that_is_open_is_marked(address: str, label: str, current: str, signed_in: SignIn) -> None:
    shown = [entry for _, entries in signed_in().get(address).context["groups"] for entry in entries]
    assert [(str(one.entry.label), one.current) for one in shown if one.current] == [(label, current)]


def test_strangers_are_shown_no_navigation() -> None:
    page = Client().get("/sign-in/").content.decode()
    assert "<nav" not in page
    assert "palette" not in page
    assert '<html lang="en">' in page
