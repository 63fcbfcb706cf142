"""Members: who signs in, with which role, and invitations."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from capability_rules.errors import RegistryError
from registry.access import operators, sign_ins
from registry.access.sign_ins import SignInAttempt
from registry.common.errors import NotFound
from registry.models import Operator
from studio.pages.actions import Undo, no_store, run_action, submit_form
from studio.pages.confirmations import access as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.credentials import build_password_field, find_device, remember_device
from studio.pages.form_data import get_text, get_text_at
from studio.pages.labels import WORDS
from studio.pages.lists import FilterBar, FilterField, TableColumn, build_column, get_page, parse_sort
from studio.pages.permissions import StudioRequest, actor_of, admin_required
from studio.pages.sign_in_adapters import sign_in_operator

ROLE_WORDS: Final = {
    "viewer": gettext_lazy("read only"),
    "author": gettext_lazy("edit drafts"),
    "publisher": gettext_lazy("review and publish"),
    "admin": gettext_lazy("manage everything"),
}
_ROLE_NOUNS: Final = {
    "viewer": gettext_lazy("a viewer"),
    "author": gettext_lazy("an author"),
    "publisher": gettext_lazy("a publisher"),
    "admin": gettext_lazy("an admin"),
}
_SORTS: Final = ("name", "role", "seen")
_FILTERS: Final = (
    FilterField("q", gettext_lazy("Search by name or email")),
    FilterField(
        "role",
        gettext_lazy("Filter by role"),
        (("", gettext_lazy("Any role")), *((role, WORDS[role]) for role in operators.ROLES)),
    ),
    FilterField(
        "state",
        gettext_lazy("Status"),
        (
            ("", gettext_lazy("Any status")),
            ("active", gettext_lazy("Active")),
            ("invited", gettext_lazy("Invited")),
            ("deactivated", gettext_lazy("Deactivated")),
        ),
    ),
)


class DetailsForm(forms.Form):
    """What a member is called, and where e-mail goes."""

    name = forms.CharField(label=gettext_lazy("Display name (optional)"), max_length=150, required=False)
    email = forms.EmailField(
        label=gettext_lazy("Email (optional)"),
        max_length=254,
        required=False,
        help_text=gettext_lazy("For news about reviews and incidents."),
    )


class InviteForm(DetailsForm):
    """A name and a role; the invited person chooses the password."""

    username = forms.CharField(
        label=gettext_lazy("Username"),
        max_length=150,
        help_text=gettext_lazy("To sign in with. Letters, numbers and @ . + - _"),
    )
    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=[(role, format_lazy("{}: {}", WORDS[role], words)) for role, words in ROLE_WORDS.items()],
        widget=forms.Select(attrs={"class": "select"}),
    )
    field_order = ("username", "name", "email", "role")


@admin_required("GET", "POST")
def operator_list(request: StudioRequest) -> HttpResponse:
    """Everybody, and a form for somebody new. The link is shown once, in the answer to the form."""
    form = InviteForm(request.POST if request.method == "POST" else None)
    if done := submit_form(request, form, operators.invite_operator, field="username"):
        return _listed(request, InviteForm(), link=_link(request, *done))
    return _listed(request, form, status=400 if form.errors else 200)


def _listed(
    request: StudioRequest, form: InviteForm, *, link: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    filters = FilterBar(request.GET, *_FILTERS)
    sorted_by = parse_sort(request.GET, _SORTS, "name")
    found = operators.list_operators(
        search=filters.get("q"), role=filters.get("role"), state=filters.get("state"), sort=sorted_by
    )
    context = {
        "page": get_page(request, found),
        "form": form,
        "link": link,
        "roles": operators.ROLES,
        "filters": filters,
        "query": filters.query,
        "columns": [
            build_column(_("Name"), key="name", sorted_by=sorted_by, query=request.GET),
            build_column(_("Role"), key="role", sorted_by=sorted_by, query=request.GET),
            TableColumn(_("Teams")),
            build_column(_("Last signed in"), key="seen", sorted_by=sorted_by, query=request.GET, is_latest_first=True),
        ],
    }
    return no_store(render(request, "studio/operator/list.html", context, status=status))


def _link(request: StudioRequest, operator: Operator, token: str) -> dict[str, str]:
    path = reverse("studio:welcome", args=[operator.pk, token])
    address = f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else request.build_absolute_uri(path)
    return {"username": operator.username, "address": address}


@admin_required("GET", "POST")
@confirmed_first(questions.reset_password, page="studio:operator_list")
def operator_reset(request: StudioRequest) -> HttpResponse:
    """Take somebody's password away and show the link to choose another."""
    try:
        operator, token = operators.reset_password(username=_username(request), by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:operator_list")
    return _listed(request, InviteForm(), link=_link(request, operator, token))


@admin_required("GET", "POST")
def operator_details(request: StudioRequest) -> HttpResponse:
    """Change what a member is called and where e-mail goes."""
    sent = request.POST if request.method == "POST" else request.GET
    try:
        member = operators.get_operator(get_text_at(sent, "username", most=150))
    except NotFound as error:
        messages.error(request, error.message)
        return redirect("studio:operator_list")
    now = {"name": member.get_full_name(), "email": member.email}
    form = DetailsForm(request.POST if request.method == "POST" else None, initial=now)
    if not form.is_valid():
        context = {"member": member, "form": form}
        return render(request, "studio/operator/details.html", context, status=400 if form.errors else 200)
    given, by = form.cleaned_data, actor_of(request)
    if given["name"] != now["name"]:
        operators.set_name(username=member.username, name=given["name"], by=by)
    if given["email"] != now["email"]:
        operators.set_email(username=member.username, email=given["email"], by=by)
    messages.success(request, _("Details of %(name)s saved.") % {"name": member.username})
    return redirect("studio:operator_list")


def _username(request: StudioRequest) -> str:
    return get_text(request, "username", most=150)


def _run(request: StudioRequest, words: str, verb: Any, *, undo: Undo | None = None, **arguments: Any) -> HttpResponse:
    """Do one verb and come back with a sentence on what happened."""
    username = _username(request)
    to = redirect("studio:operator_list")
    return run_action(request, verb, words % {"name": username}, to=to, undo=undo, username=username, **arguments)


@admin_required(form_on="studio:operator_list")
def operator_role(request: StudioRequest) -> HttpResponse:
    """Change the role of a member."""
    role = get_text(request, "role", most=16)
    words = _("%(name)s is now {role}.").format(role=_ROLE_NOUNS.get(role, role))
    before = operators.find_role(_username(request))
    undo = Undo.by("operator_role", username=_username(request), role=before) if before not in ("", role) else None
    return _run(request, words, operators.set_role, undo=undo, role=role)


@admin_required("GET", "POST")
@confirmed_first(questions.deactivate_member, page="studio:operator_list")
def operator_disable(request: StudioRequest) -> HttpResponse:
    """Deactivate a member: all sessions end, and sign-ins are refused."""
    undo = Undo.by("operator_enable", username=_username(request))
    return _run(request, _("%(name)s was deactivated and signed out."), operators.disable_operator, undo=undo)


@admin_required(form_on="studio:operator_list")
def operator_enable(request: StudioRequest) -> HttpResponse:
    """Reactivate a member, with the same password, role and teams."""
    return _run(request, _("%(name)s was reactivated and can sign in."), operators.enable_operator)


class SetPasswordForm(forms.Form):
    """A new password, twice."""

    new = build_password_field(
        gettext_lazy("Password"),
        help_text=gettext_lazy("At least 12 characters, unlike your username."),
        has_focus=True,
    )
    again = build_password_field(gettext_lazy("Confirm password"))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("new") and given.get("again") and given["new"] != given["again"]:
            self.add_error("again", _("Passwords don't match."))
        return given


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest, number: int, token: str) -> HttpResponse:
    """The page behind a link: choose a password, once."""
    try:
        operator = operators.get_invitation(number, token)
    except NotFound as error:
        return _welcomed(request, {"void": error.message}, 404)
    form = SetPasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            operator = operators.accept_invitation(key=number, token=token, password=form.cleaned_data["new"])
        except RegistryError as error:
            form.add_error("new", error.message)
        else:
            return _signed_in(request, operator)
    return _welcomed(request, {"form": form, "operator": operator}, 400 if form.errors else 200)


def _signed_in(request: HttpRequest, operator: Operator) -> HttpResponse:
    """Sign in the operator who has just chosen a password, and go to Home."""
    # Another operator who was signed in here must not stay signed in.
    logout(request)
    name = operator.get_username()
    sign_ins.record_success(SignInAttempt(name, str(request.META.get("REMOTE_ADDR")), find_device(request, name)))
    response = sign_in_operator(request, operator, how="invitation", to=reverse("studio:home"))
    messages.success(request, _("Password set. Welcome!"))
    if not request.user.is_authenticated:
        # The account has a second factor, which a link does not replace.
        return response
    # Reached by a link for this account: an attacker elsewhere must not slow its next sign-in down.
    remember_device(request, response, name)
    return response


def _welcomed(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    # The address is the key to the account until it is used: settings send no other host a referrer.
    return render(request, "studio/operator/welcome.html", context, status=status)
