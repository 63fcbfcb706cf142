"""Keys of agent runtimes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.access import agent_keys, teams
from registry.models import AgentKey
from registry.snapshot import current_snapshot
from tests.factories import OLGA
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


def _make(client: Client, **changes: Any) -> Any:
    return form_with(client.get("/keys/"), "Create key").submit(client, **{"name": "bot"} | changes)


def test_a_new_key_is_shown_once(client: Client) -> None:
    answer = _make(client, scopes=["read", "publish"])
    key = answer.context["created"]
    assert key.startswith("csk_")
    assert key in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    row = AgentKey.objects.get()
    assert (row.key_hash, row.scopes) == (agent_keys.hash_key(key), ["read", "publish"])
    assert key not in client.get("/keys/").content.decode()


def test_the_form_proposes_what_most_keys_need(client: Client) -> None:
    assert form_with(client.get("/keys/"), "Create key").values["scopes"] == ["read", "feedback"]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"name": "a\0b"},
        {"name": "a\u202eb"},
        {"name": "taken"},
        {"scopes": []},
        {"scopes": ["odd"]},
        {"scopes": ["read", "a\0b"]},
    ],
)
def test_an_odd_key_is_refused_beside_its_field(changes: dict[str, Any], client: Client) -> None:
    agent_keys.create_key(name="taken", by=OLGA)
    answer = _make(client, **changes)
    assert answer.status_code == 400
    assert 'class="field__error"' in answer.content.decode()
    assert AgentKey.objects.count() == 1


def test_revoking_without_scripts(client: Client) -> None:
    agent_keys.create_key(name="bot", by=OLGA)
    answer = confirm(client, form_with(client.get("/keys/"), "Revoke").submit(client))
    assert answer["Location"] == "/keys/"
    page = client.get("/keys/?state=ended").content.decode()
    assert "API key “bot” was revoked." in page
    assert ">Revoked<" in page
    assert AgentKey.objects.get().revoked_by == "operator:the-admin"


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["", "nobody", "a\0b", "x" * 5000, "<script>alert(1)</script>"])
def test_revoking_what_is_not_there_says_so(name: str, client: Client) -> None:
    page = client.post("/keys/revoke/", {"name": name}, follow=True).content.decode()
    assert "No key is named" in page
    assert "<script>alert" not in page


def test_a_name_is_text(client: Client) -> None:
    agent_keys.create_key(name='"><script>alert(1)</script>', by=OLGA)
    assert "<script>alert" not in client.get("/keys/").content.decode()


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (5, 55):
        for number in range(amount):
            agent_keys.create_key(name=f"key {amount} {number}", by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get("/keys/")
        counts.append(len(queries))
    # One of them for the teams that a new key may belong to.
    assert counts[0] == counts[1] <= 8


def test_a_key_is_limited_to_a_team_or_to_capabilities(client: Client) -> None:
    teams.create_team(name="Health", by=OLGA)
    assert _make(client, scopes=["publish"], team="Health").status_code == 200
    assert _make(client, name="ids", scopes=["publish"], capability_ids="beta, alpha").status_code == 200
    of_team, of_ids = AgentKey.objects.get(name="bot"), AgentKey.objects.get(name="ids")
    assert (of_team.team.name, of_team.capability_ids) == ("Health", None)  # type: ignore[union-attr]
    assert (of_ids.team, of_ids.capability_ids) == (None, ["alpha", "beta"])
    page = client.get("/keys/").content.decode()
    assert "Changes team: Health" in page
    assert "Changes: alpha, beta" in page
    form = form_with(client.get(f"/keys/{of_team.pk}/"), "Save")
    assert (form.values["team"], form.values["capability_ids"]) == ("Health", "")
    assert form.submit(client, team="", capability_ids="alpha").status_code == 302
    of_team.refresh_from_db()
    assert (of_team.team, of_team.capability_ids) == (None, ["alpha"])
    rotated = client.get(f"/keys/{of_ids.pk}/rotate/?overlap=0").content.decode()
    assert "It may change: alpha, beta." in rotated


@pytest.mark.parametrize(
    ("limit", "field", "words"),
    [
        ({"team": "Health", "capability_ids": "alpha"}, "team", "exclude each other"),
        ({"capability_ids": "Not One"}, "capability_ids", "Ids of capabilities"),
        ({"team": "Nobody"}, "team", "Nobody"),
    ],
)
def test_an_odd_limit_is_shown_at_its_field(client: Client, limit: dict[str, str], field: str, words: str) -> None:
    teams.create_team(name="Health", by=OLGA)
    answer = _make(client, scopes=["publish"], **limit)
    assert (answer.status_code, words in str(answer.context["form"].errors[field])) == (400, True)
    assert not AgentKey.objects.exists()


def test_a_key_has_limits_from_the_form(client: Client) -> None:
    day = timezone.now().astimezone(UTC).date() + timedelta(days=3)
    answer = _make(client, groups="billing, support", read_only_tools=["on"], preview=["on"], last_day=day.isoformat())
    assert answer.status_code == 200
    row = AgentKey.objects.get()
    assert (row.groups, row.read_only_tools, row.preview) == (["billing", "support"], True, True)
    assert row.expires_at == datetime.combine(day + timedelta(days=1), time(), UTC)
    page = client.get(f"/keys/{row.pk}/")
    assert form_with(page, "Save").values["last_day"] == day.isoformat()
    assert "Groups: billing, support" in client.get("/keys/").content.decode()


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"groups": "Not A Group"}, "groups"),
        ({"groups": "a\0b"}, "groups"),
        ({"last_day": "2020-01-01"}, "last_day"),
        ({"last_day": "9999-12-31"}, "last_day"),
        ({"last_day": "soon"}, "last_day"),
        ({"name": "taken"}, "name"),
    ],
)
def test_what_is_odd_is_told_beside_its_own_field(changes: dict[str, str], field: str, client: Client) -> None:
    agent_keys.create_key(name="taken", by=OLGA)
    answer = _make(client, **changes)
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, [field])


def test_rights_are_changed_on_the_page_of_a_key(client: Client) -> None:
    row, _ = agent_keys.create_key(name="bot", by=OLGA)
    address = f"/keys/{row.pk}/"
    answer = form_with(client.get(address), "Save").submit(client, scopes=["read"], groups="health")
    assert answer["Location"] == address
    row.refresh_from_db()
    assert (row.scopes, row.groups) == (["read"], ["health"])
    refused = form_with(client.get(address), "Save").submit(client, scopes=[])
    assert refused.status_code == 400


def test_a_new_key_is_shown_once_and_the_old_one_is_taken_meanwhile(client: Client) -> None:
    row, old = agent_keys.create_key(name="bot", by=OLGA)
    answer = form_with(client.get(f"/keys/{row.pk}/"), "Rotate key").submit(client, overlap="1")
    new = answer.context["created"]
    assert new in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    page = client.get(f"/keys/{row.pk}/").content.decode()
    assert new not in page
    assert "works until" in page
    held = current_snapshot()
    assert held.principal(agent_keys.hash_key(old)) == replace(
        held.principals[agent_keys.hash_key(new)], until=held.principals[agent_keys.hash_key(old)].until
    )
    confirm(client, client.post(f"/keys/{row.pk}/rotate/", {"overlap": "999999999999999"}))
    assert current_snapshot().principal(agent_keys.hash_key(new)) is None


def test_a_revoked_key_cannot_be_changed(client: Client) -> None:
    row, _ = agent_keys.create_key(name="bot", by=OLGA)
    agent_keys.revoke_key(name="bot", by=OLGA)
    assert "Rotate key" not in client.get(f"/keys/{row.pk}/").content.decode()
    assert client.post(f"/keys/{row.pk}/change/", {"scopes": ["read"]}).status_code == 400
    page = client.post(f"/keys/{row.pk}/rotate/", {}, follow=True).content.decode()
    assert "is revoked: make a new key" in page


def test_what_is_not_there_is_no_page(client: Client) -> None:
    assert client.get("/keys/77/").status_code == 404
    assert client.post("/keys/77/rotate/").status_code == 404
