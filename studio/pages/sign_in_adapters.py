"""What django-allauth asks of a project: how a session begins, what follows the password, whom a provider signs in."""

from __future__ import annotations

import time
from collections.abc import Mapping
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

from capability_rules.errors import RegistryError
from registry.access import sign_ins, single_sign_on
from registry.access.sign_ins import SignInAttempt
from registry.access.stored_secrets import decrypt_secret, encrypt_secret
from registry.models import Operator
from studio.middleware.session_limits import HOW, begin_session
from studio.pages.credentials import find_device
from studio.pages.provider_claims import read_auth_time, read_identity
from studio.pages.provider_requests import limit_responses
from studio.pages.reauthentication import keep_form_over, remember_confirmation

# Of the request that brings the provider's answer: when it last asked the person who they are, in seconds of the epoch.
_PROVIDER_ASKED_AT: Final = "provider_asked_at"
# In the state of a sign-in that is to confirm who somebody is: when the provider was asked, in seconds of the epoch.
ASKED_AT: Final = "asked_at"
# By how much the provider's clock may differ.
_CLOCK_SECONDS: Final = 60
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
        claims = sociallogin.claims
        reason = _describe_fault(claims, sociallogin.state)
        if reason:
            raise ImmediateHttpResponse(render_refusal(request, reason))
        try:
            sociallogin.user = single_sign_on.admit(read_identity(claims))
        except RegistryError as error:
            raise ImmediateHttpResponse(render_refusal(request, f"{error.message}.")) from None
        asked_at = read_auth_time(claims)
        setattr(request, _PROVIDER_ASKED_AT, time.time() if asked_at is None else asked_at)

    def get_provider(self, request: HttpRequest, provider: Any, client_id: str | None = None) -> Any:
        """The one provider, with the client that checks its answers."""
        from studio.pages.openid_connect import ProviderAdapter

        found = super().get_provider(request, provider, client_id=client_id)
        found.oauth2_adapter_class = ProviderAdapter
        return found

    def on_authentication_error(self, request: HttpRequest, provider: Any, error: Any = None, **_more: Any) -> None:  # noqa: ARG002
        """Raises `ImmediateHttpResponse` with a page: it was cancelled there, or its answer was not valid."""
        if str(getattr(error, "value", error)) == "cancelled":
            reason = _("Signing in was cancelled at %(name)s.")
        else:
            reason = _("%(name)s could not be reached, or its answer was not valid. Try again.")
        raise ImmediateHttpResponse(render_refusal(request, reason % {"name": settings.OIDC_NAME}, 401))


def _describe_fault(claims: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Why claims do not answer what was asked; empty where they are."""
    if not claims.get("nonce") or claims["nonce"] != state.get("nonce"):
        return _("The identity provider's answer belongs to another sign-in. Try again.")
    if ASKED_AT not in state:
        return ""
    confirmed_at = read_auth_time(claims)
    if confirmed_at is None:
        return _(
            "The identity provider does not say when it asked you who you are: its answer has no auth_time. Ask the "
            "people who run it to add that claim, or set up a second factor here and confirm with it."
        )
    if confirmed_at < state[ASKED_AT] - _CLOCK_SECONDS:
        return _("The identity provider did not ask you again who you are. Sign out there, and try again.")
    return ""
