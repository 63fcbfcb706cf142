"""Home: what needs a person now."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from studio.access import StudioRequest, operator_required


@operator_required
@require_safe
def home(request: StudioRequest) -> HttpResponse:
    """What needs a person now, and how the registry fares."""
    return render(request, "studio/home/show.html", {})
