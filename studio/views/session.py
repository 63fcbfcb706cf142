"""Signing in, signing out, and the password that must be changed first."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from registry import limits
from registry.access import operators
from registry.errors import InvalidRequest
from studio.access import StudioRequest, actor_of, operator_required

_sign_in = LoginView.as_view(template_name="studio/session/sign_in.html", redirect_authenticated_user=True)
sign_out = LogoutView.as_view()


@sensitive_post_parameters()
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Sign in. Wrong passwords are counted by address; once they are too many, a right one is not looked at either."""
    address = str(request.META.get("REMOTE_ADDR"))
    if request.method == "POST" and limits.is_spent("guess", address):
        return _too_many(request)
    response = _sign_in(request)
    if request.method == "POST" and response.status_code == 200:
        # The form again: name or password were wrong.
        limits.spend("guess", address)
    return response


def _too_many(request: HttpRequest) -> HttpResponse:
    words = _("Too many wrong passwords from this address. Wait a minute, then try again.")
    return render(
        request, "studio/session/sign_in.html", {"form": AuthenticationForm(request), "too_many": words}, status=429
    )


def _password_input(autocomplete: str) -> forms.PasswordInput:
    return forms.PasswordInput(attrs={"autocomplete": autocomplete})


class PasswordForm(forms.Form):
    """The old password, and the new one twice."""

    current = forms.CharField(
        label=gettext_lazy("Current password"), strip=False, widget=_password_input("current-password")
    )
    new = forms.CharField(
        label=gettext_lazy("New password"),
        strip=False,
        widget=_password_input("new-password"),
        help_text=gettext_lazy("At least 12 characters."),
    )
    again = forms.CharField(
        label=gettext_lazy("New password again"), strip=False, widget=_password_input("new-password")
    )


@sensitive_post_parameters()
@operator_required
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: StudioRequest) -> HttpResponse:
    """Change one's own password."""
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _change(request, form):
        messages.success(request, _("Your password is changed."))
        return redirect("studio:home")
    return render(request, "studio/session/password.html", {"form": form}, status=400 if form.errors else 200)


def _change(request: StudioRequest, form: PasswordForm) -> bool:
    given = form.cleaned_data
    if not request.user.check_password(given["current"]):
        form.add_error("current", _("This is not your current password."))
    elif given["new"] != given["again"]:
        form.add_error("again", _("The two new passwords differ."))
    elif given["new"] == given["current"]:
        form.add_error("new", _("Choose another password than the current one."))
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
    return True
