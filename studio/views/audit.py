"""Who did what."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from registry.browsing import audit_log
from registry.browsing.audit_log import Wanted
from registry.errors import InvalidRequest
from studio.access import StudioRequest, admin_required
from studio.exports import csv_file, json_lines_file
from studio.time_zones import day_start, find_zone, zone_name
from studio.views.given import text_in

PAGE_SIZE: Final = 50
COLUMNS: Final = ("id", "at", "actor", "verb", "subject", "detail", "hash")


def _given(request: StudioRequest) -> dict[str, str]:
    lengths = {"who": 200, "verb": 40, "subject": 200, "from": 10, "to": 10}
    return {name: text_in(request, name, most=most) for name, most in lengths.items()}


def _zone_of_days(request: StudioRequest, given: dict[str, str]) -> tzinfo | None:
    """The zone in which the days of the filter are counted; None where it names no day.

    An address without the name of a zone was written when days were those of UTC.
    """
    if not (given["from"] or given["to"]):
        return None
    return find_zone(text_in(request, "from_zone", most=64)) or UTC


def _wanted(given: dict[str, str], zone: tzinfo | None) -> Wanted:
    since, until = _day(given["from"], zone), _day(given["to"], zone, after=1)
    return Wanted(
        who=given["who"],
        verb=given["verb"],
        subject=given["subject"],
        since=since,
        until=until,
    )


def _day(text: str, zone: tzinfo | None, *, after: int = 0) -> datetime | None:
    """When a day, or the one so many days after it, begins in the zone; anything else is left out."""
    try:
        return day_start(date.fromisoformat(text) + timedelta(days=after), zone or UTC)
    except (ValueError, OverflowError, InvalidRequest):
        return None


@admin_required
@require_safe
def audit_list(request: StudioRequest) -> HttpResponse:
    """The log with filters, the newest first, and whether its chain holds."""
    given = _given(request)
    zone = _zone_of_days(request, given)
    page = Paginator(audit_log.events(_wanted(given, zone)), PAGE_SIZE).get_page(request.GET.get("page"))
    verbs = audit_log.verbs()
    context: dict[str, Any] = {
        "page": page,
        "given": given,
        "from": given["from"],
        "query": urlencode(
            {name: value for name, value in given.items() if value} | ({"from_zone": zone_name(zone)} if zone else {})
        ),
        "verbs": verbs,
        "nouns": sorted({verb.partition(".")[0] for verb in verbs}),
        "chain": audit_log.chain(checked="check" in request.GET),
    }
    # Days are counted in the zone that the address names, and so is every time of the page: it has one clock.
    with timezone.override(zone or timezone.get_current_timezone()):
        return render(request, "studio/audit/list.html", context)


@admin_required
@require_safe
def audit_export(request: StudioRequest) -> HttpResponse:
    """What the filters leave, as CSV or as lines of JSON."""
    given = _given(request)
    rows = audit_log.as_documents(audit_log.events(_wanted(given, _zone_of_days(request, given))))
    if request.GET.get("format") == "jsonl":
        return json_lines_file("audit-log.jsonl", rows)
    cells = ([_cell(row[column]) for column in COLUMNS] for row in rows)
    return csv_file("audit-log.csv", COLUMNS, cells)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
