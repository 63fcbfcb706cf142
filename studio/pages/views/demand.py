"""Unmet requests: what agents asked for and did not get, and what is done about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.errors import RegistryError
from registry.authoring import utterances
from registry.authoring.utterances import UTTERANCE_LISTS
from registry.catalog.facets import find_display_names
from registry.common.errors import Forbidden
from registry.core import chosen_settings, queries
from registry.usage import demand
from registry.usage.demand import DemandKind, MessageGroup
from studio.pages.actions import Undo, run_action
from studio.pages.form_data import get_query_text, get_text
from studio.pages.lists import get_page
from studio.pages.navigation import find_url
from studio.pages.permissions import StudioRequest, actor_of, author_required, operator_required

_ON_A_PAGE: Final = 25


@operator_required("GET")
def demand_list(request: StudioRequest) -> HttpResponse:
    """Ids that agents asked for, or messages that led nowhere; with `dismissed` those that were dismissed."""
    what: DemandKind = "messages" if get_query_text(request, "what", most=10) == "messages" else "ids"
    is_dismissed = get_query_text(request, "dismissed", most=3) == "yes"
    found: Any = demand.list_unknown_ids(dismissed=is_dismissed)
    if what == "messages":
        found = demand.group_messages(demand.list_messages(dismissed=is_dismissed))
    page = get_page(request, found, _ON_A_PAGE)
    context = {
        "what": what,
        "is_dismissed": is_dismissed,
        "page_obj": page,
        "query": urlencode({"what": what} | ({"dismissed": "yes"} if is_dismissed else {})),
        "ids": demand.describe_row(page.object_list) if what == "ids" else [],
        "said": _with_nearest(list(page.object_list)) if what == "messages" else [],
        "days": chosen_settings.get_setting("KEEP_UNMATCHED_DAYS"),
        "returns_after": demand.RETURNS_AFTER,
        "has_capabilities": what == "messages" and queries.any_published(),
        "id_count": demand.list_unknown_ids().count(),
        "message_count": demand.list_messages().count(),
    }
    return render(request, "studio/demand/list.html", context)


def _with_nearest(groups: Sequence[MessageGroup]) -> list[tuple[MessageGroup, str]]:
    """Each with the name of what its messages came nearest to."""
    names = find_display_names({one.main.nearest for one in groups if one.main.nearest})
    return [(one, names.get(one.main.nearest, one.main.nearest)) for one in groups]


@author_required(form_on="studio:demand_list")
def demand_dismiss(request: StudioRequest) -> HttpResponse:
    """Dismiss an unmet request."""
    return _done(request, demand.dismiss_row, _("Dismissed. It returns after more requests."), "demand_bring_back")


@author_required(form_on="studio:demand_list")
def demand_undismiss(request: StudioRequest) -> HttpResponse:
    """Show it on the board again."""
    return _done(request, demand.undismiss, _("Restored."), "demand_dismiss")


def _done(request: StudioRequest, verb: Any, words: str, reverse_name: str) -> HttpResponse:
    what: DemandKind = "messages" if request.POST.get("what") == "messages" else "ids"
    chosen = request.POST.getlist("chosen")[:500]
    undo = Undo.by(reverse_name, what=what, chosen=chosen)
    return run_action(request, verb, words, to=_board(what), undo=undo, what=what, chosen=chosen)


def _board(what: DemandKind) -> HttpResponse:
    return redirect(f"{reverse('studio:demand_list')}?{urlencode({'what': what})}")


@author_required(form_on="studio:demand_list")
def utterance_add(request: StudioRequest) -> HttpResponse:
    """Add an utterance to the draft of a capability; return to the page that it came from."""
    wanted = get_text(request, "place", most=20)
    place = next((each for each in UTTERANCE_LISTS if each == wanted), UTTERANCE_LISTS[1])
    capability_id = get_text(request, "capability_id", most=64)
    try:
        saved = utterances.add_utterance(
            capability_id=capability_id,
            sentence=get_text(request, "sentence", most=2000),
            place=place,
            by=actor_of(request),
        )
    except Forbidden:
        raise
    except RegistryError as error:
        messages.error(request, f"{error.message}.")
    else:
        words = _("Added to the draft of %(capability_id)s. Publish it to go live.")
        if saved is None:
            words = _("%(capability_id)s already has this message.")
        messages.success(request, words % {"capability_id": capability_id})
    if request.POST.get("back") == "playground" and (playground := find_url("studio:playground_show")):
        query = get_text(request, "query", most=8000)
        return redirect(f"{playground}?{query}")
    if request.POST.get("back") == "capability" and is_capability_id(capability_id):
        return redirect("studio:capability_show", capability_id)
    return _board("messages")
