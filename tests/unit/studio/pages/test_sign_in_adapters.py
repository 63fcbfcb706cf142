"""What an identity provider's answer must say before it signs anybody in."""

from __future__ import annotations

import time
from typing import Any

import pytest
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory
from pytest_django import Settings

from registry.models import Operator
from studio.pages.reauthentication import is_recently_confirmed
from studio.pages.sign_in_adapters import AccountAdapter, IdentityProviderAdapter

pytestmark = pytest.mark.django_db
TOKEN = {"sub": "1", "nonce": "n", "preferred_username": "ada", "groups": ["authors"]}


@pytest.fixture(autouse=True)
def _roles(settings: Settings) -> None:
    settings.OIDC_ROLES = {"authors": "author", "admins": "admin"}


def _sign_in(claims: dict[str, Any], *, nonce: str = "n", **state: Any) -> Any:
    request = RequestFactory().get("/sign-in/oidc/callback/")
    request.session, request.user = SessionStore(), AnonymousUser()
    login = SocialLogin(account=SocialAccount(provider="oidc", uid=claims["sub"]))
    login.claims, login.state = claims, {"nonce": nonce} | state
    IdentityProviderAdapter().pre_social_login(request, login)
    return login


def test_the_answer_to_this_sign_in_is_taken() -> None:
    assert _sign_in(TOKEN | {"name": "Ada L"}).user == Operator.objects.get(username="ada", role="author")


@pytest.mark.parametrize(
    ("claims", "nonce"),
    [
        (TOKEN, "another"),
        ({**TOKEN, "nonce": None}, "n"),
        ({**TOKEN, "nonce": None}, None),
        ({**TOKEN, "groups": "x"}, "n"),
        ({**TOKEN, "groups": {"authors": True}}, "n"),
        ({**TOKEN, "groups": [["authors"], 7, None]}, "n"),
    ],
    ids=["nonce", "no nonce", "neither", "other group", "object", "odd list"],
)
def test_any_other_answer_is_refused(claims: dict[str, Any], nonce: str | None) -> None:
    with pytest.raises(ImmediateHttpResponse) as refused:
        _sign_in(claims, nonce=nonce)  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403
    assert not Operator.objects.exists()


def test_the_claim_of_the_groups_may_be_inside_of_others_or_have_dots(settings: Settings) -> None:
    settings.OIDC_GROUPS_CLAIM = "realm_access.roles"
    nested = {"sub": "1", "nonce": "n", "preferred_username": "ada", "realm_access": {"roles": ["authors"]}}
    assert _sign_in(nested).user is not None
    settings.OIDC_GROUPS_CLAIM = "https://example.com/groups"
    named = {"sub": "2", "nonce": "n", "preferred_username": "bob", "https://example.com/groups": "admins"}
    assert _sign_in(named).user == Operator.objects.get(username="bob", role="admin")


def test_a_sign_in_of_long_ago_at_the_provider_confirms_nothing() -> None:
    """An open browser may be signed in there still: `auth_time` says when the person was asked."""
    ada = _sign_in({**TOKEN, "auth_time": time.time() - 3600}).user
    for asked_at, is_recent in ((time.time() - 3600, False), (time.time(), True), (None, True)):
        request = RequestFactory().get("/sign-in/oidc/callback/")
        request.session, request.user = SessionStore(), AnonymousUser()
        request.provider_asked_at = asked_at  # type: ignore[attr-defined]
        AccountAdapter().login(request, ada)
        assert is_recently_confirmed(request) is is_recent


def test_confirming_takes_no_answer_without_the_time_at_which_the_person_was_asked() -> None:
    now = int(time.time())
    for asked_at, words in ((None, "auth_time"), ("now", "auth_time"), (True, "auth_time"), (now - 3600, "again")):
        with pytest.raises(ImmediateHttpResponse) as refused:
            _sign_in({**TOKEN, "auth_time": asked_at}, asked_at=now)
        assert (refused.value.response.status_code, words in refused.value.response.text) == (403, True), asked_at
    assert _sign_in({**TOKEN, "auth_time": now - 5}, asked_at=now).user is not None
