"""Names the rules by which a browser may fetch the page behind a link while the pointer rests on it.

They are a static file, named by a header (WICG, Speculation Rules). Nothing of a page runs before the click, and
every page that changes something takes a POST; files to download and what opens elsewhere are left out.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.templatetags.static import static
from django.utils.deprecation import MiddlewareMixin

from studio.middleware import is_studio_page

HEADER: Final = "Speculation-Rules"
RULES: Final = "studio/prefetch.speculationrules"


class PrefetchMiddleware(MiddlewareMixin):
    """Names the rules on pages of people who are signed in; a part of a page that htmx asks for has them already."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The address is resolved by now."""
        user = getattr(request, "user", None)
        is_page = response.headers.get("Content-Type", "").startswith("text/html") and response.status_code == 200
        if is_page and is_studio_page(request) and user is not None and user.is_authenticated:
            response.setdefault(HEADER, f'"{static(RULES)}"')
        return response
