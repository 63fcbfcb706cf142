"""A dangerous action asks who it is when the last time is a while ago, and keeps the form that was sent."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from registry.access import agent_keys, operators
from registry.models import AgentKey, Operator
from studio.config.parsers import Rate
from tests.factories import OLGA
from tests.second_factors import app_code, enable_app
from tests.sessions import confirm_identity
from tests.unit.studio.conftest import PASSWORD, SignIn
from tests.unit.studio.forms import form_with, forms_in

pytestmark = pytest.mark.django_db
KEY = {"name": "bot", "scopes": ["read", "feedback"]}


def test_the_form_is_kept_and_the_right_password_runs_it(signed_in: SignIn) -> None:
    client = signed_in("admin")
    confirm_identity(client, seconds_ago=3600)
    page = client.post("/keys/", KEY)
    form = next(form for form in forms_in(page) if "identity_password" in form.values or "name" in form.values)
    assert form.values["name"] == "bot"
    wrong = client.post("/keys/", {**KEY, "identity_password": "wrong"})
    assert (wrong.status_code, AgentKey.objects.count()) == (403, 0)
    assert "Your password is incorrect." in wrong.content.decode()
    done = client.post("/keys/", {**KEY, "identity_password": PASSWORD})
    assert done.status_code == 200
    assert AgentKey.objects.get().scopes == ["read", "feedback"]
    # And for a while nothing is asked.
    assert client.post("/keys/", {**KEY, "name": "second"}).status_code == 200


def test_a_code_of_the_app_is_as_good(signed_in: SignIn) -> None:
    client = signed_in("admin")
    enable_app(Operator.objects.get(username="the-admin"))
    confirm_identity(client, seconds_ago=3600)
    assert client.post("/keys/", {**KEY, "identity_code": "000000"}).status_code == 403
    assert client.post("/keys/", {**KEY, "identity_code": app_code()}).status_code == 200
    assert AgentKey.objects.count() == 1


def test_odd_answers_of_a_passkey_are_refused(signed_in: SignIn) -> None:
    client = signed_in("admin")
    confirm_identity(client, seconds_ago=3600)
    for odd in ("{}", "[]", "x", '{"id": 1}', '{"response": {"userHandle": 7}}', "[" * 9000, "x" * 99_999):
        assert client.post("/keys/", {**KEY, "identity_credential": odd}).status_code == 403
    assert not AgentKey.objects.exists()


def test_guesses_are_slowed_down(signed_in: SignIn, settings: Settings) -> None:
    settings.RATE_LIMITS = {"guess": Rate(20, 60)}
    client = signed_in("admin")
    confirm_identity(client, seconds_ago=3600)
    for field, count in (("identity_password", 5), ("identity_code", 5)):
        answers = [client.post("/keys/", {**KEY, field: "000000"}) for _ in range(count + 1)]
        assert [answer.status_code for answer in answers] == [403] * count + [429]
        assert 1 <= int(answers[-1]["Retry-After"]) <= 60
    assert client.post("/keys/", {**KEY, "identity_password": PASSWORD}).status_code == 429


def test_reading_asks_nothing(signed_in: SignIn) -> None:
    client = signed_in("admin")
    confirm_identity(client, seconds_ago=3600)
    for address in ("/keys/", "/members/", "/settings/backup/", "/security/"):
        assert client.get(address).status_code == 200


@pytest.fixture
def provided(signed_in: SignIn, settings: Settings) -> Client:
    """The browser of an admin whom an identity provider signs in, an hour ago."""
    from allauth.socialaccount.models import SocialAccount

    settings.OIDC_ISSUER, settings.OIDC_NAME = "https://login.example.com", "Example Login"
    client = signed_in("admin")
    operator = operators.get_operator("the-admin")
    operator.set_unusable_password()
    operator.save()
    client.force_login(operator)
    SocialAccount.objects.create(user=operator, provider="oidc", uid="1", extra_data={})
    confirm_identity(client, seconds_ago=3600)
    return client


def test_whom_a_provider_signs_in_is_sent_there(provided: Client) -> None:
    page = provided.post("/keys/", KEY).content.decode()
    assert "/sign-in/oidc/?next=%2Fconfirmed%2F&amp;again=1" in page
    assert "Your password" not in page


def test_the_form_waits_while_the_provider_asks(provided: Client) -> None:
    key = agent_keys.create_key(name="bot", by=OLGA)[0]
    address, typed = f"/keys/{key.pk}/change/?from=list", {"scopes": ["read", "publish"], "read_key": "csk_typed"}
    provided.post(address, typed)
    assert "csk_typed" not in str(dict(provided.session))
    confirm_identity(provided)
    form = form_with(provided.get("/confirmed/"), "Continue")
    assert (form.action, form.values["read_key"]) == (address, "csk_typed")
    assert provided.post(form.action, typed).status_code == 302
    key.refresh_from_db()
    assert key.scopes == ["read", "publish"]
    assert provided.get("/confirmed/")["Location"] == "/", "nothing waits any more"


def test_a_form_that_is_too_long_to_wait_leads_to_its_page(provided: Client) -> None:
    page = provided.post("/keys/", {**KEY, "groups": "x" * 70_000}).content.decode()
    assert "/sign-in/oidc/?next=%2Fkeys%2F&amp;again=1" in page
    assert "kept_form" not in provided.session


def test_a_form_waits_for_its_person_alone(provided: Client, signed_in: SignIn) -> None:
    provided.post("/keys/", KEY)
    other = signed_in("author")
    session = other.session
    session["kept_form"] = provided.session["kept_form"]
    session.save()
    assert provided.get("/confirmed/").status_code == 200
    assert other.get("/confirmed/")["Location"] == "/"
