"""The database is away or held by somebody else: pages say so with 503, and what somebody is writing stays in the
browser."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from registry.outages import is_busy

logger = logging.getLogger(__name__)


class UnavailableMiddleware:
    """Turns a database error of any page into a 503 with a sentence; the agent API has its own answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:  # noqa: ARG002
        """Django calls this for whatever a view raises."""
        if not isinstance(error, DatabaseError | InterfaceError):
            return None
        logger.warning("a page could not be answered: %s", error)
        page = render_to_string("503.html", {"is_busy": is_busy(error)})
        return HttpResponse(page, status=503, headers={"Retry-After": "5", "Cache-Control": "no-store"})
