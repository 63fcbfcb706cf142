"""The page and the file of what agents have loaded."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from registry.core import queries
from registry.usage import usage_report
from registry.usage.usage_report import PERIODS, SORTS, VIEWS, RequestedCapability
from studio.pages.charts import build_bar_chart
from studio.pages.downloads import csv_response
from studio.pages.form_data import get_choice, get_query_text
from studio.pages.lists import TableColumn, build_column, get_page, parse_sort
from studio.pages.permissions import StudioRequest, operator_required

SHOWN_MAX: Final = 20


def _options(request: StudioRequest) -> RequestedCapability:
    """The options from the query string; invalid values are ignored."""
    days = get_choice(request, "days", [str(period) for period in PERIODS])
    return RequestedCapability(
        days=int(days or 30),
        by=get_choice(request, "by", list(VIEWS)) or "capability",
        sort=parse_sort(request.GET, SORTS, "-loads"),
        capability_id=get_query_text(request, "capability", most=64),
        key_name=get_query_text(request, "key", most=80) if "key" in request.GET else None,
    )


def _query(asked: RequestedCapability) -> str:
    given: dict[str, Any] = {"days": asked.days, "by": asked.by, "sort": asked.sort, "capability": asked.capability_id}
    given |= {"key": asked.key_name} if asked.key_name is not None else {}
    return urlencode({name: value for name, value in given.items() if value or name == "key"})


def _columns(request: StudioRequest, asked: RequestedCapability) -> list[TableColumn]:
    by_key = asked.by == "key"
    sort: dict[str, Any] = {"sorted_by": asked.sort, "query": request.GET}
    columns = [
        build_column(_("API key") if by_key else _("Capability"), key="name", **sort),
        build_column(_("Loads"), key="loads", is_number=True, **sort),
        build_column(_("Capabilities") if by_key else _("API keys"), key="others", is_number=True, **sort),
        build_column(_("Last load (UTC)"), key="last", is_latest_first=True, **sort),
    ]
    if asked.by == "revision":
        columns.insert(1, TableColumn(_("Revision")))
    return columns


@operator_required("GET")
def usage_show(request: StudioRequest) -> HttpResponse:
    """Loads over time, and a table by capability, revision or key; what is unused, and who loads what is deprecated."""
    asked = _options(request)
    page = get_page(request, usage_report.list_usage_rows(asked))
    unused, still = usage_report.list_unused(asked), usage_report.list_deprecated_loads(asked)
    shown = {*(row.capability_id for row in page.object_list), *unused[:SHOWN_MAX]}
    shown |= {one.capability_id for one in still[:SHOWN_MAX]}
    context = {
        "asked": asked,
        "columns": _columns(request, asked),
        "names": queries.list_published_names(shown),
        "page": page,
        "query": _query(asked),
        "without": _query(RequestedCapability(days=asked.days, by=asked.by, sort=asked.sort)),
        "periods": PERIODS,
        "views": list(VIEWS),
        "chart": build_bar_chart(usage_report.count_loads_by_day(asked)),
        "unused": unused[:SHOWN_MAX],
        "unused_total": len(unused),
        "still": still[:SHOWN_MAX],
        "still_total": len(still),
    }
    return render(request, "studio/usage/show.html", context)


@operator_required("GET")
def usage_export(request: StudioRequest) -> HttpResponse:
    """Return the whole table of loads as CSV."""
    asked = _options(request)
    others = "capabilities" if asked.by == "key" else "keys"
    head = [*VIEWS[asked.by], "loads", others, "last_day"]
    rows = (
        [*(getattr(row, column) for column in VIEWS[asked.by]), row.loads, row.others, row.last_day.isoformat()]
        for row in usage_report.list_usage_rows(asked)
    )
    return csv_response(f"usage-by-{asked.by}.csv", head, rows)
