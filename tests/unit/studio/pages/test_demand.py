"""The demand board: what is wanted, and what is done about it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from registry.catalog import drafts
from registry.models import UnknownCapabilityRequest, UnmatchedMessage
from registry.usage import demand, usage_counters
from tests.factories import agent_key, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


@pytest.fixture(autouse=True)
def kept(settings: Any) -> None:
    settings.KEEP_UNMATCHED_DAYS = 30


def _ask(*ids: str) -> None:
    for each in ids:
        usage_counters.count_miss(each, key_name="chat agent")
    usage_counters.flush()


def _say(*messages: str, decision: str = "none", nearest: str = "") -> None:
    for each in messages:
        usage_counters.count_unmatched(message=each, decision=decision, nearest=nearest)
    usage_counters.flush()


def _page(client: Client, address: str = "/demand/", **query: str) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_id_that_agents_ask_for_is_shown_with_what_was_meant(client: Client) -> None:
    publish("weights")
    _ask("weight", "weight", "sleep")
    page = _page(client)
    assert ">2<" in page
    assert "chat agent 2×" in page
    assert '<a href="/capabilities/weights/">weights</a>' in page
    assert page.index(">weight<") < page.index(">sleep<")
    assert "/new-capability/?id=sleep" in page
    assert 'value="sleep"' in _page(client, "/new-capability/", id="sleep")
    assert "/demand/" in _page(client, "/")


def test_what_an_agent_says_and_nothing_fits_comes_to_the_board(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    headers = {"Authorization": f"Bearer {agent_key(name='shop')}"}
    for message in ("1 + 1", "book a table at eight", "weigh-in"):
        answer = client.post(
            "/api/v1/capability_match", {"message": message}, content_type="application/json", headers=headers
        )
        assert answer.status_code == 200, answer.content
    usage_counters.flush()
    page = _page(client, what="messages")
    assert "book a table at eight" in page
    assert "shop 1×" in page
    assert "weigh-in" not in page


def test_a_message_becomes_a_golden_sentence_of_a_draft(client: Client) -> None:
    publish("weights")
    _say("how heavy am I", decision="ambiguous", nearest="weights")
    form = form_with(client.get("/demand/", {"what": "messages"}), "Add to draft")
    assert form.values["capability_id"] == "weights"
    answer = client.post(form.action, form.values, follow=True)
    assert "Publish it to go live" in answer.content.decode()
    document = json.loads(drafts.get_draft("weights").files["capability.json"])
    assert document["utterances"]["should_match"] == ["how heavy am I"]
    assert "already has this message" in client.post(form.action, form.values, follow=True).content.decode()


def test_what_came_near_nothing_is_proposed_for_nothing(client: Client) -> None:
    publish("weights")
    _say("my parrot lost its voice", nearest="weights")
    form = form_with(client.get("/demand/", {"what": "messages"}), "Add to draft")
    assert form.values["capability_id"] == ""


@pytest.mark.parametrize("what", ["ids", "messages"])
def test_something_is_put_away_and_brought_back(what: str, client: Client) -> None:
    _ask("sleep")
    _say("sleep well")
    form = form_with(client.get("/demand/", {"what": what}), "Dismiss")
    assert client.post(form.action, form.values)["Location"] == f"/demand/?what={what}"
    assert "the-author" in _page(client, what=what, dismissed="yes")
    form = form_with(client.get("/demand/", {"what": what, "dismissed": "yes"}), "Restore")
    client.post(form.action, form.values)
    assert demand.list_unknown_ids().count() + demand.list_messages().count() == 2


def test_a_viewer_reads_but_does_nothing(signed_in: SignIn) -> None:
    publish("weights")
    _ask("sleep")
    _say("sleep well")
    viewer = signed_in("viewer")
    for what in ("ids", "messages"):
        page = _page(viewer, what=what)
        assert "sleep" in page
        assert ">Dismiss<" not in page
        assert "Add to draft" not in page
        assert "Create" not in page.partition("<main")[2]


def test_it_says_that_no_messages_are_kept(settings: Any, client: Client) -> None:
    settings.KEEP_UNMATCHED_DAYS = 0
    assert "Messages are not kept" in _page(client, what="messages")


def test_what_agents_say_is_text(client: Client) -> None:
    _ask('<script>"')
    _say("<script>alert(1)</script> & more")
    for what in ("ids", "messages"):
        assert "<script>a" not in _page(client, what=what)
        assert '<script>"' not in _page(client, what=what)


@pytest.mark.parametrize("query", [{"page": "9" * 30}, {"page": "x"}, {"what": "\0"}, {"dismissed": "maybe"}])
def test_an_odd_address_shows_the_board(query: dict[str, str], client: Client) -> None:
    assert "No unmet requests." in _page(client, **query)


@pytest.mark.parametrize("given", [{}, {"chosen": "nobody"}, {"chosen": "\0", "what": "messages"}])
def test_what_is_not_there_is_told(given: dict[str, str], client: Client) -> None:
    for address in ("/demand/dismiss/", "/demand/bring-back/"):
        assert "This request is no longer listed" in client.post(address, given, follow=True).content.decode()
    assert "No capability found" in client.post("/sentences/add/", {"sentence": "a"}, follow=True).content.decode()


def test_a_long_board_has_pages_and_asks_as_often(client: Client, django_assert_max_num_queries: Any) -> None:
    _ask(*(f"made_up_{number}" for number in range(60)))
    _say(*(f"thing{chr(97 + a)}{chr(97 + b)}" for a in range(8) for b in range(8)))
    assert (UnknownCapabilityRequest.objects.count(), UnmatchedMessage.objects.count()) == (60, 64)
    for what in ("ids", "messages"):
        with django_assert_max_num_queries(14):
            page = _page(client, what=what)
        assert "Page 1 of 3" in page
        assert f"?what={what}&amp;page=2" in page
        assert "Page 3 of 3" in _page(client, what=what, page="3")
