"""Pages of other origins: only those that the setting names."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

LIST = "/api/v1/capability_registry_list"
FRIEND = "https://agent.example.com"
PREFLIGHT = {"Origin": FRIEND, "Access-Control-Request-Method": "GET"}

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _friend(settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = (FRIEND,)
    settings.AGENT_API_PUBLIC_READ = True


def test_an_allowed_origin_may_read_the_answer(client: Client) -> None:
    answer = client.get(LIST, headers={"Origin": FRIEND})
    assert answer["Access-Control-Allow-Origin"] == FRIEND
    assert "ETag" in answer["Access-Control-Expose-Headers"]
    assert "Origin" in answer["Vary"]
    assert "Access-Control-Allow-Credentials" not in answer


def test_an_allowed_origin_gets_its_preflight(client: Client) -> None:
    answer = client.options(LIST, headers=PREFLIGHT)
    assert answer.status_code == 204
    assert "Authorization" in answer["Access-Control-Allow-Headers"]


@pytest.mark.parametrize("origin", ["https://evil.example.com", "null", "https://agent.example.com.evil.com", ""])
def test_other_origins_get_nothing(client: Client, origin: str) -> None:
    answer = client.get(LIST, headers={"Origin": origin})
    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer
    assert client.options(LIST, headers=PREFLIGHT | {"Origin": origin}).status_code == 405


def test_the_operator_api_is_closed_to_pages(client: Client) -> None:
    answer = client.options("/api/v1/operator/bundle_publish", headers=PREFLIGHT)
    assert answer.status_code == 405
    assert "Access-Control-Allow-Origin" not in answer


def test_without_the_setting_nothing_is_added(client: Client, settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = ()
    answer = client.get(LIST, headers={"Origin": FRIEND})
    assert "Access-Control-Allow-Origin" not in answer
    assert "Origin" not in answer["Vary"]
