"""The pages of sets, and Connect."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from features.sets import clients, set_store
from features.sets.models import CapabilitySet
from features.sets.tests.documents import COMMAND, document
from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.access import agent_keys, teams
from registry.models import AgentKey
from registry.publishing import publication
from tests.factories import OLGA, publish, tool, unlisted
from tests.servers import ROOT
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with, forms_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    publish("alpha")
    publish("beta", tools=[tool("betaSave", "write", requires_approval=True)])
    return signed_in("admin")


@pytest.mark.both_databases
def test_a_set_is_put_together_changed_and_deleted(client: Client) -> None:
    form = form_with(client.get("/new-set/"), "Save set")
    page = form.submit(client, name="Desk", description="What it needs.", members=["alpha", "beta"])
    assert page["Location"] == "/sets/desk/"
    edit = form_with(client.get("/sets/desk/edit/"), "Save set")
    edit.submit(client, name="Front desk", members=["alpha"])
    row = set_store.get_set("desk")
    assert (row.revision, row.document["name"], len(row.document["members"])) == (2, "Front desk", 1)
    ask_and_confirm(client, "/sets/desk/delete/")
    assert CapabilitySet.objects.get().deleted_at is not None


def test_what_was_typed_stays_where_the_set_is_refused(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    form = form_with(client.get("/new-set/"), "Save set")
    page = form.submit(client, name="Desk", description="Another one.", members=["alpha"])
    assert page.status_code == 400
    assert 'value="Another one."' in page.content.decode()
    assert set_store.get_set("desk").revision == 1


def test_a_change_that_came_between_is_shown_and_kept(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    form = form_with(client.get("/sets/desk/edit/"), "Save set")
    set_store.save_set(document("alpha", "beta"), by=COMMAND)
    page = form.submit(client, name="Mine")
    assert page.status_code == 400
    assert set_store.get_set("desk").document["name"] == "Desk"


def test_a_member_is_pinned_and_follows_again(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    form_with(client.get("/sets/desk/"), "Pin revision").submit(client)
    assert set_store.read_document(set_store.get_set("desk")).members == {"alpha": 1}
    publish("alpha", description="The second text.")
    form_with(client.get("/sets/desk/"), "Follow latest").submit(client)
    assert set_store.read_document(set_store.get_set("desk")).members == {"alpha": None}


def test_the_page_names_what_has_left_and_what_a_plugin_loses(client: Client) -> None:
    set_store.save_set(document("alpha", "beta"), by=COMMAND)
    publication.retire(capability_id="alpha", by=OLGA)
    page = client.get("/sets/desk/").content.decode()
    assert "1 capability has left the set" in page
    assert re.search(r"1 typed tool\s*,\s*1 approval", page)


def test_members_download_a_plugin_with_what_is_unlisted(client: Client) -> None:
    unlisted("hidden")
    set_store.save_set(document("alpha", "hidden"), by=COMMAND)
    answer = client.get("/sets/desk/plugins/claude.zip")
    assert answer["Content-Type"] == "application/zip"
    assert b"skills/hidden/SKILL.md" in answer.content
    assert client.get("/sets/desk/plugins/other.zip").status_code == 404


def test_a_link_of_a_set_is_shown_once_and_ends(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    page = form_with(client.get("/connect/?set=desk"), "Create share link").submit(client, days="7")
    token = re.search(r"/share/([\w-]{40,})", page.content.decode())
    assert token is not None
    assert "no-store" in page["Cache-Control"]
    link = ShareLink.objects.get()
    assert (link.set_id, link.expires_at is None) == ("desk", False)
    ask_and_confirm(client, "/connect/link/revoke/", {"name": link.name})
    gone = Client().get(f"/share/{token[1]}/connect")
    assert (gone.status_code, gone["Content-Type"]) == (404, "text/html; charset=utf-8")


@pytest.mark.both_databases
def test_a_page_that_is_loaded_again_makes_no_second_link(client: Client) -> None:
    sent = {"set": "", "days": "7", "after": ""}
    assert client.post("/connect/link/", sent).status_code == 200
    assert client.post("/connect/link/", sent).status_code == 409
    link = ShareLink.objects.get()
    # Links are called by the second in which they were made.
    ShareLink.objects.update(name="first")
    assert client.post("/connect/link/", sent | {"after": str(link.pk)}).status_code == 200
    assert ShareLink.objects.count() == 2


def test_sets_work_for_a_sole_admin_and_with_teams(client: Client) -> None:
    assert 'name="team"' not in client.get("/new-set/").content.decode()
    teams.create_team(name="Health", by=OLGA)
    form = form_with(client.get("/new-set/"), "Save set")
    form.submit(client, name="Desk", description="x", members=["alpha"], team="Health")
    row = set_store.get_set("desk")
    assert row.team is not None
    assert row.team.name == "Health"


def _create_key(client: Client) -> Any:
    """Press the button of the first client."""
    return next(one for one in forms_in(client.get("/connect/")) if "Create key" in one.buttons).submit(client)


def test_connect_fills_a_key_in_once(client: Client) -> None:
    page = _create_key(client)
    key = re.search(r"Bearer (csk_[\w-]+)", page.content.decode())
    assert key is not None
    assert "no-store" in page["Cache-Control"]
    row = AgentKey.objects.get()
    assert row.name == "Claude Code · the-admin"
    assert row.key_hash == agent_keys.hash_key(key[1])
    assert sorted(row.scopes) == ["feedback", "read"]
    assert "csk_" not in client.get("/connect/").content.decode()


@pytest.mark.both_databases
def test_connect_says_when_a_client_called_last(client: Client) -> None:
    _create_key(client)
    assert "last call" not in client.get("/connect/").content.decode()
    AgentKey.objects.update(last_used_at="2026-11-01T12:00Z")
    assert client.get("/connect/").content.decode().count("last call") == 1


def test_connect_fills_a_link_of_the_set_in(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    page = form_with(client.get("/connect/?set=desk"), "Create share link").submit(client).content.decode()
    assert re.search(r"/share/[\w-]{40,}/.claude-plugin/marketplace.json", page)
    assert "claude plugin install desk@" in page
    assert ShareLink.objects.get().set_id == "desk"


def test_a_link_is_of_what_is_chosen_when_the_button_is_pressed(client: Client) -> None:
    """Without "Show lines" first."""
    set_store.save_set(document("alpha"), by=COMMAND)
    form = form_with(client.get("/connect/"), "Create share link")
    page = form.submit(client, set="desk").content.decode()
    assert ShareLink.objects.get().set_id == "desk"
    assert "reads this set, and nothing else" in page


def test_the_choice_is_sent_without_a_link(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    answer = form_with(client.get("/connect/"), "Show lines").submit(client, set="desk")
    assert answer["Location"] == "/connect/?set=desk"
    assert ShareLink.objects.count() == 0


def test_a_link_is_opened_as_it_is_by_a_person(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    _, url = share_links.create_link(name="partner", by=OLGA, set_id="desk")
    path = f"/share/{url.rpartition('/')[2]}"
    for address in (path, f"{path}/", f"{path}/connect", f"{path}/connect/"):
        assert "Desk" in Client().get(address).content.decode(), address


@pytest.mark.both_databases
def test_links_of_deleted_sets_are_listed_and_end(client: Client) -> None:
    set_store.save_set(document("alpha"), by=COMMAND)
    share_links.create_link(name="partner", by=OLGA, set_id="desk")
    set_store.delete_set(set_id="desk", by=COMMAND)
    assert "partner" in client.get("/connect/").content.decode()
    ask_and_confirm(client, "/connect/link/revoke/", {"name": "partner"})
    assert not ShareLink.objects.filter(revoked_at__isnull=True).exists()


@pytest.mark.both_databases
def test_below_a_link_everything_is_filled_in_and_nothing_is_kept() -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND)
    _, url = share_links.create_link(name="partner", by=OLGA, set_id="desk")
    answer = Client().get(f"/share/{url.rpartition('/')[2]}/connect")
    page = answer.content.decode()
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex"
    assert "KEY" not in re.sub(r"<[^>]+>", "", page)
    assert "LINK" not in re.sub(r"<[^>]+>", "", page)


def test_every_line_can_be_filled_and_has_its_source() -> None:
    names = [each.name for each in clients.list_clients()]
    assert len(names) == len(set(names)) == 10
    for each in clients.list_clients():
        assert each.source
        for reader in (
            clients.ReaderAddress("https://s.example"),
            clients.ReaderAddress("https://s.example", link="https://s.example/share/t", set_id="desk"),
        ):
            for way in clients.fill_ways(each, reader):
                assert way.line
                assert "{" not in way.line or "mcp" in way.line


def test_the_table_of_the_readme_is_that_of_the_page() -> None:
    """Written by `manage.py set clients`."""
    assert clients.render_table() in (ROOT / "README.md").read_text("utf-8")


def test_a_member_comes_in_by_their_own_account_and_a_visitor_of_a_link_does_not(settings: Any) -> None:
    claude = next(one for one in clients.list_clients() if one.id == "claude")
    member = clients.ReaderAddress("https://studio.example")
    first = clients.fill_ways(claude, member)[0]
    assert (first.title, first.line, first.needs) == ("account", "https://studio.example/mcp", ())
    visitor = clients.ReaderAddress("https://studio.example", link="https://studio.example/share/x")
    assert [way.title for way in clients.fill_ways(claude, visitor)] == ["connector"]
    settings.FEATURES = [name for name in settings.FEATURES if name != "oauth"]
    assert [way.title for way in clients.fill_ways(claude, member)] == ["connector"]
