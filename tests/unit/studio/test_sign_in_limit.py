"""Guessing passwords is limited by address; a right password does not help once the limit is spent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from registry import limits
from registry.models import Operator
from studio.values import Rate

pytestmark = pytest.mark.django_db
URL = "/sign-in/"


@pytest.fixture(autouse=True)
def _limit(settings: Settings) -> Iterator[None]:
    settings.RATE_LIMITS = {"guess": Rate(3, 60)}
    limits.LIMITER.forget()
    yield
    limits.LIMITER.forget()


@pytest.fixture(autouse=True)
def _ada() -> None:
    Operator.objects.create_user(username="ada", password="a right password", role="viewer")


def _sign_in(client: Client, password: str, **extra: str) -> int:
    return client.post(URL, {"username": "ada", "password": password}, **extra).status_code  # type: ignore[arg-type]


def test_a_few_wrong_passwords_are_forgiven(client: Client) -> None:
    assert [_sign_in(client, "wrong"), _sign_in(client, "wrong")] == [200, 200]
    assert _sign_in(client, "a right password") == 302


def test_too_many_wrong_passwords_shut_the_door_for_the_address(client: Client) -> None:
    assert [_sign_in(client, "wrong") for _ in range(3)] == [200, 200, 200]
    answer = client.post(URL, {"username": "ada", "password": "a right password"})
    assert answer.status_code == 429
    assert "Too many wrong passwords" in answer.content.decode()
    assert client.get(URL).status_code == 200
    assert _sign_in(client, "a right password", REMOTE_ADDR="127.0.0.2") == 302


def test_signing_in_rightly_is_not_counted(client: Client) -> None:
    assert {_sign_in(Client(), "a right password") for _ in range(10)} == {302}
