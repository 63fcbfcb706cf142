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


def _sign_in(token: dict[str, Any], info: dict[str, Any] | None = None, *, nonce: str = "n", uid: str = "1") -> Any:
    request = RequestFactory().get("/sign-in/oidc/callback/")
    request.session, request.user = SessionStore(), AnonymousUser()
    claims = {"id_token": token, "userinfo": info}
    login = SocialLogin(account=SocialAccount(provider="oidc", uid=uid, extra_data=claims))
    login.state = {"nonce": nonce}
    IdentityProviderAdapter().pre_social_login(request, login)
    return login


def test_the_answer_to_this_sign_in_is_taken() -> None:
    assert _sign_in(TOKEN, {"sub": "1", "name": "Ada L"}).user == Operator.objects.get(username="ada", role="author")


@pytest.mark.parametrize(
    ("token", "info", "nonce"),
    [
        (TOKEN, None, "another"),
        ({**TOKEN, "nonce": None}, None, "n"),
        (TOKEN, {"sub": "2", "groups": ["admins"]}, "n"),
        ({}, {"sub": "1", "groups": ["admins"], "nonce": "n"}, "n"),
        ({**TOKEN, "groups": "x"}, None, "n"),
        ({**TOKEN, "groups": {"authors": True}}, None, "n"),
        ({**TOKEN, "groups": [["authors"], 7, None]}, None, "n"),
    ],
    ids=["nonce", "no nonce", "other person", "no token", "other group", "object", "odd list"],
)
def test_any_other_answer_is_refused(token: dict[str, Any], info: dict[str, Any] | None, nonce: str) -> None:
    with pytest.raises(ImmediateHttpResponse) as refused:
        _sign_in(token, info, nonce=nonce)
    assert refused.value.response.status_code == 403
    assert not Operator.objects.exists()


def test_the_claim_of_the_groups_may_be_inside_of_others_or_have_dots(settings: Settings) -> None:
    settings.OIDC_GROUPS_CLAIM = "realm_access.roles"
    nested = {"sub": "1", "nonce": "n", "preferred_username": "ada", "realm_access": {"roles": ["authors"]}}
    assert _sign_in(nested).user is not None
    settings.OIDC_GROUPS_CLAIM = "https://example.com/groups"
    named = {"sub": "2", "nonce": "n", "preferred_username": "bob", "https://example.com/groups": "admins"}
    assert _sign_in(named, uid="2").user == Operator.objects.get(username="bob", role="admin")


def test_a_sign_in_of_long_ago_at_the_provider_confirms_nothing() -> None:
    """An open browser may be signed in there still: `auth_time` says when the person was asked."""
    ada = _sign_in({**TOKEN, "auth_time": time.time() - 3600}).user
    for asked_at, is_recent in ((time.time() - 3600, False), (time.time(), True), (None, True)):
        request = RequestFactory().get("/sign-in/oidc/callback/")
        request.session, request.user = SessionStore(), AnonymousUser()
        request.provider_asked_at = asked_at  # type: ignore[attr-defined]
        AccountAdapter().login(request, ada)
        assert is_recently_confirmed(request) is is_recent
