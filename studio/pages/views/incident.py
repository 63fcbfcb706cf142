"""Bundles that agents could not be given, and sources that cannot be read."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from registry.core import queries
from registry.models import Incident
from studio.pages.permissions import StudioRequest, operator_required


@operator_required
@require_safe
def incident_list(request: StudioRequest) -> HttpResponse:
    """Open incidents with cause and place; closed ones below."""
    closed = Incident.objects.filter(closed_at__isnull=False).select_related("capability", "revision", "source")[:50]
    context = {"open": queries.list_open_incidents()[:200], "closed": closed}
    return render(request, "studio/incident/list.html", context)
