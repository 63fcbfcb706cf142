"""How capabilities fare with those who use them."""

from __future__ import annotations

from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from registry.usage.lifecycle import SORTS, TREND_DAYS, Fared, FaredList, lifecycle
from studio.access import StudioRequest, operator_required
from studio.confidence_chart import confidence_line
from studio.views.capability import get_capability_or_404
from studio.views.given import one_of, text_in

PAGE_SIZE: Final = 50
KINDS: Final = ("playbook", "other")


class _Rows:
    """What a Paginator needs, without reading more than a page."""

    ordered = True

    def __init__(self, found: FaredList) -> None:
        self.found = found

    def count(self) -> int:
        return len(self.found)

    def __getitem__(self, window: slice) -> list[Fared]:
        start = window.start or 0
        return self.found.rows(offset=start, limit=window.stop - start)


@operator_required
@require_safe
def feedback_list(request: StudioRequest) -> HttpResponse:
    """Playbooks, and whatever else agents told of, the least trusted first."""
    kind, sort = one_of(request, "kind", KINDS), one_of(request, "sort", SORTS)
    found = FaredList(kind=kind, sort=sort)
    page: Page[Any] = Paginator(_Rows(found), PAGE_SIZE).get_page(request.GET.get("page"))  # type: ignore[arg-type]
    context = {"page": page, "kind": kind, "sort": sort, "query": f"kind={kind}&sort={sort}", "days": TREND_DAYS}
    return render(request, "studio/feedback/list.html", context)


@operator_required
@require_safe
def feedback_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """One capability: its confidence over time, and each revision beside the others."""
    capability = get_capability_or_404(capability_id)
    text = text_in(request, "revision", most=9)
    revision = int(text) if text.isdecimal() and text.isascii() else None
    found = lifecycle(capability, revision=revision)
    line = confidence_line(found.points) if found.points else None
    context = {
        "capability": capability,
        "found": found,
        "revision": revision,
        "line": line,
        "steps": list(reversed(line.steps))[:PAGE_SIZE] if line else [],
    }
    return render(request, "studio/feedback/show.html", context)
