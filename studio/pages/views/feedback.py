"""How capabilities fare with those who use them."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from django.shortcuts import render

from registry.core import queries
from registry.usage.revision_health import SORTS, TREND_DAYS, CapabilityHealthList, get_health_report
from registry.usage.usage_report import list_keys_by_revision
from studio.pages.charts import build_confidence_line
from studio.pages.form_data import get_choice, get_int_at
from studio.pages.lists import PagedRows, get_page
from studio.pages.permissions import StudioRequest, operator_required

PAGE_SIZE: Final = 50
KINDS: Final = ("playbook", "other")
KEYS_SHOWN_MAX: Final = 8


@operator_required("GET")
def feedback_list(request: StudioRequest) -> HttpResponse:
    """Playbooks, and other capabilities with feedback, the least trusted first."""
    kind, sort = get_choice(request, "kind", KINDS), get_choice(request, "sort", SORTS)
    found = CapabilityHealthList(kind=kind, sort=sort)
    page = get_page(request, PagedRows(found))
    context = {"page": page, "kind": kind, "sort": sort, "query": f"kind={kind}&sort={sort}", "days": TREND_DAYS}
    return render(request, "studio/feedback/list.html", context)


@operator_required("GET")
def feedback_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """One capability: its confidence over time, and each revision beside the others."""
    capability = queries.get_capability(capability_id)
    revision = get_int_at(request.GET, "revision")
    found = get_health_report(capability, revision=revision)
    line = build_confidence_line(found.points) if found.points else None
    context = {
        "capability": capability,
        "found": found,
        "revision": revision,
        "line": line,
        "steps": list(reversed(line.steps))[:PAGE_SIZE] if line else [],
        "loaded_by": [
            (number, keys[:KEYS_SHOWN_MAX], len(keys) - KEYS_SHOWN_MAX)
            for number, keys in sorted(list_keys_by_revision(capability_id).items(), reverse=True)
        ],
    }
    return render(request, "studio/feedback/show.html", context)
