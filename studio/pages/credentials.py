"""What shows who somebody is: a password, a code, a passkey, and a browser in which they have signed in before.

Each is checked only as often as `registry.access.sign_ins` allows. Passkeys are django-allauth's.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, Final

from allauth.mfa.models import Authenticator
from django import forms
from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import ngettext

from capability_kit.json_text import parse_json
from registry.access import second_factors, sign_ins
from registry.access.second_factors import CodeKind
from registry.access.sign_ins import SignInAttempt
from registry.common.rate_limits import RateLimited
from registry.models import Operator

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest

_AGE_SECONDS_MAX: Final = 180 * 24 * 3600


def find_device(request: HttpRequest, username: str) -> str:
    """The id of this browser where the account has signed in with it; otherwise empty.

    It grants no right. Wrong passwords from a known browser are counted apart (registry/access/sign_ins.py), so that
    an attacker elsewhere who tries passwords for the account cannot slow its owner down.
    """
    try:
        return _signer(username).unsign(request.COOKIES.get(_cookie_name(), ""), max_age=_AGE_SECONDS_MAX)
    except signing.BadSignature:
        return ""


def remember_device(request: HttpRequest, response: HttpResponseBase, username: str) -> None:
    """Set the cookie that recognizes this browser at the next sign-in of the account."""
    device = find_device(request, username) or secrets.token_urlsafe(16)
    response.set_cookie(
        _cookie_name(),
        _signer(username).sign(device),
        max_age=_AGE_SECONDS_MAX,
        path=reverse("studio:sign_in"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _cookie_name() -> str:
    # The session cookie's name has the port where several Studios may run on one machine.
    # It has a path of its own, which that prefix does not allow.
    return f"{settings.SESSION_COOKIE_NAME.removeprefix('__Host-')}_device"


def _signer(username: str) -> signing.TimestampSigner:
    # The name is part of the salt: the cookie is valid for that account only, and does not contain its name.
    return signing.TimestampSigner(salt=f"known device of {username}")


def build_password_field(
    label: Any, autocomplete: str = "new-password", *, help_text: Any = "", has_focus: bool = False
) -> forms.CharField:
    """A field of a form in which a password is typed."""
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete, "autofocus": has_focus})
    return forms.CharField(label=label, strip=False, widget=widget, help_text=help_text)


def client_address(request: HttpRequest) -> str:
    """The network address of the browser."""
    return str(request.META.get("REMOTE_ADDR"))


def wait_message(error: RateLimited) -> str:
    """When the next attempt is taken, in words."""
    seconds = error.retry_after_seconds
    return ngettext(
        "Too many attempts. Try again in %(seconds)s second.",
        "Too many attempts. Try again in %(seconds)s seconds.",
        seconds,
    ) % {"seconds": seconds}


def too_many(response: HttpResponse, error: RateLimited) -> HttpResponse:
    """The page as a 429 with `Retry-After`."""
    response.status_code = 429
    response["Retry-After"] = str(error.retry_after_seconds)
    return response


def _record(attempt: SignInAttempt, *, is_right: bool) -> None:
    if is_right:
        sign_ins.record_success(attempt)
    else:
        sign_ins.record_failure(attempt)


def is_current_password(request: StudioRequest, password: str) -> bool:
    """Whether it is the password of the signed-in operator.

    Raises `RateLimited`: a stolen session must not be enough to guess the password.
    """
    attempt = SignInAttempt(request.user.get_username(), client_address(request), where="password")
    with sign_ins.counted_attempt(attempt):
        is_right = request.user.check_password(password)
    _record(attempt, is_right=is_right)
    return is_right


def build_external_attempt(request: HttpRequest) -> SignInAttempt:
    """A sign-in by somebody whose name is not known before: by a passkey, or at an identity provider."""
    return SignInAttempt("", client_address(request), where="external")


# What fido2 raises for bytes that are not an answer of a passkey.
_UNREADABLE: Final = (ValidationError, ValueError, TypeError, KeyError, AttributeError)


def _begin_attempt(request: HttpRequest, operator: Operator) -> SignInAttempt:
    name = operator.get_username()
    device = find_device(request, name) if not request.user.is_authenticated else ""
    attempt = SignInAttempt(name, client_address(request), device, where="second_factor")
    sign_ins.begin_attempt(attempt)
    return attempt


def check_code(request: HttpRequest, operator: Operator, code: str) -> CodeKind | None:
    """Which second factor of the account the code is of; None where it is wrong. Raises `RateLimited`."""
    attempt = _begin_attempt(request, operator)
    found = second_factors.use_code(username=operator.get_username(), code=code)
    _record(attempt, is_right=found is not None)
    return found


def check_passkey(request: HttpRequest, operator: Operator, answer: str) -> Authenticator | None:
    """The passkey of the account that has signed this session's challenge; None where none has. Raises
    `RateLimited`."""
    attempt = _begin_attempt(request, operator)
    found = find_signer(operator, answer)
    _record(attempt, is_right=found is not None)
    return found


def find_signer(operator: Operator | None, answer: str) -> Authenticator | None:
    """The passkey that has signed this session's challenge: one of the operator's, or, for None, of the account that
    the answer names. A challenge is good once."""
    from allauth.mfa.webauthn.internal import auth

    credential = _parse_credential(answer)
    try:
        if credential is None:
            return None
        auth.parse_authentication_response(credential)
        signer = operator or auth.extract_user_from_response(credential)
        found: Authenticator = auth.complete_authentication(signer, credential)
    except _UNREADABLE:
        return None
    finally:
        auth.clear_state()
    second_factors.record_passkey_use(found.pk)
    return found


def find_registration(answer: str) -> dict[str, Any] | None:
    """A new passkey's answer to this session's challenge, verified; None where it is not one."""
    from allauth.mfa.webauthn.internal import auth

    credential = _parse_credential(answer)
    try:
        if credential is None:
            return None
        auth.parse_registration_response(credential)
        auth.complete_registration(credential)
    except _UNREADABLE:
        return None
    finally:
        auth.clear_state()
    return credential


def build_options(operator: Operator | None, *, is_new: bool = False) -> dict[str, Any]:
    """What the browser's script hands to the passkeys, with a challenge that this session keeps: of the operator, of
    anybody (None), or for a new one. A passkey asks for its PIN, finger or face each time."""
    from allauth.mfa.webauthn.internal import auth

    options = auth.begin_registration(operator, passwordless=True) if is_new else auth.begin_authentication(operator)
    return json.loads(json.dumps(options, default=dict))  # type: ignore[no-any-return]


def _parse_credential(text: str) -> dict[str, Any] | None:
    """A passkey's answer as the browser's script sends it; None for anything else."""
    if len(text) > second_factors.CREDENTIAL_CHARACTERS_MAX:
        return None
    found = parse_json(text)
    return found if isinstance(found, dict) else None
