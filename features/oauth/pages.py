"""The page on which a member lets an assistant in, and the connections that there are."""

from __future__ import annotations

from functools import wraps
from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError
from features.oauth import connections
from features.oauth.authorization_request import (
    FIELDS,
    AuthorizationRefused,
    AuthorizationRequest,
    AuthorizationUnusable,
    read_request,
)
from features.oauth.clients import get_host
from features.oauth.confirmations import end_connection_question
from features.oauth.redirect_uris import get_origin, is_on_this_computer, is_redirect_uri
from features.oauth.server_address import find_issuer, find_origin
from registry.common.rate_limits import RateLimited
from studio.pages.actions import no_store, run_action
from studio.pages.confirmations.page import confirmed_first, sent
from studio.pages.credentials import too_many, wait_message
from studio.pages.form_data import get_int
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, View, admin_required, operator_required

# In the order in which they are drawn: what a scope lets an assistant do.
POWERS: Final = {
    "read": gettext_lazy("Find and read the capabilities that are listed, as they are published"),
    "feedback": gettext_lazy("Report how a use went, which changes the confidence in a capability"),
    "propose": gettext_lazy("Hand over texts for review, which a person publishes or declines"),
}


def _lead_on(response: HttpResponse, uri: str) -> HttpResponse:
    """Let the form of a page redirect there: browsers apply `form-action` to where a form is redirected, too."""
    response._csp_update = {"form-action": [get_origin(uri)]}  # type: ignore[attr-defined] # noqa: SLF001
    return response


def _leads_on_from_identity(view: View) -> View:
    """The page that asks who somebody is sends the same form, and is not made here."""

    @wraps(view)
    def with_policy(request: StudioRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response, uri = view(request, *args, **kwargs), sent(request).get("redirect_uri", "")
        return _lead_on(response, uri) if response.status_code == 403 and is_redirect_uri(uri) else response

    return with_policy


@_leads_on_from_identity
@operator_required("GET", "POST")
def connection_allow(request: StudioRequest) -> HttpResponse:
    """Whether a client may act for the member, who says so or does not; then back to the client."""
    if not any(name in sent(request) for name in FIELDS):
        return _show_fault(request, _("Nobody has asked for anything: an assistant leads to this page."), status=200)
    if not find_issuer():
        raise Http404(_("Assistants cannot be connected here: this Studio has no public HTTPS address."))
    try:
        asked = read_request(sent(request), asked_by=request.user.get_username())
    except AuthorizationUnusable as error:
        return _show_fault(request, str(error))
    except AuthorizationRefused as error:
        return _lead_to(error.location)
    except RateLimited as error:
        return too_many(_show_fault(request, wait_message(error)), error)
    if request.method != "POST":
        return _ask(request, asked)
    if request.POST.get("decision") != "allow":
        return _lead_to(asked.get_location(error="access_denied"))
    return _allow(request, asked)


def _allow(request: StudioRequest, asked: AuthorizationRequest) -> HttpResponse:
    chosen = [scope for scope in asked.scopes if scope in request.POST.getlist("allowed")]
    try:
        code = connections.allow_client(
            operator=request.user,
            client=asked.client,
            redirect_uri=asked.redirect_uri,
            code_challenge=asked.code_challenge,
            scopes=chosen,
        )
    except RegistryError as error:
        messages.error(request, error.message)
        return _ask(request, asked, status=400)
    return _lead_to(asked.get_location(code=code))


def _lead_to(location: str) -> HttpResponse:
    """To the client: 303, so that nothing of the form goes along. Django's own redirects know three schemes."""
    return no_store(HttpResponse(status=303, headers={"Location": location}))


def _ask(request: StudioRequest, asked: AuthorizationRequest, *, status: int = 200) -> HttpResponse:
    given = sent(request)
    host, role_scopes = get_host(asked.client, asked.redirect_uri), connections.list_scopes_of_role(request.user)
    context = {
        "host": host,
        "name": asked.client.name,
        "is_on_this_computer": is_on_this_computer(asked.redirect_uri),
        "receiver": get_origin(asked.redirect_uri),
        "powers": [(scope, POWERS[scope]) for scope in asked.scopes if scope in role_scopes],
        "carried": [(name, given[name]) for name in FIELDS if name in given],
        "days": connections.REFRESH_DAYS,
    }
    page = render(request, "studio/connection/allow.html", context, status=status)
    return _lead_on(no_store(page), asked.redirect_uri)


def _show_fault(request: StudioRequest, words: str, *, status: int = 400) -> HttpResponse:
    return no_store(render(request, "studio/connection/fault.html", {"words": words}, status=status))


@admin_required("GET")
def connection_list(request: StudioRequest) -> HttpResponse:
    """Those of all members."""
    context = {"page": get_page(request, connections.list_connections()), "origin": find_origin(), "powers": POWERS}
    return render(request, "studio/connection/list.html", context)


@operator_required("GET", "POST")
@confirmed_first(end_connection_question, page="studio:security_show")
def connection_end(request: StudioRequest) -> HttpResponse:
    """End one of one's own, or of anyone as an admin."""
    key, is_of_list = get_int(request, "key") or 0, request.POST.get("from") == "list"
    to = redirect("studio:connection_list" if is_of_list else "studio:security_show")
    words = _("The connection has ended.")
    return run_action(request, connections.end_connection, words, to=to, key=key, operator=request.user)
