"""Asking again who somebody is before a dangerous action: an open browser must not be enough for it.

The form of the action is kept on the page that asks, and is sent with the answer: the action runs at once.
"""

from __future__ import annotations

import time
from functools import wraps
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from registry.access import operators, second_factors
from registry.common.rate_limits import RateLimited
from studio.pages.actions import no_store
from studio.pages.credentials import check_code, check_passkey, is_current_password, too_many, wait_message
from studio.pages.permissions import StudioRequest, View

# Of the session: when the person last showed who they are, in seconds of the epoch.
_CONFIRMED_AT: Final = "identity_confirmed_at"
_PASSWORD, _CODE, _CREDENTIAL = "identity_password", "identity_code", "identity_credential"
_FIELDS: Final = frozenset((_PASSWORD, _CODE, _CREDENTIAL, "csrfmiddlewaretoken"))


def remember_confirmation(request: HttpRequest, *, at: float | None = None) -> None:
    """The person has just shown who they are, or at the time `at`."""
    request.session[_CONFIRMED_AT] = time.time() if at is None else at


def is_recently_confirmed(request: HttpRequest) -> bool:
    """Whether that is less than `IDENTITY_CONFIRMED_SECONDS` ago."""
    at: float = request.session.get(_CONFIRMED_AT, 0)
    return 0 <= time.time() - at < settings.IDENTITY_CONFIRMED_SECONDS


def identity_required(view: View) -> View:
    """A view that takes a POST only from somebody who has shown recently who they are; it asks for that otherwise.

    Stands below the decorator that says who may open the page.
    """

    @sensitive_post_parameters(_PASSWORD, _CODE)
    @wraps(view)
    def confirmed(request: StudioRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST" or is_recently_confirmed(request):
            return view(request, *args, **kwargs)
        try:
            fault = _check(request)
        except RateLimited as error:
            return too_many(_ask(request, wait_message(error)), error)
        if fault is not None:
            return _ask(request, fault)
        remember_confirmation(request)
        return view(request, *args, **kwargs)

    return confirmed


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
    context = {
        "fault": fault,
        "carried": carried,
        "has_password": request.user.has_usable_password(),
        "has_code": factors.has_app or bool(factors.codes_left),
        "has_passkey": bool(factors.passkeys),
        "provider": _provider_address(request) if operators.uses_single_sign_on(request.user) else "",
        "provider_name": settings.OIDC_NAME,
    }
    return no_store(render(request, "studio/session/confirm_identity.html", context, status=403))


def _provider_address(request: StudioRequest) -> str:
    """Where the identity provider asks again; afterwards the browser is back at the page of the form."""
    if not settings.OIDC_ISSUER:
        return ""
    back = request.path if request.resolver_match else "/"
    return f"{reverse('openid_connect_login')}?{urlencode({'next': back, 'again': '1'})}"
