"""Pages of the Studio are for its own origin: another site cannot load them as a picture, a script or a style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER: Final = "Cross-Origin-Resource-Policy"


class ResourcePolicyMiddleware:
    """Sets the header on pages, not on what agents load: CORS says who may read that."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        if match is not None and "studio" in match.app_names:
            response.setdefault(HEADER, "same-origin")
        return response
