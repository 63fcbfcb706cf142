"""Keys of agent runtimes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry import keys
from registry.models import AgentKey
from tests.factories import OLGA
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


def _make(client: Client, **changes: Any) -> Any:
    return form_with(client.get("/keys/"), "Make the key").submit(client, **{"name": "bot"} | changes)


def test_a_new_key_is_shown_once(client: Client) -> None:
    answer = _make(client, scopes=["read", "publish"])
    key = answer.context["created"]
    assert key.startswith("csk_")
    assert key in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    row = AgentKey.objects.get()
    assert (row.key_hash, row.scopes) == (keys.hash_key(key), ["read", "publish"])
    assert key not in client.get("/keys/").content.decode()


def test_the_form_proposes_what_most_keys_need(client: Client) -> None:
    assert form_with(client.get("/keys/"), "Make the key").values["scopes"] == ["read", "feedback"]


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
    keys.create_key(name="taken", by=OLGA)
    answer = _make(client, **changes)
    assert answer.status_code == 400
    assert 'class="field-error"' in answer.content.decode()
    assert AgentKey.objects.count() == 1


def test_revoking_without_scripts(client: Client) -> None:
    keys.create_key(name="bot", by=OLGA)
    answer = form_with(client.get("/keys/"), "Revoke").submit(client)
    assert answer["Location"] == "/keys/"
    page = client.get("/keys/?state=ended").content.decode()
    assert "The key &#x27;bot&#x27; is revoked." in page
    assert ">revoked<" in page
    assert AgentKey.objects.get().revoked_by == "operator:the-admin"


@pytest.mark.parametrize("name", ["", "nobody", "a\0b", "x" * 5000, "<script>alert(1)</script>"])
def test_revoking_what_is_not_there_says_so(name: str, client: Client) -> None:
    page = client.post("/keys/revoke/", {"name": name}, follow=True).content.decode()
    assert "There is no key named" in page
    assert "<script>alert" not in page


def test_a_name_is_text(client: Client) -> None:
    keys.create_key(name='"><script>alert(1)</script>', by=OLGA)
    assert "<script>alert" not in client.get("/keys/").content.decode()


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (5, 55):
        for number in range(amount):
            keys.create_key(name=f"key {amount} {number}", by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get("/keys/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4
