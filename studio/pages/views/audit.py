"""The audit log: who did what."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from capability_rules.errors import InvalidRequest
from registry.selectors import audit_log
from registry.selectors.audit_log import AuditFilter
from studio.middleware.time_zones import day_start, find_zone, zone_name
from studio.pages.downloads import csv_response, json_lines_response
from studio.pages.form_data import get_query_text
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, admin_required

EVERYONE: Final = "all"
COLUMNS: Final = ("id", "at", "actor", "verb", "subject", "detail", "hash")


def _filters(request: StudioRequest) -> dict[str, str]:
    lengths = {"by": 10, "who": 200, "verb": 40, "subject": 200, "from": 10, "to": 10}
    return {name: get_query_text(request, name, most=most) for name, most in lengths.items()}


def _zone_of_days(request: StudioRequest, given: dict[str, str]) -> tzinfo | None:
    """The zone in which the days of the filter are counted; None where it names no day.

    An address without the name of a zone was written when days were those of UTC.
    """
    if not (given["from"] or given["to"]):
        return None
    return find_zone(get_query_text(request, "from_zone", most=64)) or UTC


def _wanted(given: dict[str, str], zone: tzinfo | None) -> AuditFilter:
    since, until = _day(given["from"], zone), _day(given["to"], zone, after=1)
    return AuditFilter(
        by=given["by"], who=given["who"], verb=given["verb"], subject=given["subject"], since=since, until=until
    )


def _people_first(given: dict[str, str]) -> dict[str, str]:
    """The filters of the page: people alone unless the address asks for others, or for something in particular.

    The feedback of agents is hundreds of rows a day, and would hide what people did.
    """
    is_particular = given["who"] or given["verb"] or given["subject"]
    return given | {"by": given["by"] or (EVERYONE if is_particular else "people")}


def _day(text: str, zone: tzinfo | None, *, after: int = 0) -> datetime | None:
    """When a day, or the one so many days after it, begins in the zone; anything else is left out."""
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=after), zone or UTC)
    except (ValueError, OverflowError, InvalidRequest):
        return None


@admin_required("GET")
def audit_list(request: StudioRequest) -> HttpResponse:
    """The log with filters, the newest first, and whether its chain holds."""
    given = _people_first(_filters(request))
    zone = _zone_of_days(request, given)
    page = get_page(request, audit_log.list_events(_wanted(given, zone)))
    verbs = audit_log.list_verbs()
    context: dict[str, Any] = {
        "page": page,
        "given": given,
        "from": given["from"],
        "query": urlencode(
            {name: value for name, value in given.items() if value} | ({"from_zone": zone_name(zone)} if zone else {})
        ),
        "is_filtered": any(given[name] for name in given if name != "by"),
        "is_people_only": given["by"] == "people",
        "kinds": [
            ("people", _("People")),
            ("keys", _("API keys")),
            ("system", _("System")),
            (EVERYONE, _("Everyone")),
        ],
        "verbs": verbs,
        "nouns": sorted({verb.partition(".")[0] for verb in verbs}),
        "chain": audit_log.verify_chain(checked="check" in request.GET),
    }
    # Days are counted in the zone that the address names, and so is every time of the page: it has one clock.
    with timezone.override(zone or timezone.get_current_timezone()):
        return render(request, "studio/audit/list.html", context)


@admin_required("GET")
def audit_export(request: StudioRequest) -> HttpResponse:
    """What the filters leave, as CSV or as lines of JSON."""
    given = _filters(request)
    rows = audit_log.export_events(audit_log.list_events(_wanted(given, _zone_of_days(request, given))))
    if request.GET.get("format") == "jsonl":
        return json_lines_response("audit-log.jsonl", rows)
    cells = ([_cell(row[column]) for column in COLUMNS] for row in rows)
    return csv_response("audit-log.csv", COLUMNS, cells)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
