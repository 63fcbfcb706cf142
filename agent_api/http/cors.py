"""Pages of other origins that may call the agent API: those that CORS_ALLOWED_ORIGINS names, and no others.

The operator API stays closed to pages: a key that can publish has no business in another site's page. No cookies are
ever allowed, since the API knows keys alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

BASE: Final = "/api/v1/"
CLOSED: Final = "/api/v1/operator/"
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, Idempotency-Key",
    "Access-Control-Max-Age": "600",
}


class CorsMiddleware:
    """Responds to preflights of allowed origins and adds CORS headers to the responses that they may read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(BASE) or request.path_info.startswith(CLOSED):
            return self.get_response(request)
        origin = request.headers.get("Origin", "")
        is_allowed = origin in settings.CORS_ALLOWED_ORIGINS
        if is_allowed and request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            response: HttpResponseBase = HttpResponse(status=204, headers=_PREFLIGHT)
        else:
            response = self.get_response(request)
        if settings.CORS_ALLOWED_ORIGINS:
            patch_vary_headers(response, ["Origin"])
        if is_allowed:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = "ETag, Retry-After, Warning, X-Request-ID, Idempotency-Replayed"
        return response
