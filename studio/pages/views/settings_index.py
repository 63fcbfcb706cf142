"""The address of the settings as a whole."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect

from studio.pages.navigation import get_first_settings_url
from studio.pages.permissions import StudioRequest, operator_required


@operator_required("GET")
def settings_index(request: StudioRequest) -> HttpResponse:
    """Lead to the first page of the settings that this operator may open."""
    return redirect(get_first_settings_url(request.user))
