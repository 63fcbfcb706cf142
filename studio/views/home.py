"""Home: what needs a person now, and the tour for whoever is new."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from registry.browsing import home as sections
from studio import tour
from studio.access import StudioRequest, actor_of, operator_required, posted_from
from studio.charts import bars


@operator_required
@require_safe
def home(request: StudioRequest) -> HttpResponse:
    """What needs a person now, and how the registry fares."""
    found = sections.home(viewer=str(actor_of(request)))
    context = {"home": found, "chart": bars(found.loads), "tour": tour.tour_of(request)}
    return render(request, "studio/home/show.html", context)


@operator_required
@require_safe
def tour_step(request: StudioRequest, step: str) -> HttpResponse:
    """To the page of a step that is done by looking at it."""
    if step not in tour.LOOKED_AT:
        raise Http404(_("The tour has no step %(step)s") % {"step": step})
    return tour.look_at(request, redirect(tour.LOOKED_AT[step].url_name), step)


@operator_required
@posted_from("studio:home")
def tour_leave(request: StudioRequest) -> HttpResponse:
    """Take the tour off Home."""
    return tour.leave(request, redirect("studio:home"))


@operator_required
@posted_from("studio:home")
def tour_show(request: StudioRequest) -> HttpResponse:
    """Put it there again."""
    return tour.come_back(request, redirect("studio:home"))
