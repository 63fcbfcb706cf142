"""What a user would say, and what an agent would make of it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import publish
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


def _page(client: Client, **query: str | list[str]) -> str:
    response = client.get("/playground/", query)
    assert response.status_code == 200
    return response.content.decode()


def test_an_empty_one_asks_for_a_message(client: Client) -> None:
    page = _page(client)
    assert "What would a user say?" in page
    assert "The prompt at this point" not in page


def test_a_message_shows_the_decision_its_trigger_and_the_prompt(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"], skill_groups=["health"])
    page = _page(client, m="I just weighed 80 kg")
    assert '<mark title="trigger: weigh-in">weighed</mark>' in page
    assert "Skill groups: health." in page
    assert "weights (4 more turns" in page
    assert "READY" in page
    assert "weights" in page.partition('<pre class="prompt"')[2]


def test_turns_are_counted_down_and_a_skill_is_forgotten(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    page = _page(client, m=["weigh-in", "one", "two"])
    assert "weights (2 more turns" in page
    page = _page(client, m=["weigh-in", "one", "two", "three", "four", "five"])
    assert "nothing" in page.rpartition("In use:")[2]


def test_what_is_missing_is_said_with_the_mend(client: Client) -> None:
    publish("films", intent_triggers=["video"], dependencies={"bins": ["ffmpeg"]}, dependency_level="external")
    assert "NEED_SETUP" in _page(client, m="cut this video")
    assert "READY" in _page(client, m="cut this video", has="ffmpeg")


def test_nothing_fits(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    assert ">none<" in _page(client, m="1 + 1")


def test_what_is_typed_is_text(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    page = _page(client, m="<script>alert(1)</script> weigh-in", has='"><b>', os="<i>")
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "<i>" not in page


def test_long_and_many_messages_are_cut(client: Client) -> None:
    page = _page(client, m=["x" * 5000] + [f"message {n}" for n in range(25)])
    assert "Only the last messages are shown." in page
    assert "message 24" in page
    assert "message 3<" not in page


def test_a_stranger_signs_in_first() -> None:
    assert Client().get("/playground/").status_code == 302
