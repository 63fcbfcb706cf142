"""The second step of a sign-in: asked for, slowed down, recorded; and what needs none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from registry.access import operators, second_factors, sign_ins
from registry.models import AuditEvent, Operator
from studio.config.parsers import Rate
from tests.factories import OLGA
from tests.second_factors import app_code, enable_app
from tests.unit.studio.conftest import PASSWORD, SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
STEP = "/sign-in/second-step/"


@pytest.fixture
def ada() -> Operator:
    return operators.create_operator(username="ada", password=PASSWORD, role="admin", by=OLGA)


def _first(client: Client, to: str = "") -> Any:
    return client.post("/sign-in/", {"username": "ada", "password": PASSWORD, "next": to})


def _how() -> list[list[str]]:
    return [event.detail["how"] for event in AuditEvent.objects.filter(verb="operator.sign_in").order_by("pk")]


def test_the_password_alone_begins_no_session(ada: Operator) -> None:
    client = Client()
    codes = enable_app(ada)
    assert _first(client, "/capabilities/")["Location"] == STEP
    assert client.get("/capabilities/").status_code == 302
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/sign-in/")
    assert _how() == []
    assert client.post(STEP, {"code": "000000"}).status_code == 400
    answer = client.post(STEP, {"code": app_code()})
    assert (answer.status_code, answer["Location"]) == (302, "/capabilities/")
    assert client.get("/capabilities/").status_code == 200
    assert _how() == [["password", "totp"]]
    client.post("/sign-out/")
    _first(client)
    client.post(STEP, {"code": codes[0]})
    assert _how()[-1] == ["password", "recovery_code"]


def test_the_session_is_another_one_and_a_planted_one_is_void(ada: Operator) -> None:
    enable_app(ada)
    client = Client()
    _first(client)
    before = client.session.session_key
    client.post(STEP, {"code": app_code()})
    assert client.session.session_key != before


def test_nobody_comes_to_the_second_step_without_the_first(ada: Operator) -> None:
    enable_app(ada)
    for method in ("get", "post"):
        assert getattr(Client(), method)(STEP, {"code": app_code()})["Location"] == "/sign-in/"


def test_codes_are_slowed_down_apart_from_passwords(ada: Operator, settings: Settings) -> None:
    settings.RATE_LIMITS = {"guess": Rate(20, 60)}
    enable_app(ada)
    client = Client()
    _first(client)
    answers = [client.post(STEP, {"code": "000000"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [400] * 5 + [429]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    # From another browser and network too: it is counted by account. The right code is not looked at.
    other = Client(REMOTE_ADDR="198.51.100.7")
    assert _first(other).status_code == 302
    assert other.post(STEP, {"code": app_code()}).status_code == 429
    sign_ins.flush(everything=True)
    rows = AuditEvent.objects.filter(verb="operator.sign_in_failed", detail__where="second_factor")
    assert sum(row.detail.get("failed", 0) for row in rows) == 5


def test_a_password_link_does_not_replace_it(ada: Operator) -> None:
    enable_app(ada)
    _ada, token = operators.reset_password(username="ada", by=OLGA)
    client = Client()
    answer = client.post(f"/welcome/{ada.pk}/{token}/", {"new": "another right one", "again": "another right one"})
    assert answer["Location"] == STEP
    assert client.get("/").status_code == 302


def test_an_account_without_one_signs_in_as_ever(ada: Operator) -> None:
    client = Client()
    assert _first(client, "/keys/")["Location"] == "/keys/"
    assert _how() == [["password"]]
    # A page elsewhere is not led to.
    assert _first(Client(), "https://elsewhere.example/")["Location"] == "/"


def test_who_was_deactivated_meanwhile_is_not_let_in(ada: Operator) -> None:
    operators.create_operator(username="bob", password=PASSWORD, role="admin", by=OLGA)
    enable_app(ada)
    client = Client()
    _first(client)
    operators.disable_operator(username="ada", by=OLGA)
    client.post(STEP, {"code": app_code()})
    assert client.get("/capabilities/").status_code == 302


def test_a_role_may_require_one(signed_in: SignIn, settings: Settings) -> None:
    settings.SECOND_FACTOR_ROLES = ("admin",)
    client = signed_in("admin")
    for address in ("/", "/keys/", "/admin/"):
        answer = client.get(address, follow=True)
        assert answer.redirect_chain[-1][0] == "/security/"
        assert "Your role needs a second factor." in answer.content.decode()
    assert client.post("/keys/", {"name": "bot", "scopes": ["read"]}).status_code == 302
    assert signed_in("publisher").get("/").status_code == 200
    enable_app(Operator.objects.get(username="the-admin"))
    assert client.get("/keys/").status_code == 200
    assert client.get("/admin/").status_code == 200


def test_the_identity_provider_has_asked_for_its_own(signed_in: SignIn, settings: Settings) -> None:
    settings.SECOND_FACTOR_ROLES = ("admin",)
    client = signed_in("admin")
    session = client.session
    session["signed_in_by"] = ["oidc"]
    session.save()
    assert client.get("/keys/").status_code == 200


def test_challenges_are_for_who_may_have_them(signed_in: SignIn, settings: Settings) -> None:
    address, stranger = "/passkey-options/", Client()
    for purpose, status in (("sign_in", 200), ("second_step", 403), ("add", 403), ("confirm", 403), ("", 403)):
        assert stranger.post(address, {"purpose": purpose}).status_code == status
    options = stranger.post(address, {"purpose": "sign_in"}).json()["publicKey"]
    assert (options["rpId"], options["userVerification"]) == ("testserver", "required")
    assert not options.get("allowCredentials")
    client = signed_in("author")
    added = client.post(address, {"purpose": "add"}).json()["publicKey"]
    assert added["authenticatorSelection"]["residentKey"] == "required"
    assert added["user"]["name"] == "the-author"
    settings.RATE_LIMITS = {"guess": Rate(3, 60)}
    assert [stranger.post(address, {"purpose": "sign_in"}).status_code for _ in range(4)] == [200] * 3 + [429]


def test_an_odd_answer_of_a_passkey_signs_nobody_in(ada: Operator) -> None:
    second_factors.add_passkey(username="ada", name="Key", credential={}, by=OLGA)
    client = Client()
    client.post("/passkey-options/", {"purpose": "sign_in"})
    for odd in ("", "x", "[]", "{}", json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": {}})):
        assert client.post("/sign-in/passkey/", {"credential": odd}).status_code == 400
    assert client.get("/").status_code == 302
