"""What the command palette asks the server for."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse, JsonResponse
from django.urls import reverse

from registry.selectors.capability_list import find_capabilities
from studio.pages.documentation.search import search_docs
from studio.pages.permissions import StudioRequest, operator_required

TEXT_MAX: Final = 100
_DOCS_MAX: Final = 3


@operator_required("GET")
def palette_find(request: StudioRequest) -> HttpResponse:
    """`{"found": [{"label", "note", "url"}], "docs": [{"label", "url"}]}` for the words `q`.

    At most eight capabilities, and three pages of the docs that have all words.
    """
    words = request.GET.get("q", "")[:TEXT_MAX]
    found = [
        {
            "label": one.name,
            "note": " · ".join(
                note for note in (one.capability_id if one.capability_id != one.name else "", one.status) if note
            ),
            "url": reverse("studio:capability_show", args=[one.capability_id]),
        }
        for one in find_capabilities(words)
    ]
    docs = search_docs(words)
    pages = [] if docs.is_partial else [one.page for one in docs.results[:_DOCS_MAX]]
    listed = [{"label": page.title, "url": reverse("studio:docs_show", args=[page.slug])} for page in pages]
    return JsonResponse({"found": found, "docs": listed})
