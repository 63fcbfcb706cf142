"""A dangerous action asks who it is when the last time is a while ago, and keeps the form that was sent."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from registry.access import operators
from registry.models import AgentKey, AuditEvent, Operator
from studio.config.parsers import Rate
from tests.second_factors import app_code, enable_app
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import PASSWORD, SignIn, confirm_identity, make_operator
from tests.unit.studio.forms import forms_in

pytestmark = pytest.mark.django_db
KEY = {"name": "bot", "scopes": ["read", "feedback"]}
# Each with what it is sent; those that ask a question first are sent the answer too.
DANGEROUS = {
    "/keys/": KEY,
    "/members/": {"username": "new", "role": "viewer"},
    "/members/role/": {"username": "the-author", "role": "admin"},
    "/members/reset/": {"username": "the-author", "confirmed": "yes", "seen_state": ""},
    "/settings/backup/": {},
    "/security/app/": {},
    "/security/app/remove/": {"what": "app", "confirmed": "yes", "seen_state": ""},
    "/security/passkey/": {},
    "/security/codes/": {"what": "codes", "confirmed": "yes", "seen_state": ""},
}


def test_nothing_dangerous_happens_without_it(signed_in: SignIn) -> None:
    client = signed_in("admin")
    make_operator("author")
    enable_app(Operator.objects.get(username="the-admin"))
    confirm_identity(client, seconds_ago=16 * 60)
    written = AuditEvent.objects.count()

    def check(address: str) -> None:
        answer = client.post(address, DANGEROUS[address])
        assert answer.status_code == 403
        page = answer.content.decode()
        assert "Confirm that it&#x27;s you" in page or "Confirm that it's you" in page
        assert answer["Cache-Control"] == "private, no-cache" or "no-store" in answer["Cache-Control"]
        assert AuditEvent.objects.count() == written

    check_each(sorted(DANGEROUS), check, isolate=rolled_back)


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


def test_whom_a_provider_signs_in_is_sent_there(signed_in: SignIn, settings: Settings) -> None:
    from allauth.socialaccount.models import SocialAccount

    settings.OIDC_ISSUER, settings.OIDC_NAME = "https://login.example.com", "Example Login"
    client = signed_in("admin")
    operator = operators.get_operator("the-admin")
    operator.set_unusable_password()
    operator.save()
    client.force_login(operator)
    SocialAccount.objects.create(user=operator, provider="oidc", uid="1", extra_data={})
    confirm_identity(client, seconds_ago=3600)
    page = client.post("/keys/", KEY).content.decode()
    assert "/sign-in/oidc/?next=%2Fkeys%2F&amp;again=1" in page
    assert "Your password" not in page
