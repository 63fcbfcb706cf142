"""The second step of a sign-in, and passkeys in the place of a password."""

from __future__ import annotations

from allauth.account.internal.decorators import login_stage_required
from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.stagekit import get_pending_stage
from allauth.account.models import Login
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from registry.access import second_factors, sign_ins
from registry.common.rate_limits import RateLimited
from registry.models import Operator
from studio.pages import credentials
from studio.pages.permissions import is_own_address, is_signed_in
from studio.pages.reauthentication import is_recently_confirmed
from studio.pages.sign_in_adapters import PENDING_SECONDS, render_refusal


@sensitive_post_parameters()
@login_stage_required(stage=AuthenticateStage.key, redirect_urlname="account_login")  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """Ask for a code or a passkey after the first step; the session begins with the right one."""
    stage = request._login_stage  # type: ignore[attr-defined] # noqa: SLF001 (where allauth's decorator puts it)
    operator: Operator = stage.login.user
    if request.method != "POST":
        return _page(request, operator)
    try:
        used = _check(request, operator)
    except RateLimited as error:
        return credentials.too_many(_page(request, operator, credentials.wait_message(error)), error)
    if not used:
        return _page(request, operator, _("This code or passkey is not correct. Try again."), status=400)
    record_authentication(request, operator, "mfa", type=used)
    response: HttpResponse = stage.exit()
    credentials.remember_device(request, response, operator.get_username())
    return response


def _check(request: HttpRequest, operator: Operator) -> str:
    """The kind of second factor that was shown; empty where it is wrong. Raises `RateLimited`."""
    if request.POST.get("credential"):
        return "webauthn" if credentials.check_passkey(request, operator, request.POST["credential"]) else ""
    return credentials.check_code(request, operator, request.POST.get("code", "")[:40]) or ""


def _page(request: HttpRequest, operator: Operator, fault: str = "", status: int = 200) -> HttpResponse:
    factors = second_factors.list_second_factors(operator)
    context = {"factors": factors, "fault": fault, "has_code": factors.has_app or bool(factors.codes_left)}
    return render(request, "studio/session/second_step.html", context, status=status)


@never_cache
@require_POST
def passkey_options(request: HttpRequest) -> HttpResponse:
    """What the browser asks its passkeys for, as JSON `{"publicKey": ...}`; `purpose` says which ones.

    `add` and `confirm` are for somebody who is signed in, `second_step` for somebody whose first step was right, and
    `sign_in` for anybody.
    """
    purpose = request.POST.get("purpose", "")
    if isinstance(request.user, Operator):
        if purpose == "confirm" or (purpose == "add" and is_recently_confirmed(request)):
            return JsonResponse(credentials.build_options(request.user, is_new=purpose == "add"))
        return JsonResponse({"error": _("Reload the page and try again.")}, status=403)
    stage = get_pending_stage(request)
    if purpose == "second_step" and stage is not None:
        return JsonResponse(credentials.build_options(stage.login.user))
    if purpose != "sign_in":
        return JsonResponse({"error": _("Sign in again.")}, status=403)
    try:
        sign_ins.begin_attempt(credentials.build_external_attempt(request))
    except RateLimited as error:
        return credentials.too_many(JsonResponse({"error": credentials.wait_message(error)}), error)
    request.session.set_expiry(PENDING_SECONDS)
    return JsonResponse(credentials.build_options(None))


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def passkey_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with a passkey alone: it is something one has, and it asks for a PIN, a finger or a face."""
    if request.method != "POST" or request.user.is_authenticated:
        return redirect("studio:sign_in")
    authenticator = credentials.find_signer(None, request.POST.get("credential", ""))
    if authenticator is None:
        return render_refusal(request, _("This passkey was not accepted. Try again, or use your password."), 400)
    sign_ins.record_success(credentials.build_external_attempt(request))
    operator: Operator = authenticator.user
    to = request.POST.get("next", "")
    login = Login(user=operator, redirect_url=to if is_own_address(request, to) else reverse("studio:home"))
    response: HttpResponse = perform_passwordless_login(request, authenticator, login)
    if is_signed_in(request):
        credentials.remember_device(request, response, operator.get_username())
    return response
