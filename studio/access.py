"""Who may open a page: signed in, with a role that has the right, and past the first password."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from registry.actors import Actor
from registry.models import Operator

View = Callable[..., HttpResponse]


class StudioRequest(HttpRequest):
    """A request behind `operator_required`; `htmx` is set by django-htmx."""

    user: Operator
    htmx: Any


def actor_of(request: StudioRequest) -> Actor:
    """The operator as the actor of a write."""
    return Actor("operator", request.user.get_username())


def _guarded(view: View, may: Callable[[Operator], bool], right: str) -> View:
    @wraps(view)
    def guarded(request: StudioRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        if request.user.must_change_password and request.resolver_match.view_name != "studio:password":
            return redirect("studio:password")
        if not may(request.user):
            raise PermissionDenied(f"Your role, {request.user.role}, may not {right}.")
        return view(request, *args, **kwargs)

    return guarded


def _to_sign_in(request: StudioRequest) -> HttpResponse:
    if not request.htmx:
        return redirect_to_login(request.get_full_path())
    # A fragment must not be replaced by a sign-in page: the browser goes there as a whole and comes back.
    response = HttpResponse(status=401)
    response["HX-Redirect"] = redirect_to_login(request.htmx.current_url_abs_path or "/")["Location"]
    return response


def operator_required(view: View) -> View:
    """Any role may read."""
    return _guarded(view, lambda _: True, "open this page")


def author_required(view: View) -> View:
    """Authors, publishers and admins save drafts."""
    return _guarded(view, lambda operator: operator.can_edit, "change drafts")


def publisher_required(view: View) -> View:
    """Publishers and admins change what agents see."""
    return _guarded(view, lambda operator: operator.can_publish, "publish")


def admin_required(view: View) -> View:
    """Admins manage keys."""
    return _guarded(view, lambda operator: operator.can_administer, "manage keys")
