"""Pages of the Studio are for its own origin: another site cannot load them as a picture, a script or a style."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from studio.middleware import is_studio_page

HEADER: Final = "Cross-Origin-Resource-Policy"


class ResourcePolicyMiddleware(MiddlewareMixin):
    """Sets the header on pages, not on what agents load: CORS says who may read that."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The address is resolved by now."""
        if is_studio_page(request):
            response.setdefault(HEADER, "same-origin")
        return response
