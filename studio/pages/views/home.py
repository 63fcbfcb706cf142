"""Home: what needs a person now, and the tour for new operators."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from registry.selectors import home as sections
from studio.pages import tour
from studio.pages.charts import build_bar_chart
from studio.pages.permissions import StudioRequest, actor_of, operator_required, post_only_from


@operator_required
@require_safe
def home(request: StudioRequest) -> HttpResponse:
    """What needs your attention."""
    found = sections.build_home(viewer=str(actor_of(request)))
    context = {"home": found, "chart": build_bar_chart(found.loads), "tour": tour.get_tour(request)}
    return render(request, "studio/home/show.html", context)


@operator_required
@require_safe
def tour_step(request: StudioRequest, step: str) -> HttpResponse:
    """To the page of a step that is done by looking at it."""
    if step not in tour.VISITED_COOKIE:
        raise Http404(_("The tour has no step %(step)s") % {"step": step})
    return tour.mark_visited(request, redirect(tour.VISITED_COOKIE[step].url_name), step)


@operator_required
@post_only_from("studio:home")
def tour_leave(request: StudioRequest) -> HttpResponse:
    """Hide the first steps on Home for this operator."""
    return tour.hide_tour(request, redirect("studio:home"))


@operator_required
@post_only_from("studio:home")
def tour_show(request: StudioRequest) -> HttpResponse:
    """Show the first steps on Home again for this operator."""
    return tour.show_tour(request, redirect("studio:home"))
