"""Connections on pages: a member's own under Security, all of them for admins, and how each ends."""

from __future__ import annotations

from typing import Any

import pytest

from features.oauth.models import Connection
from features.oauth.tests.assistant import Assistant
from registry.models import AuditEvent
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]
END = "/connections/end/"


@pytest.fixture
def assistant(signed_in: SignIn) -> Assistant:
    return Assistant(signed_in("author"))


def _key() -> str:
    return str(Connection.objects.get().pk)


def test_a_member_sees_and_ends_their_own(assistant: Assistant) -> None:
    token = assistant.sign_in()["access_token"]
    page = assistant.browser.get("/security/").content.decode()
    assert "assistant.example" in page
    done = ask_and_confirm(assistant.browser, END, {"key": _key()})
    assert done.headers["Location"] == "/security/"
    assert assistant.call(token).status_code == 401
    assert "assistant.example" not in assistant.browser.get("/security/").content.decode()
    event = AuditEvent.objects.get(verb="connection.end")
    assert (str(event.actor_kind), event.actor_name, event.subject) == ("operator", "the-author", "the-author")


def test_another_member_neither_sees_nor_ends_it(assistant: Assistant, signed_in: SignIn) -> None:
    token = assistant.sign_in()["access_token"]
    other = Assistant(signed_in("publisher")).browser
    assert "assistant.example" not in other.get("/security/").content.decode()
    assert other.get("/connections/").status_code == 403
    assert other.get(END, {"key": _key()}).status_code == 404
    other.post(END, {"key": _key(), "confirmed": "yes"})
    assert assistant.call(token).status_code == 200


def test_an_admin_sees_all_and_ends_any(assistant: Assistant, signed_in: SignIn) -> None:
    token = assistant.sign_in()["access_token"]
    admin = Assistant(signed_in("admin")).browser
    page = admin.get("/connections/").content.decode()
    assert "the-author" in page
    assert "assistant.example" in page
    done = ask_and_confirm(admin, END, {"key": _key(), "from": "list"})
    assert done.headers["Location"] == "/connections/"
    assert assistant.call(token).status_code == 401
    assert AuditEvent.objects.get(verb="connection.end").actor_name == "the-admin"


@pytest.mark.parametrize("key", ["", "0", "x", "-1", "999999", "9" * 30])
def test_one_that_is_not_there_cannot_be_ended(assistant: Assistant, key: str) -> None:
    assistant.sign_in()
    assert assistant.browser.get(END, {"key": key}).status_code in (302, 404)
    assistant.browser.post(END, {"key": key, "confirmed": "yes"})
    assert Connection.objects.filter(ended_at__isnull=True).exists()


def test_a_code_that_nobody_used_is_gone_from_the_list(assistant: Assistant) -> None:
    from django.utils import timezone

    assistant.get_code()
    assert "assistant.example" in assistant.browser.get("/security/").content.decode()
    Connection.objects.update(code_until=timezone.now())
    assert "assistant.example" not in assistant.browser.get("/security/").content.decode()


def test_the_list_of_many_costs_as_many_queries(
    assistant: Assistant, signed_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        assistant.sign_in()
    admin = Assistant(signed_in("admin")).browser
    with django_assert_max_num_queries(14):
        assert admin.get("/connections/").status_code == 200


def test_no_token_is_on_a_page_or_in_django_admin(assistant: Assistant, signed_in: SignIn) -> None:
    assistant.sign_in()
    row = Connection.objects.get()
    admin = Assistant(signed_in("admin")).browser
    for address in ("/connections/", "/admin/oauth/connection/", f"/admin/oauth/connection/{row.pk}/change/"):
        page = admin.get(address, follow=True).content.decode()
        for secret in (row.code_hash, row.family_hash, row.refresh_hash, row.access_hash):
            assert str(secret) not in page
