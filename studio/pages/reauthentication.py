"""Asking again who somebody is before a dangerous action: an open browser must not be enough for it.

The form of the action is kept on the page that asks, and is sent with the answer: the action runs at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from registry.access import operators, second_factors
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret
from registry.common.rate_limits import RateLimited
from studio.pages.credentials import check_code, check_passkey, is_current_password, too_many, wait_message
from studio.pages.dangerous_actions import DANGEROUS_ACTIONS

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest

# Of the session: when the person last showed who they are, in seconds of the epoch.
_CONFIRMED_AT: Final = "identity_confirmed_at"
_PASSWORD, _CODE, _CREDENTIAL = "identity_password", "identity_code", "identity_credential"
_FIELDS: Final = frozenset((_PASSWORD, _CODE, _CREDENTIAL, "csrfmiddlewaretoken"))
# What no report of an error may show.
SECRET_FIELDS: Final = (_PASSWORD, _CODE)
# Of the session: the form that waits while its person is at the identity provider, encrypted.
_KEPT_FORM: Final = "kept_form"
_KEPT_CHARACTERS_MAX: Final = 64 * 1024


def remember_confirmation(request: HttpRequest, *, at: float | None = None) -> None:
    """The person has just shown who they are, or at the time `at`."""
    request.session[_CONFIRMED_AT] = time.time() if at is None else at


def is_recently_confirmed(request: HttpRequest) -> bool:
    """Whether that is less than `IDENTITY_CONFIRMED_SECONDS` ago."""
    at: float = request.session.get(_CONFIRMED_AT, 0)
    return 0 <= time.time() - at < settings.IDENTITY_CONFIRMED_SECONDS


def ask_identity(request: StudioRequest, arguments: Mapping[str, Any]) -> HttpResponse | None:
    """The page that asks who the person is; None where the form may be acted on: it is not a dangerous one, or they
    have shown that recently, or with this request. `arguments` are those of the view."""
    action = DANGEROUS_ACTIONS.get(request.resolver_match.url_name or "") if request.resolver_match else None
    if action is None or not action.applies(request, arguments):
        return None
    if not is_recently_confirmed(request):
        try:
            fault = _check(request)
        except RateLimited as error:
            return too_many(_ask(request, wait_message(error)), error)
        if fault is not None:
            return _ask(request, fault)
        remember_confirmation(request)
    if _KEPT_FORM in request.session:
        del request.session[_KEPT_FORM]
    return None


def _check(request: StudioRequest) -> str | None:
    """What is wrong with the answer, empty where none was sent yet; None where it shows who the person is.

    Raises `RateLimited`.
    """
    given = request.POST
    if given.get(_CREDENTIAL):
        is_right = check_passkey(request, request.user, given[_CREDENTIAL])
        return None if is_right else _("This passkey was not accepted. Try again.")
    if given.get(_CODE):
        return None if check_code(request, request.user, given[_CODE]) else _("This code is not correct.")
    if given.get(_PASSWORD):
        is_right = request.user.has_usable_password() and is_current_password(request, given[_PASSWORD])
        return None if is_right else _("Your password is incorrect.")
    return ""


def _ask(request: StudioRequest, fault: str) -> HttpResponse:
    """The page that asks, with the form of the action in hidden fields."""
    carried = [(name, value) for name, values in request.POST.lists() if name not in _FIELDS for value in values]
    factors = second_factors.list_second_factors(request.user)
    uses_provider = bool(settings.OIDC_ISSUER) and operators.uses_single_sign_on(request.user)
    context = {
        "fault": fault,
        "carried": carried,
        "has_password": request.user.has_usable_password(),
        "has_code": factors.has_app or bool(factors.codes_left),
        "has_passkey": bool(factors.passkeys),
        "provider": _keep_form(request, carried) if uses_provider else "",
        "provider_name": settings.OIDC_NAME,
    }
    response = render(request, "studio/session/confirm_identity.html", context, status=403)
    # The form may hold a secret: neither a proxy nor the browser's history keeps it.
    response["Cache-Control"] = "no-store"
    return response


def _keep_form(request: StudioRequest, carried: list[tuple[str, str]]) -> str:
    """Keep the form in the session for the way to the provider and back; the address at which the provider asks again.
    Afterwards the browser is at the kept form, or, where that is too long, at the page that it was sent to."""
    text = json.dumps([request.user.pk, request.get_full_path(), carried])
    is_kept = len(text) <= _KEPT_CHARACTERS_MAX
    if is_kept:
        request.session[_KEPT_FORM] = encrypt_secret(text)
    back = reverse("studio:identity_continue") if is_kept else request.path
    return f"{reverse('openid_connect_login')}?{urlencode({'next': back, 'again': '1'})}"


def find_kept_form(request: HttpRequest) -> tuple[str, QueryDict] | None:
    """Where the kept form is sent, and its fields; None where none of this person waits."""
    try:
        key, address, carried = json.loads(decrypt_secret(request.session.get(_KEPT_FORM, '[0, "", []]')))
    except SecretUnreadable:
        return None
    fields = QueryDict(mutable=True)
    for name, value in carried:
        fields.appendlist(name, value)
    return (address, fields) if key == request.user.pk else None


def keep_form_over(request: HttpRequest, end_session: Callable[[HttpRequest], None]) -> None:
    """End the session, of which the kept form goes on to the next one: it is shown to its person alone."""
    kept = request.session.get(_KEPT_FORM)
    end_session(request)
    if kept is not None:
        request.session[_KEPT_FORM] = kept
