"""Signing in at an identity provider, by OpenID Connect. The protocol is django-allauth's."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from capability_rules.errors import RegistryError
from registry.access import sign_ins
from registry.common.rate_limits import RateLimited
from studio.pages.credentials import build_external_attempt, remember_device, too_many, wait_message
from studio.pages.permissions import is_own_address
from studio.pages.sign_in_adapters import ASKED_AT, PENDING_SECONDS, render_refusal


@never_cache
@require_safe
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead the browser to the provider, with state, nonce and PKCE. `again` asks for a new sign-in in any case."""
    if not settings.OIDC_ISSUER:
        raise Http404
    from allauth.socialaccount.adapter import get_adapter

    is_again = request.GET.get("again") == "1"
    if request.user.is_authenticated and not is_again:
        return redirect("studio:home")
    try:
        sign_ins.begin_attempt(build_external_attempt(request))
    except RateLimited as error:
        return too_many(render_refusal(request, wait_message(error)), error)
    if not request.user.is_authenticated:
        request.session.set_expiry(PENDING_SECONDS)
    provider = get_adapter().get_provider(request, provider_id)
    nonce = secrets.token_urlsafe(24)
    more = {"nonce": nonce} | ({"prompt": "login", "max_age": "0"} if is_again else {})
    state = {"nonce": nonce} | ({ASKED_AT: int(time.time())} if is_again else {})
    return _or_refusal(
        request,
        provider_id,
        lambda: provider.redirect(request, "login", next_url=_next(request), auth_params=more, **state),
    )


def _or_refusal(request: HttpRequest, provider_id: str, respond: Callable[[], HttpResponse]) -> HttpResponse:
    """The response, or the page for a provider that is away or whose answers cannot be used."""
    from allauth.core.exceptions import ImmediateHttpResponse
    from allauth.socialaccount.adapter import get_adapter
    from allauth.socialaccount.providers.oauth2.client import OAuth2Error
    from requests import RequestException

    try:
        return respond()
    except RegistryError as error:
        return render_refusal(request, f"{error.message}.")
    except (RequestException, OAuth2Error) as error:
        try:
            get_adapter().on_authentication_error(request, provider_id, exception=error)
        except ImmediateHttpResponse as refused:
            page: HttpResponse = refused.response
            return page
        raise


@never_cache
@require_safe
def complete(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where the provider sends the browser back to: its answer becomes a session, or a page that says why not."""
    if not settings.OIDC_ISSUER:
        raise Http404
    from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView

    from studio.pages.openid_connect import ProviderAdapter

    callback = OAuth2CallbackView.adapter_view(ProviderAdapter(request, provider_id))
    response = _or_refusal(request, provider_id, lambda: callback(request, provider_id))
    if request.user.is_authenticated:
        sign_ins.record_success(build_external_attempt(request))
        remember_device(request, response, request.user.get_username())
    return response


def _next(request: HttpRequest) -> str | None:
    to = request.GET.get("next", "")
    return to if is_own_address(request, to) else None
