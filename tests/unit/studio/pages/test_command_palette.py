"""What the command palette finds."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.catalog import drafts
from registry.matching.index import PUBLISHED_INDEX
from tests.factories import OLGA, bundle, publish, tool
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


def _found(client: Client, words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/palette/", {"q": words}).json()["found"]
    return found


def test_it_finds_by_id_and_by_name_what_begins_with_it_first(client: Client) -> None:
    publish("sleep_log", name="Night rest")
    publish("log_meals")
    drafts.save_draft(capability_id="logging", files={"skill.md": ""}, based_on=None, by=OLGA)
    assert [one["url"] for one in _found(client, "LOG")] == [
        "/capabilities/log_meals/",
        "/capabilities/logging/",
        "/capabilities/sleep_log/",
    ]
    assert _found(client, "night") == [
        {"label": "Night rest", "note": "sleep_log · published", "url": "/capabilities/sleep_log/"}
    ]
    assert [one["label"] for one in _found(client, "rest sleep")] == ["Night rest"]
    assert _found(client, "logging")[0]["note"] == "draft"


def test_it_finds_at_most_eight_with_as_many_queries_as_for_one(client: Client) -> None:
    for number in range(12):
        drafts.save_draft(capability_id=f"many_{number}", files={"skill.md": ""}, based_on=None, by=OLGA)
    _found(client, "many")
    with CaptureQueriesContext(connection) as queries:
        assert len(_found(client, "many")) == 8
    # The session, the operator, the capabilities, and whether what is held of them stands: it was read before.
    assert len(queries) == 4


@pytest.mark.both_databases
@pytest.mark.parametrize("words", ["", " ", "\0", "%", "_x", "x" * 5000, "🍎", "' OR 1=1", " ".join("abcdefghij" * 5)])
def test_odd_words_find_nothing(words: str, client: Client) -> None:
    publish()
    assert _found(client, words) == []


def test_a_draft_is_found_and_shown_by_its_own_name(client: Client) -> None:
    drafts.save_draft(
        capability_id="desk_booking", files=bundle("desk_booking", name="Hot Desks"), based_on=None, by=OLGA
    )
    assert _found(client, "hot")[0]["label"] == "Hot Desks"
    assert _found(client, "hot")[0]["note"] == "desk_booking · draft"


@pytest.mark.parametrize("words", ["nihgt rest", "Sleeep", "slep_log", "niight"])
def test_what_is_misspelled_is_found_where_nothing_else_is(words: str, client: Client) -> None:
    publish("sleep_log", name="Night rest")
    publish("log_meals", name="Meals")
    assert [one["label"] for one in _found(client, words)] == ["Night rest"]


@pytest.mark.parametrize(
    "words", ["towel", "night logging rooms", "Trügger", "trugger", "TRU\u0308GGER", "room_status", "réturns"]
)
def test_it_finds_what_the_list_finds(words: str, client: Client) -> None:
    publish("housekeeping", tools=[tool("room_status")], name="Trügger", intent_triggers=["towels"], body="It returns.")
    publish("log_meals", name="Night logging", intent_triggers=["rooms"])
    PUBLISHED_INDEX.get()
    listed = client.get("/capabilities/", {"q": words}).context["page"].object_list
    found = [one["url"].split("/")[2] for one in _found(client, words)]
    assert found == [one.row.capability_id for one in listed]
    assert found


@pytest.mark.parametrize("words", ["meat wrist", "rust " + "q" * 90, "nigh loud", "restaurant"])
def test_other_words_are_no_misspelling(words: str, client: Client) -> None:
    publish("sleep_log", name="Night rest")
    assert _found(client, words) == []


def test_pages_of_the_docs_are_found_beside_capabilities(client: Client) -> None:
    publish("trigger_log", name="Triggers")
    answer = client.get("/palette/", {"q": "triggers"}).json()
    assert [one["label"] for one in answer["found"]] == ["Triggers"]
    assert 0 < len(answer["docs"]) <= 3
    assert "/docs/authors/triggers/" in [one["url"] for one in answer["docs"]]
    assert client.get(answer["docs"][0]["url"]).status_code == 200


@pytest.mark.parametrize("words", ["", "triggers xyzzyq", "\0", "x" * 5000])
def test_what_no_page_of_the_docs_has_leads_to_none(words: str, client: Client) -> None:
    assert client.get("/palette/", {"q": words}).json()["docs"] == []
