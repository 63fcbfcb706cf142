"""Each request has an id: it is in every log line of the request, in its response, and on error pages to be quoted."""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseServerError
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from registry.common.database_errors import is_database_error
from registry.common.log_context import bind_context, current_context
from studio.middleware.database_unavailable import render_unavailable

logger = logging.getLogger("studio.pages.permissions")

HEADER: Final = "X-Request-ID"


class RequestIdMiddleware:
    """Uses the id that a trusted proxy set (`studio.middleware.proxies` has dropped any other), or creates one.
    Logs the access.

    Runs after the forwarding headers, so that it sees the client's own address, and around everything else.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = request.META.get("HTTP_X_REQUEST_ID") or secrets.token_hex(16)
        with bind_context(request_id=request_id):
            began = time.perf_counter()
            response = self.get_response(request)
            response[HEADER] = request_id
            if settings.ACCESS_LOG:
                _log_access(request, response, time.perf_counter() - began)
        return response


def _log_access(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    """One line. The route and never the path or the query, which may hold a code or a token."""
    route = current_context().get("route", "unknown")
    fields: dict[str, Any] = {
        "method": request.method,
        "route": route,
        "status": response.status_code,
        "duration_ms": round(seconds * 1000, 2),
        "client": request.META.get("REMOTE_ADDR", ""),
    }
    message = "%s %s %s in %s ms for %s"
    values = (request.method, route, response.status_code, fields["duration_ms"], fields["client"])
    logger.info(message, *values, extra={"fields": fields})


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Django's handler500: the page for what failed here, with the id by which the operator finds the cause in the log.

    A session that could not be stored fails outside of every view: that is the database's 503 all the same.
    """
    error = sys.exception()
    if error is not None and is_database_error(error):
        return render_unavailable(request, error)
    page = render_to_string("500.html", {"request_id": current_context().get("request_id", "")})
    return HttpResponseServerError(page, headers={"Cache-Control": "no-store"})
