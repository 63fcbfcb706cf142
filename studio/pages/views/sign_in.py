"""Signing in, signing out, and the password that must be changed first."""

from __future__ import annotations

from typing import Any

from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from capability_rules.errors import InvalidRequest
from registry.access import operators, sign_ins
from registry.access.sign_ins import SignInAttempt
from registry.common.rate_limits import RateLimited
from studio.pages import credentials
from studio.pages.credentials import build_password_field
from studio.pages.permissions import StudioRequest, actor_of, operator_required
from studio.pages.reauthentication import remember_confirmation
from studio.pages.sign_in_adapters import sign_in_operator

sign_out = LogoutView.as_view()


class SignInForm(AuthenticationForm):
    """Name and password, checked only as often as `registry.access.sign_ins` allows."""

    attempt: SignInAttempt

    def clean(self) -> dict[str, Any]:
        """Raises `RateLimited` without checking the password."""
        username = self.cleaned_data.get("username")
        if self.request is None or username is None or not self.cleaned_data.get("password"):
            return super().clean()
        address, device = credentials.client_address(self.request), credentials.find_device(self.request, username)
        self.attempt = SignInAttempt(username, address, device)
        try:
            with sign_ins.counted_attempt(self.attempt):
                self._refuse_deactivated(username)
                return super().clean()
        except ValidationError:
            sign_ins.record_failure(self.attempt)
            raise

    def _refuse_deactivated(self, username: str) -> None:
        """Raises `ValidationError`; only the right password shows that the account is deactivated."""
        operator = operators.find_deactivated(username)
        if operator is None:
            return
        if operator.check_password(self.cleaned_data["password"]):
            raise ValidationError(_("Your account is deactivated. Ask an admin."), code="inactive")
        raise self.get_invalid_login_error()


class _SignIn(LoginView):
    template_name = "studio/session/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        if isinstance(form, SignInForm):
            sign_ins.record_success(form.attempt)
        operator = form.get_user()
        response = sign_in_operator(self.request, operator, how="password", to=self.get_success_url())
        if self.request.user.is_authenticated:
            credentials.remember_device(self.request, response, operator.get_username())
        return response

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**more) | _other_ways()


_sign_in = _SignIn.as_view()


def _other_ways() -> dict[str, str]:
    """What the page offers beside the password."""
    return {"provider_name": settings.OIDC_NAME if settings.OIDC_ISSUER else ""}


@sensitive_post_parameters()
@never_cache
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Sign in. After too many wrong passwords of an account or a network the next attempt is refused for a while."""
    try:
        return _sign_in(request)
    except RateLimited as error:
        typed = {"username": request.POST.get("username", "")[:150]}
        form = AuthenticationForm(request, initial=typed)
        context = {"form": form, "next": request.POST.get("next", ""), "too_many": credentials.wait_message(error)}
        context |= _other_ways()
        return credentials.too_many(render(request, "studio/session/sign_in.html", context), error)


class PasswordForm(forms.Form):
    """The old password, and the new one twice."""

    current = build_password_field(gettext_lazy("Current password"), "current-password", has_focus=True)
    new = build_password_field(
        gettext_lazy("New password"), help_text=gettext_lazy("At least 12 characters, unlike your username.")
    )
    again = build_password_field(gettext_lazy("Confirm new password"))


@sensitive_post_parameters()
@operator_required("GET", "POST")
def password(request: StudioRequest) -> HttpResponse:
    """Show the form for a new password of one's own, and change it on POST."""
    form = PasswordForm(request.POST or None)
    try:
        if request.method == "POST" and form.is_valid() and _change(request, form):
            messages.success(request, _("Password updated."))
            return redirect("studio:home")
    except RateLimited as error:
        form.add_error("current", credentials.wait_message(error))
        return credentials.too_many(render(request, "studio/session/password.html", {"form": form}), error)
    return render(request, "studio/session/password.html", {"form": form}, status=400 if form.errors else 200)


def _change(request: StudioRequest, form: PasswordForm) -> bool:
    given = form.cleaned_data
    if not credentials.is_current_password(request, given["current"]):
        form.add_error("current", _("Your current password is incorrect."))
    elif given["new"] != given["again"]:
        form.add_error("again", _("Passwords don't match."))
    elif given["new"] == given["current"]:
        form.add_error("new", _("Choose a password you haven't used."))
    if form.errors:
        return False
    try:
        changed = operators.set_password(
            username=request.user.get_username(), password=given["new"], by=actor_of(request)
        )
    except InvalidRequest as error:
        form.add_error("new", error.message)
        return False
    update_session_auth_hash(request, changed)
    # The session has another key now: its row on the page Security is made again.
    UserSession.objects.create_from_request(request)
    remember_confirmation(request)
    return True
