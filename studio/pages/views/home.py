"""Home: what needs a person now, and the tour for new operators."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from registry.selectors import home as sections
from studio.pages import tour
from studio.pages.actions import Undo, report_done
from studio.pages.charts import build_bar_chart
from studio.pages.figures import build_figures
from studio.pages.inbox import build_inbox_row
from studio.pages.navigation import find_url
from studio.pages.permissions import StudioRequest, operator_required

SHOWN_MAX: Final = 8
# More marks than this would hide the bars.
_RELEASE_MARKS_MAX: Final = 10


@operator_required("GET")
def home(request: StudioRequest) -> HttpResponse:
    """What needs your attention, then the figures, the loads and what happened."""
    today_ends = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    days = next((days for days in sections.CHART_DAYS if str(days) == request.GET.get("days")), sections.DAYS)
    found = sections.build_home(viewer=request.user, today_ends=today_ends, chart_days=days)
    items = found.inbox.items
    shown = items if request.GET.get("show") == "all" else items[:SHOWN_MAX]
    context = {
        "home": found,
        "rows": [build_inbox_row(item) for item in shown],
        "count": f"{len(items)}+" if found.inbox.has_more else len(items),
        "hidden": len(items) - len(shown),
        "figures": build_figures(found),
        "chart": build_bar_chart(
            found.loads[days:],
            before=[count for _day, count in found.loads[:days]],
            releases=found.released if len(found.released) <= _RELEASE_MARKS_MAX else (),
        ),
        "chart_days": days,
        "chart_choices": sections.CHART_DAYS,
        "tour": tour.get_tour(request),
    }
    return render(request, "studio/home/show.html", context)


@operator_required("POST")
def tour_step(request: StudioRequest, step: str) -> HttpResponse:
    """Note that a step was looked at, and lead to its page."""
    url = find_url(tour.VISITED[step].url_name) if step in tour.VISITED else ""
    if not url:
        raise Http404(_("The tour has no step %(step)s") % {"step": step})
    tour.mark_visited(request, step)
    return redirect(url)


@operator_required(form_on="studio:home")
def tour_leave(request: StudioRequest) -> HttpResponse:
    """Hide the first steps on Home for this operator."""
    tour.hide_tour(request)
    report_done(request, _("First steps hidden. You can find them under Help."), Undo.by("tour_show"))
    return redirect("studio:home")


@operator_required(form_on="studio:home")
def tour_show(request: StudioRequest) -> HttpResponse:
    """Show the first steps on Home again for this operator."""
    tour.show_tour(request)
    return redirect("studio:home")
