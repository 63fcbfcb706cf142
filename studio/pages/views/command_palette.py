"""What the command palette asks the server for."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse, JsonResponse
from django.urls import reverse

from registry.selectors.capability_list import find_capabilities
from studio.pages.permissions import StudioRequest, operator_required

TEXT_MAX: Final = 100


@operator_required("GET")
def palette_find(request: StudioRequest) -> HttpResponse:
    """`{"found": [{"label", "note", "url"}]}` for the words `q`, at most eight capabilities."""
    found = [
        {
            "label": one.name,
            "note": " · ".join(
                note for note in (one.capability_id if one.capability_id != one.name else "", one.status) if note
            ),
            "url": reverse("studio:capability_show", args=[one.capability_id]),
        }
        for one in find_capabilities(request.GET.get("q", "")[:TEXT_MAX])
    ]
    return JsonResponse({"found": found})
