"""Sessions end when they are idle or old, and say now and then that they are used."""

from __future__ import annotations

import time

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.test import Client

from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


def _set(client: Client, **seconds_ago: float) -> None:
    session = client.session
    session.update({key: time.time() - ago for key, ago in seconds_ago.items()})
    session.save()


def _is_signed_in(client: Client) -> bool:
    return client.get("/security/").status_code == 200


def test_an_idle_session_ends(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    _set(client, seen_at=settings.SESSION_IDLE_SECONDS - 60, began_at=settings.SESSION_IDLE_SECONDS)
    assert _is_signed_in(client)
    _set(client, seen_at=settings.SESSION_IDLE_SECONDS + 1)
    assert not _is_signed_in(client)
    assert "_auth_user_id" not in client.session


def test_an_old_session_ends_however_much_it_is_used(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    _set(client, seen_at=1, began_at=settings.SESSION_COOKIE_AGE + 1)
    assert not _is_signed_in(client)


def test_the_tables_end_with_the_session(signed_in: SignIn) -> None:
    client = signed_in("admin")
    assert client.get("/admin/").status_code == 200
    _set(client, seen_at=settings.SESSION_IDLE_SECONDS + 1)
    assert client.get("/admin/").status_code == 302


def test_a_use_is_written_every_few_minutes_and_not_each_time(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    assert _is_signed_in(client)
    assert not UserSession.objects.exists()
    _set(client, seen_at=600)
    assert _is_signed_in(client)
    assert UserSession.objects.get().user.username == "the-viewer"
    assert time.time() - client.session["seen_at"] < 60


def test_what_agents_ask_for_does_not_depend_on_a_session(signed_in: SignIn) -> None:
    answer = signed_in("viewer").get("/api/v1/capability_registry_list")
    assert "Cookie" not in answer.get("Vary", "")
