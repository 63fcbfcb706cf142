"""The page after the first release: a key, snippets, and the first load."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from registry.models import AgentKey, LoadCount
from registry.usage import usage_counters
from tests.factories import agent_key, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
LIVE = "/capabilities/alpha/live/"


def _fragment(client: Client, since: object) -> str:
    path = f"{LIVE}first-load/?since={since}"
    return client.get(path, headers={"HX-Request": "true"}).content.decode()


def test_an_admin_creates_a_key_in_place_and_the_snippets_hold_it(signed_in: SignIn) -> None:
    publish("alpha", name="Leave <b>")
    client = signed_in("admin")
    page = client.get(LIVE)
    assert "<bdi>Leave &lt;b&gt;</bdi> is live" in page.content.decode()
    answer = form_with(page, "Create API key").submit(client, name="HR assistant")
    shown = answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    key = AgentKey.objects.get(name="HR assistant")
    assert shown.count(key.key_prefix) == 4
    assert "-d capability_id=alpha" in shown
    assert key.key_prefix not in client.get(LIVE).content.decode()
    again = form_with(client.get(LIVE), "Create API key").submit(client, name="HR assistant")
    assert (again.status_code, "a key named" in again.content.decode()) == (400, True)


@pytest.mark.parametrize("is_public", [True, False])
def test_the_page_says_whether_a_key_is_needed(is_public: bool, signed_in: SignIn, settings: LazySettings) -> None:
    publish("alpha")
    settings.AGENT_API_PUBLIC_READ = is_public
    page = signed_in("admin").get(LIVE).content.decode()
    assert ("with an API key or without" in page, "Every agent with an API key" in page) == (is_public, not is_public)


def test_others_are_told_who_creates_keys(signed_in: SignIn, settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish()
    client = signed_in("publisher")
    page = client.get(LIVE).content.decode()
    assert "Ask an admin for an API key" in page
    assert "Create API key" not in page
    assert "$CAP_KEY" in page
    assert client.post(LIVE, {"name": "mine"}).status_code == 403
    assert not AgentKey.objects.exists()


def test_the_listener_stops_after_the_first_load(signed_in: SignIn) -> None:
    publish()
    client, now = signed_in("publisher"), int(time.time())
    assert 'hx-trigger="every 1s"' in _fragment(client, now)
    LoadCount.objects.create(day="2026-01-01", capability_id="alpha", revision=2, key_name="later", count=1)
    assert "Waiting for the first load" in _fragment(client, now)
    agent_key(name="hr")
    usage_counters.count_load("alpha", 1, key_name="hr")
    usage_counters.record_key_use("hr")
    usage_counters.flush()
    found = _fragment(client, now)
    assert "Loaded by <bdi>hr</bdi>" in found
    assert "just now" in found
    assert "hx-get" not in found


@pytest.mark.parametrize("since", [0, 5, "x", "99999999999", "\u0663"])
def test_the_listener_stops_after_ten_minutes(since: object, signed_in: SignIn) -> None:
    publish()
    found = _fragment(signed_in("viewer"), since)
    assert "hx-get" not in found
    assert f'href="{LIVE}"' in found


def test_without_scripts_the_page_itself_is_asked(signed_in: SignIn) -> None:
    publish()
    client = signed_in("viewer")
    assert client.get(f"{LIVE}first-load/")["Location"] == LIVE


def test_only_a_first_load_is_written_early() -> None:
    usage_counters.count_load("alpha", 1, key_name="hr")
    assert usage_counters.has_first_load()
    usage_counters.flush()
    usage_counters.count_load("alpha", 1, key_name="hr")
    assert not usage_counters.has_first_load()
    usage_counters.count_load("alpha", 2, key_name="hr")
    assert usage_counters.has_first_load()
