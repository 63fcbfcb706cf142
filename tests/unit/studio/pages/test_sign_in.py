"""Signing in, signing out, changing the password."""

from __future__ import annotations

import time
from html import unescape
from typing import Any

import pytest
from django.test import Client

from registry.access import operators
from registry.common.actors import SYSTEM
from registry.models import AuditEvent, Operator
from studio.middleware.session_limits import BEGAN_AT, SEEN_AT
from tests.unit.studio.conftest import PASSWORD, SignIn, make_operator
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db

NEW = "another-long-passphrase-3"


def _sign_in(client: Client, **values: str) -> str:
    answer = form_with(client.get("/sign-in/", {"next": values.pop("next", "")}), "Sign in").submit(
        client, **{"username": "the-viewer", "password": PASSWORD} | values
    )
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def test_signing_in_leads_to_where_one_wanted_to_go() -> None:
    make_operator("viewer")
    assert _sign_in(Client(), next="/capabilities/?q=a") == "/capabilities/?q=a"
    assert _sign_in(Client()) == "/"


def test_both_limits_of_a_session_begin_with_it() -> None:
    make_operator("viewer")
    client = Client()
    _sign_in(client)
    assert 0 <= time.time() - client.session[BEGAN_AT] < 60
    assert client.session[SEEN_AT] == client.session[BEGAN_AT]


def test_it_works_with_the_token_of_the_form_alone() -> None:
    make_operator("viewer")
    assert _sign_in(Client(enforce_csrf_checks=True)) == "/"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "https:///evil.example",
        "\t//e.x",
    ],
)
def test_it_never_leads_elsewhere(address: str) -> None:
    make_operator("viewer")
    assert _sign_in(Client(), next=address) == "/"


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "values", [{"password": "wrong"}, {"username": "nobody"}, {"username": "a\0b"}, {"username": ""}]
)
def test_a_wrong_sign_in_says_so_and_keeps_nothing(values: dict[str, str]) -> None:
    make_operator("viewer")
    client = Client()
    answer = client.post("/sign-in/", {"username": "the-viewer", "password": PASSWORD} | values)
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()
    assert PASSWORD not in answer.content.decode()
    assert client.get("/capabilities/").status_code == 302


def test_a_deactivated_member_with_the_right_password_is_told() -> None:
    make_operator("viewer")
    operators.disable_operator(username="the-viewer", by=SYSTEM)
    client, words = Client(), "Your account is deactivated. Ask an admin."
    wrong = client.post("/sign-in/", {"username": "the-viewer", "password": "wrong"})
    assert words not in wrong.content.decode()
    answer = client.post("/sign-in/", {"username": "the-viewer", "password": PASSWORD})
    assert (answer.status_code, words in answer.content.decode()) == (200, True)
    assert client.get("/capabilities/").status_code == 302


def test_a_page_that_asked_for_a_sign_in_echoes_its_next_escaped() -> None:
    page = Client().get("/sign-in/", {"next": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in page


def test_a_new_secret_key_signs_nobody_out_while_the_former_one_is_named(signed_in: SignIn, settings: Any) -> None:
    client = signed_in("author")
    former = settings.SECRET_KEY
    settings.SECRET_KEY = "another-key-of-at-least-thirty-two-characters"
    settings.SECRET_KEY_FALLBACKS = [former]
    assert client.get("/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    settings.SECRET_KEY = "a-third-key-of-at-least-thirty-two-characters"
    assert client.get("/").status_code == 302


def test_signing_out_ends_the_session_and_takes_a_form(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    assert client.get("/sign-out/").status_code == 405
    assert form_with(client.get("/capabilities/"), "Sign out").submit(client).status_code == 302
    assert client.get("/capabilities/").status_code == 302


def test_the_first_password_is_changed_and_then_the_door_is_open(signed_in: SignIn) -> None:
    client = signed_in("viewer", must_change_password=True)
    page = client.get("/password/")
    assert "You signed in with a temporary password" in page.content.decode()
    answer = form_with(page, "Change password").submit(client, current=PASSWORD, new=NEW, again=NEW)
    assert answer["Location"] == "/"
    assert client.get("/").status_code == 200
    assert Operator.objects.get(username="the-viewer").must_change_password is False
    assert AuditEvent.objects.filter(verb="operator.set_password", actor_name="the-viewer").count() == 1


def test_other_sessions_end_with_the_old_password(signed_in: SignIn) -> None:
    here, elsewhere = signed_in("viewer"), signed_in("viewer")
    here.post("/password/", {"current": PASSWORD, "new": NEW, "again": NEW})
    assert (here.get("/capabilities/").status_code, elsewhere.get("/capabilities/").status_code) == (200, 302)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"current": "wrong"}, "Your current password is incorrect."),
        ({"again": "something else here"}, "Passwords don't match."),
        ({"new": PASSWORD, "again": PASSWORD}, "Choose a password you haven't used."),
        ({"new": "short", "again": "short"}, "too short"),
        ({"new": "the-viewer-the", "again": "the-viewer-the"}, "too similar to the username"),
        ({"new": "", "again": ""}, "This field is required."),
        ({"new": "a\0b" * 8, "again": "a\0b" * 8}, "Null characters are not allowed."),
    ],
)
def test_an_unfit_password_changes_nothing(values: dict[str, str], words: str, signed_in: SignIn) -> None:
    client = signed_in("viewer")
    answer = client.post("/password/", {"current": PASSWORD, "new": NEW, "again": NEW} | values)
    assert answer.status_code == 400
    assert words in unescape(answer.content.decode())
    assert Operator.objects.get().check_password(PASSWORD)
