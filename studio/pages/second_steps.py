"""Checking a second factor, only as often as `registry.access.sign_ins` allows; passkeys are django-allauth's."""

from __future__ import annotations

import json
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from registry.access import second_factors, sign_ins
from registry.access.second_factors import CodeKind
from registry.access.sign_ins import SignInAttempt
from registry.models import Operator
from studio.pages.known_devices import find_device
from studio.pages.passwords import client_address

# What fido2 raises for bytes that are no answer of a passkey.
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
    record = sign_ins.record_success if found else sign_ins.record_failure
    record(attempt)
    return found


def check_passkey(request: HttpRequest, operator: Operator, answer: str) -> Authenticator | None:
    """The passkey of the account that has signed this session's challenge; None where none has. Raises
    `RateLimited`."""
    attempt = _begin_attempt(request, operator)
    found = find_signer(operator, answer)
    record = sign_ins.record_success if found else sign_ins.record_failure
    record(attempt)
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
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
