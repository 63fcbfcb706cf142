"""The list of capabilities: filters, search, order, the matrix, and what is done to several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capability_rules.errors import RegistryError
from registry.catalog import revalidation
from registry.catalog.facets import LEVELS, PROFILES, SYSTEMS
from registry.core import queries
from registry.publishing import bulk_actions
from registry.selectors.capability_list import (
    ACCESSES,
    FINDINGS,
    NO_GROUP,
    SORTS,
    STATUSES,
    CapabilityFilter,
    CapabilityList,
    compatibility_matrix,
)
from registry.selectors.capability_search import has_every_word
from studio.pages.actions import is_fragment, vary_on_htmx
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first, find_page_before
from studio.pages.downloads import file_response
from studio.pages.form_data import get_note, get_query_text, get_text, get_text_at
from studio.pages.labels import label
from studio.pages.lists import FilterChip, PagedRows, TableColumn, build_column, get_page, remove_from
from studio.pages.permissions import StudioRequest, actor_of, operator_required, publisher_required

TEXT_MAX: Final = 100
# What a parameter of the address may say; None is anything.
_KNOWN: Final[Mapping[str, tuple[str, ...] | None]] = {
    "status": STATUSES,
    "group": None,
    "owner": None,
    "profile": PROFILES,
    "os": SYSTEMS,
    "level": LEVELS,
    "findings": FINDINGS,
    "draft": ("yes",),
    "access": ACCESSES,
    "sort": (*SORTS, *(f"-{one}" for one in SORTS)),
}
# Filters that are never folded away.
_IN_SIGHT: Final = ("status", "owner", "access", "group", "sort")
# What a chip says where the value alone would not tell.
_CHIPS: Final[Mapping[tuple[str, str], Any]] = {
    ("access", "read"): gettext_lazy("Read only"),
    ("access", "write"): gettext_lazy("Has write tools"),
    ("group", NO_GROUP): gettext_lazy("No group"),
    ("draft", "yes"): gettext_lazy("Unpublished changes"),
    ("findings", "incident"): gettext_lazy("Open incident"),
    ("findings", "draft"): gettext_lazy("Draft with errors"),
    ("findings", "none"): gettext_lazy("No issues"),
}


def parse_filter(given: QueryDict) -> CapabilityFilter:
    """Parse the filter from the query string; invalid values are ignored."""
    values = {name: get_text_at(given, name, most=TEXT_MAX) for name in _KNOWN}
    values = {name: value for name, value in values.items() if value in (_KNOWN[name] or (value,))}
    return CapabilityFilter(text=get_text_at(given, "q", most=TEXT_MAX), **values)


@operator_required("GET")
def capability_list(request: StudioRequest) -> HttpResponse:
    """All capabilities with filters, search and order."""
    wanted = parse_filter(request.GET)
    found = CapabilityList(wanted)
    page = get_page(request, PagedRows(found))
    template = "studio/capability/list.html" + ("#rows" if is_fragment(request) else "")
    chosen = {"q": wanted.text} | {name: value for name, value in asdict(wanted).items() if name != "text"}
    # What a link to another page must carry along.
    query = urlencode({name: value for name, value in chosen.items() if value})
    context = {
        "page": page,
        "wanted": wanted,
        "query": query,
        "is_filtered": any(value for name, value in chosen.items() if name != "sort"),
        "is_approximate": bool(wanted.text)
        and page.number == 1
        and not any(has_every_word(wanted.text, one.row.capability_id, one.facets) for one in page.object_list),
        "chips": [
            FilterChip(_CHIPS.get((name, value), label(value)), f"?{remove_from(request.GET, name)}")
            for name, value in chosen.items()
            if value and name not in ("q", "sort")
        ],
        "columns": _columns(request, wanted),
    }
    if not is_fragment(request):
        context |= _offered(found)
    return vary_on_htmx(render(request, template, context))


def _columns(request: StudioRequest, wanted: CapabilityFilter) -> list[TableColumn]:
    sort: dict[str, Any] = {"sorted_by": wanted.sort or ("" if wanted.text else "id"), "query": request.GET}
    return [
        build_column(_("Name"), key="name", **sort),
        build_column(_("Status"), key="status", **sort),
        TableColumn(_("Tools")),
        build_column(_("Owner"), key="owner", **sort),
        build_column(_("Loads (30 days)"), key="loads", is_number=True, **sort),
        build_column(_("Updated"), key="updated", is_latest_first=True, **sort),
    ]


def _offered(found: CapabilityList) -> dict[str, Any]:
    return {
        "choices": found.choices(),
        "statuses": STATUSES,
        "profiles": PROFILES,
        "systems": SYSTEMS,
        "levels": LEVELS,
        "no_group": NO_GROUP,
        # How many filters beside text and status are set: they are folded away where there is none.
        "more": sum(1 for name in _KNOWN if name not in _IN_SIGHT and getattr(found.wanted, name)),
    }


@operator_required("GET")
def capability_matrix(request: StudioRequest) -> HttpResponse:
    """How many published capabilities there are for each os and dependency level."""
    counted = compatibility_matrix()
    rows = [(system, [(level, counted[system, level]) for level in LEVELS]) for system in SYSTEMS]
    return render(request, "studio/capability/matrix.html", {"rows": rows, "levels": LEVELS})


def _chosen(request: StudioRequest) -> list[str]:
    return [one.replace("\0", "").strip()[:TEXT_MAX] for one in request.POST.getlist("chosen")]


@operator_required("GET")
def capability_ids(request: StudioRequest) -> HttpResponse:
    """What can be chosen where an id is asked for: all of them, or with `listed` those that agents can load."""
    ids = queries.published_ids() if get_query_text(request, "listed", most=3) else queries.capability_ids()
    return render(request, "studio/capability/ids.html", {"ids": ids})


@publisher_required("GET", "POST")
@confirmed_first(questions.deprecate_chosen, page="studio:capability_list")
def bulk_deprecate(request: StudioRequest) -> HttpResponse:
    """Deprecate several, with a note and a replacement."""
    try:
        told = bulk_actions.deprecate_capabilities(
            capability_ids=_chosen(request),
            by=actor_of(request),
            replaced_by=get_text(request, "replaced_by", most=64) or None,
            note=get_note(request),
        )
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        _tell(request, told)
    return _back(request)


def _back(request: StudioRequest) -> HttpResponse:
    """To the list as it was filtered."""
    return redirect(find_page_before(request) or "studio:capability_list")


def _tell(request: StudioRequest, told: bulk_actions.BulkResult) -> None:
    if told.done:
        done = len(told.done)
        messages.success(
            request, ngettext("%(n)s capability deprecated.", "%(n)s capabilities deprecated.", done) % {"n": done}
        )
    for capability_id, why in told.refused:
        messages.error(request, f"{capability_id}: {why}")


@publisher_required(form_on="studio:capability_list")
def bulk_revalidate(request: StudioRequest) -> HttpResponse:
    """Hold what is published of these against today's rules, in jobs."""
    chosen = _chosen(request)
    if not chosen:
        messages.error(request, _("Select at least one capability"))
        return _back(request)
    queued = revalidation.queue_some(capability_ids=chosen, by=actor_of(request))
    words = _("Checks queued: %(n)s new, %(waiting)s waiting. What fails is listed under Incidents.")
    messages.success(request, words % {"n": queued.queued, "waiting": queued.already_queued})
    return _back(request)


@operator_required(form_on="studio:capability_list")
def bulk_export(request: StudioRequest) -> HttpResponse:
    """A zip with a folder for each."""
    try:
        content = bulk_actions.export_capabilities(_chosen(request))
    except RegistryError as error:
        messages.error(request, error.message)
        return _back(request)
    return file_response("capabilities.zip", "application/zip", content)
