"""Who did what."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from registry.browsing import audit_log
from registry.browsing.audit_log import Wanted
from studio.access import StudioRequest, admin_required
from studio.exports import csv_file, json_lines_file
from studio.views.given import text_in

PAGE_SIZE: Final = 50
COLUMNS: Final = ("id", "at", "actor", "verb", "subject", "detail", "hash")


def _given(request: StudioRequest) -> dict[str, str]:
    lengths = {"who": 200, "verb": 40, "subject": 200, "from": 10, "to": 10}
    return {name: text_in(request, name, most=most) for name, most in lengths.items()}


def _wanted(given: dict[str, str]) -> Wanted:
    since, until = _day(given["from"]), _day(given["to"])
    return Wanted(
        who=given["who"],
        verb=given["verb"],
        subject=given["subject"],
        since=since,
        until=until + timedelta(days=1) if until else None,
    )


def _day(text: str) -> datetime | None:
    """The beginning of a day (UTC); what is none is left out."""
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if found.year < 9999 else None


@admin_required
@require_safe
def audit_list(request: StudioRequest) -> HttpResponse:
    """The log with filters, the newest first, and whether its chain holds."""
    given = _given(request)
    page = Paginator(audit_log.events(_wanted(given)), PAGE_SIZE).get_page(request.GET.get("page"))
    verbs = audit_log.verbs()
    context: dict[str, Any] = {
        "page": page,
        "given": given,
        "from": given["from"],
        "query": urlencode({name: value for name, value in given.items() if value}),
        "verbs": verbs,
        "nouns": sorted({verb.partition(".")[0] for verb in verbs}),
        "chain": audit_log.chain(checked="check" in request.GET),
    }
    return render(request, "studio/audit/list.html", context)


@admin_required
@require_safe
def audit_export(request: StudioRequest) -> HttpResponse:
    """What the filters leave, as CSV or as lines of JSON."""
    rows = audit_log.as_documents(audit_log.events(_wanted(_given(request))))
    if request.GET.get("format") == "jsonl":
        return json_lines_file("audit-log.jsonl", rows)
    cells = ([_cell(row[column]) for column in COLUMNS] for row in rows)
    return csv_file("audit-log.csv", COLUMNS, cells)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
