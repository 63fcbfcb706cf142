"""The registry cannot do it now: pages say why with 503, and show what somebody sent, so that it is not lost.

Too many calls, where a page does not say so itself, are a 429."""

from __future__ import annotations

import logging

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.request import RawPostDataException
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from capability_rules.errors import RegistryUnavailable
from registry.common.database_errors import is_database_error, record_outage
from registry.common.rate_limits import RateLimited
from studio.middleware.typed_fields import typed_fields

logger = logging.getLogger(__name__)


class UnavailableMiddleware(MiddlewareMixin):
    """Turns a database error of any page into a 503 with a sentence; the agent API has its own answer."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Django calls this for whatever a view raises."""
        if isinstance(error, RateLimited):
            # Of a page that has no form for it: too many passwords are being hashed.
            page = render_to_string("429.html", {"seconds": error.retry_after_seconds})
            headers = {"Retry-After": str(error.retry_after_seconds), "Cache-Control": "no-store"}
            return HttpResponse(page, status=429, headers=headers)
        if isinstance(error, RegistryUnavailable):
            return _render(request, _("The registry is busy"), error.message)
        if not is_database_error(error):
            return None
        return render_unavailable(request, error)


def render_unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Why, and the texts of a form that was sent; a fragment has none, since its form is still in the page."""
    outage = record_outage(error)
    logger.warning("a page could not be answered. %s", outage.sentences(error), extra={"outage": outage.state})
    return _render(request, outage.title, outage.words)


def _render(request: HttpRequest, title: str, words: str) -> HttpResponse:
    written = [] if "HX-Request" in request.headers else _sent(request)
    page = render_to_string("503.html", {"title": title, "words": words, "written": written})
    return HttpResponse(page, status=503, headers={"Retry-After": "5", "Cache-Control": "no-store"})


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    try:
        return typed_fields(request.POST)
    except (OSError, SuspiciousOperation, RawPostDataException):
        # A body that could not be read.
        return []
