"""What django-allauth asks of a project: how a session begins, what follows the password, whom a provider signs in."""

from __future__ import annotations

import time
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records, perform_login
from allauth.account.models import Login
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from registry.access import sign_ins, single_sign_on
from registry.access.sign_ins import SignInAttempt
from registry.access.single_sign_on import Identity
from registry.access.stored_secrets import decrypt_secret, encrypt_secret
from registry.common.errors import RegistryError
from registry.models import Operator
from studio.middleware.session_limits import HOW, begin_session
from studio.pages.credentials import find_device
from studio.pages.provider_requests import limit_responses
from studio.pages.reauthentication import keep_form_over, remember_confirmation

# Of the request that brings the provider's answer: when it last asked the person who they are, in seconds of the epoch.
_PROVIDER_ASKED_AT: Final = "provider_asked_at"
_GROUPS_MAX: Final = 2000
# A session of somebody who is not signed in yet lives no longer than what it is for.
PENDING_SECONDS: Final = 10 * 60


def sign_in_operator(request: HttpRequest, operator: Operator, *, how: str, to: str = "") -> HttpResponse:
    """Begin a session by a first step `how` (`password` or `invitation`), or ask for the second one first.

    Leads to `to` where that is an address of this Studio, else to Home.
    """
    from allauth.account.internal.flows.login import record_authentication

    request.session.set_expiry(PENDING_SECONDS)
    record_authentication(request, operator, how)
    response: HttpResponse = perform_login(request, Login(user=operator, redirect_url=to or None))
    return response


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth has no types
    """Sessions begin here, whichever way somebody signs in."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Never: admins invite, and a provider's groups decide."""
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """None: the Studio's pages say what happened."""

    def get_login_stages(self) -> list[str]:
        """What may stand between the first step and the session."""
        return ["allauth.mfa.stages.AuthenticateStage"]

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:  # noqa: ARG002
        """The page for an account that was deactivated meanwhile."""
        return render_refusal(request, _("Your account is deactivated. Ask an admin."))

    def logout(self, request: HttpRequest) -> None:
        """Before the session that follows the provider's answer begins."""
        keep_form_over(request, super().logout)

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Begin the session, with its limits, and write to the audit log how."""
        how = _methods(request, user)
        # With a second step the person has just shown who they are; else it was when the provider asked.
        confirmed_at = getattr(request, _PROVIDER_ASKED_AT, None)
        super().login(request, user)
        request.session.set_expiry(None)
        request.session[HOW] = how
        begin_session(request)
        remember_confirmation(request, at=confirmed_at)
        username = user.get_username()
        address = str(request.META.get("REMOTE_ADDR"))
        sign_ins.record_sign_in(SignInAttempt(username, address, find_device(request, username)), how)


_METHODS: Final = {"socialaccount": "oidc", "webauthn": "passkey"}


def _methods(request: HttpRequest, user: AbstractBaseUser) -> list[str]:
    """The steps of this sign-in, in order, as the audit log names them."""
    records = get_authentication_records(request, user)
    names = [str(one.get("type") or one["method"]) for one in records]
    return list(dict.fromkeys(_METHODS.get(name, name) for name in names))


def render_refusal(request: HttpRequest, reason: str, status: int = 403) -> HttpResponse:
    """The page that says why somebody was not signed in."""
    return render(request, "studio/session/refused.html", {"reason": reason}, status=status)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc] # allauth has no types
    """How authenticator apps and passkeys name this Studio."""

    def encrypt(self, text: str) -> str:
        """A secret as it is stored."""
        return encrypt_secret(text)

    def decrypt(self, encrypted_text: str) -> str:
        """A stored secret. Raises `SecretUnreadable`."""
        return decrypt_secret(encrypted_text)

    def get_totp_issuer(self) -> str:
        """The name that an app shows above its code."""
        return "Capability Studio"

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        """The account's name in an app."""
        return user.get_username()

    def _get_site_name(self) -> str:
        return "Capability Studio"

    def _get_user_identifier(self, user: AbstractBaseUser) -> str:
        return user.get_username()


class IdentityProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc] # allauth has no types
    """Which account somebody gets whom the identity provider has signed in (registry/access/single_sign_on.py)."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:  # noqa: ARG002
        """Accounts are made by `pre_social_login` alone."""
        return False

    def get_requests_session(self) -> Any:
        """What the library asks the provider with."""
        session = super().get_requests_session()
        limit_responses(session)
        return session

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Give the sign-in its account and role. Raises `ImmediateHttpResponse` with the page that says why not."""
        claims = _merged_claims(sociallogin.account.extra_data)
        if claims is None or claims.get("nonce") != sociallogin.state.get("nonce"):
            reason = _("The identity provider's answer belongs to another sign-in. Try again.")
            raise ImmediateHttpResponse(render_refusal(request, reason))
        try:
            operator = single_sign_on.admit(_identity(sociallogin.account, claims))
        except RegistryError as error:
            raise ImmediateHttpResponse(render_refusal(request, f"{error.message}.")) from None
        sociallogin.user = operator
        # Claims are read again at each sign-in: nothing of them is kept.
        if sociallogin.account.pk:
            sociallogin.account.extra_data = {}
            sociallogin.account.save(update_fields=["extra_data"])
        asked_at = claims.get("auth_time")
        setattr(request, _PROVIDER_ASKED_AT, asked_at if isinstance(asked_at, int | float) else time.time())

    def on_authentication_error(self, request: HttpRequest, provider: Any, error: Any = None, **_more: Any) -> None:  # noqa: ARG002
        """Raises `ImmediateHttpResponse` with a page: it was cancelled there, or its answer was not valid."""
        if str(getattr(error, "value", error)) == "cancelled":
            reason = _("Signing in was cancelled at %(name)s.")
        else:
            reason = _("%(name)s could not be reached, or its answer was not valid. Try again.")
        raise ImmediateHttpResponse(render_refusal(request, reason % {"name": settings.OIDC_NAME}, 401))


def _merged_claims(extra_data: dict[str, Any]) -> dict[str, Any] | None:
    """What the ID token and the user info say; None where they are not about the same person (OpenID Connect Core
    5.3.2), or the ID token is missing."""
    token, info = extra_data.get("id_token") or {}, extra_data.get("userinfo") or {}
    if not token.get("sub") or info.get("sub", token["sub"]) != token["sub"]:
        return None
    return {**info, **token}


def _identity(account: Any, claims: dict[str, Any]) -> Identity:
    name = claims.get("name") or f"{claims.get('given_name', '')} {claims.get('family_name', '')}"
    return Identity(
        provider=settings.OIDC_PROVIDER_ID,
        subject=str(account.uid),
        username=str(claims.get("preferred_username") or ""),
        name=str(name),
        email=str(claims.get("email") or ""),
        groups=_groups(claims),
    )


def _groups(claims: dict[str, Any]) -> tuple[str, ...]:
    """The groups of the claim `OIDC_GROUPS_CLAIM`, which is a list or one name. A claim whose own name has dots, as a
    URL has, is found by the whole name."""
    value: Any = claims.get(settings.OIDC_GROUPS_CLAIM)
    if value is None:
        value = claims
        for part in settings.OIDC_GROUPS_CLAIM.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    found = value if isinstance(value, list) else [value]
    return tuple(one for one in found[:_GROUPS_MAX] if isinstance(one, str))
