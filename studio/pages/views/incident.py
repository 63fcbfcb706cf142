"""Bundles that agents could not be given, tools that fail, sources that cannot be read, and mirrors left behind."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.core import queries
from registry.models import Incident
from studio.pages.lists import FilterBar, FilterField, TableColumn, build_column, get_page, parse_sort
from studio.pages.permissions import StudioRequest, operator_required

_SORTS: Final = ("name", "count", "first", "last")
_FILTERS: Final = (
    FilterField("q", gettext_lazy("Search by name, ID or cause")),
    FilterField(
        "kind",
        gettext_lazy("Kind"),
        (
            ("", gettext_lazy("Any kind")),
            (Incident.Kind.BUNDLE.value, gettext_lazy("Failing capability")),
            (Incident.Kind.RELEASE.value, gettext_lazy("Failed release")),
            (Incident.Kind.SOURCE.value, gettext_lazy("Failing source")),
            (Incident.Kind.MIRROR.value, gettext_lazy("Failing mirror")),
            (Incident.Kind.TOOL.value, gettext_lazy("Tool that fails")),
            (Incident.Kind.USE.value, gettext_lazy("Fails in use")),
        ),
    ),
    FilterField("state", gettext_lazy("Status"), (("", gettext_lazy("Open")), ("closed", gettext_lazy("Closed")))),
)


@operator_required("GET")
def incident_list(request: StudioRequest) -> HttpResponse:
    """Open incidents with cause and place, or closed ones."""
    filters = FilterBar(request.GET, *_FILTERS)
    sorted_by = parse_sort(request.GET, _SORTS, "")
    found = queries.list_incidents(
        is_open=filters.get("state") != "closed", kind=filters.get("kind"), search=filters.get("q"), sort=sorted_by
    )
    columns = [
        build_column(_("Capability, source or mirror"), key="name", sorted_by=sorted_by, query=request.GET),
        TableColumn(_("Cause")),
        build_column(_("Occurrences"), key="count", sorted_by=sorted_by, query=request.GET, is_number=True),
        build_column(_("First seen"), key="first", sorted_by=sorted_by, query=request.GET, is_latest_first=True),
        build_column(_("Last seen"), key="last", sorted_by=sorted_by or "-last", query=request.GET),
    ]
    page = get_page(request, found)
    context = {"page": page, "filters": filters, "query": filters.query, "columns": columns}
    return render(request, "studio/incident/list.html", context)
