"""Who may open a page: signed in, with a role that has the right, and past the first password."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from registry.access import second_factors, teams
from registry.common import errors, log_context
from registry.common.actors import Actor
from registry.models import Operator
from studio.middleware.session_limits import HOW
from studio.middleware.typed_fields import fields_to_resubmit, typed_fields
from studio.pages.reauthentication import SECRET_FIELDS, ask_identity

View = Callable[..., HttpResponse]
Method = Literal["GET", "POST"]
_METHODS: Final[dict[Method, tuple[str, ...]]] = {"GET": ("GET", "HEAD"), "POST": ("POST",)}
# What the address of a page names is not there.
_NOT_FOUND: Final = (
    *(errors.CapabilityNotFound, errors.DraftNotFound, errors.ProposalNotFound, errors.RevisionNotFound),
    errors.NotFound,
)
_ROLE_PLURALS: Final = {
    "viewer": gettext_lazy("Viewers"),
    "author": gettext_lazy("Authors"),
    "publisher": gettext_lazy("Publishers"),
    "admin": gettext_lazy("Admins"),
}


class StudioRequest(HttpRequest):
    """A request behind `operator_required`; `htmx` is set by django-htmx, `form_on` names the page of a form."""

    user: Operator
    htmx: Any
    form_on: str


def actor_of(request: StudioRequest) -> Actor:
    """The operator as the actor of a write."""
    return Actor("operator", request.user.get_username())


def _guarded(view: View, may: Callable[[Operator], bool], right: str | Promise) -> View:
    @wraps(view)
    def guarded(request: StudioRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not is_signed_in(request):
            return _to_sign_in(request)
        log_context.add_context(operator=request.user.get_username())
        if request.user.must_change_password and _view_name(request) != "studio:password":
            return _redirect(request, redirect("studio:password")["Location"])
        if _view_name(request) not in _SETTING_UP and needs_second_factor(request):
            return _redirect(request, redirect("studio:security_show")["Location"])
        if "capability_id" in kwargs:
            restrict_to_read_only(request, kwargs["capability_id"])
        if not may(request.user):
            raise PermissionDenied(denial_reason(request, right, kwargs.get("capability_id", "")))
        try:
            asked = _ask_identity(request, kwargs) if request.method == "POST" else None
            response = asked or view(request, *args, **kwargs)
        except errors.Forbidden as error:
            # The right went while the page was open, and the verb saw it.
            raise PermissionDenied(f"{error.message}.") from None
        except _NOT_FOUND as error:
            raise Http404(error.message) from None
        # One person's pages: no proxy keeps them, and the browser asks again.
        patch_cache_control(response, private=True, no_cache=True)
        return response

    return guarded


def _ask_identity(request: StudioRequest, arguments: Mapping[str, Any]) -> HttpResponse | None:
    if not hasattr(request, "sensitive_post_parameters"):
        # As Django's decorator says it, which a view may have besides.
        request.sensitive_post_parameters = SECRET_FIELDS  # type: ignore[attr-defined]
    return ask_identity(request, arguments)


# What leads to a second factor stays open without one.
_SETTING_UP: Final = frozenset({"studio:security_show", "studio:app_enable", "studio:passkey_add", "studio:password"})


def needs_second_factor(request: HttpRequest) -> bool:
    """Whether the role of the person requires a second factor and the account has none. An identity provider has asked
    for its own; one query where a role requires it."""
    user = request.user
    return (
        isinstance(user, Operator)
        and user.role in settings.SECOND_FACTOR_ROLES
        and "oidc" not in request.session.get(HOW, ())
        and not second_factors.has_second_factor(user)
    )


def restrict_to_read_only(request: StudioRequest, capability_id: str) -> None:
    """Take the rights to change things from the person for this request, where the capability belongs to a team that
    they are not in: what a page offers and what it refuses follow from that."""
    if not request.user.can_administer:
        request.user.blocked_by_team = teams.blocking_team(request.user.get_username(), capability_id)


def denial_reason(request: StudioRequest, right: str | Promise, capability_id: str) -> str:
    """Why an operator may not do something: the team that the capability belongs to, or the role. Without `right` it is
    something that only admins do."""
    if request.user.blocked_by_team:
        return f"{teams.blocked_message(capability_id, request.user.blocked_by_team)}."
    if not right:
        return _("Only admins can open this page.")
    return _("%(roles)s can't %(right)s.") % {"roles": _ROLE_PLURALS[request.user.role], "right": right}


def is_signed_in(request: HttpRequest) -> bool:
    """Whether somebody is signed in now; a view may have signed them in or out."""
    return request.user.is_authenticated


def _view_name(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _to_sign_in(request: StudioRequest) -> HttpResponse:
    if request.method in ("GET", "HEAD"):
        back_to = request.htmx.current_url_abs_path if request.htmx else request.get_full_path()
        return _redirect(request, redirect_to_login(back_to or "/")["Location"])
    # The address of a form is not a page to come back to: the page that had the form is.
    sign_in = redirect_to_login(_page_before(request))["Location"]
    texts = typed_fields(request.POST)
    if request.htmx or not texts:
        return _redirect(request, sign_in)
    context = {"sign_in": sign_in, "written": texts, "fields": fields_to_resubmit(request.POST)}
    return render(request, "studio/session/expired.html", context, status=401)


def _redirect(request: StudioRequest, address: str) -> HttpResponse:
    """Lead to another page, but never from under a text that somebody is writing: studio.js says it in words then."""
    if not request.htmx:
        return redirect(address)
    response = HttpResponse(status=401)
    if request.method == "GET":
        # A fragment must not be replaced by a sign-in page: the browser goes there as a whole and comes back.
        response["HX-Redirect"] = address
    return response


def is_own_address(request: HttpRequest, address: str) -> bool:
    """Whether an address leads to this Studio, so that a browser may be sent there."""
    return url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())


def _page_before(request: HttpRequest) -> str:
    before = request.headers.get("Referer", "")
    if not is_own_address(request, before):
        return "/"
    parts = urlsplit(before)
    return parts._replace(scheme="", netloc="").geturl() or "/"


def _required(
    may: Callable[[Operator], bool], right: str | Promise, methods: Sequence[Method], form_on: str
) -> Callable[[View], View]:
    """A decorator of views that are for those who `may`, by these methods.

    `form_on` is the page that has the form of a view that accepts a POST only: a GET, after a sign-in or from the
    browser's history, redirects there. Both URLs have the same arguments.
    """

    def decorate(view: View) -> View:
        @require_http_methods([name for method in methods or _METHODS for name in _METHODS[method]])
        @wraps(view)
        def accepted(request: StudioRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            request.form_on = form_on
            is_elsewhere = bool(form_on) and request.method != "POST"
            return redirect(form_on, *args, **kwargs) if is_elsewhere else view(request, *args, **kwargs)

        return _guarded(accepted, may, right)

    return decorate


def operator_required(*methods: Method, form_on: str = "") -> Callable[[View], View]:
    """A view for signed-in operators of any role."""
    return _required(lambda _: True, gettext_lazy("open this page"), methods, form_on)


def author_required(*methods: Method, form_on: str = "") -> Callable[[View], View]:
    """Authors, publishers and admins save drafts."""
    return _required(lambda operator: operator.can_edit, gettext_lazy("edit drafts"), methods, form_on)


def publisher_required(*methods: Method, form_on: str = "") -> Callable[[View], View]:
    """Publishers and admins change what agents see."""
    return _required(lambda operator: operator.can_publish, gettext_lazy("publish"), methods, form_on)


def admin_required(*methods: Method, form_on: str = "") -> Callable[[View], View]:
    """Admins run the registry: members, keys, webhooks, the audit log, rules."""
    return _required(lambda operator: operator.can_administer, "", methods, form_on)
