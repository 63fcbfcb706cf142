"""A span for each request that Django answers; in `settings.MIDDLEWARE` only where traces are sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch

from capability_kit import tracing
from registry.common.log_context import add_context

# The header of W3C's trace context by which a response names its span.
HEADER: Final = "traceresponse"
# Files and probes, many and of no interest.
_SILENT: Final = (settings.STATIC_URL, "/healthz", "/readyz", "/metrics")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


class TracingMiddleware:
    """Names the span by method and route. The path is not noted where the route has parts that may be tokens, nor is
    the query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(_SILENT):
            return self.get_response(request)
        method = request.method if request.method in _METHODS else "_OTHER"
        attributes = {"http.request.method": str(method), "url.scheme": request.scheme or "http"}
        parent = tracing.read_carrier(request.headers)
        with tracing.span(str(method), attributes, kind="server", parent=parent) as span:
            add_context(trace_id=span.trace_id)
            response = self.get_response(request)
            _describe(span, str(method), request, response)
            response[HEADER] = span.traceparent
        return response


def _route(match: ResolverMatch, path: str) -> str:
    """The pattern of the address; of one that is a regular expression, the path with its variable parts named."""
    if "^" not in match.route:
        return f"/{match.route}"
    for name, value in match.kwargs.items():
        path = path.replace(str(value), f"<{name}>")
    return path


def _describe(span: tracing.TraceSpan, method: str, request: HttpRequest, response: HttpResponseBase) -> None:
    match = request.resolver_match
    # What has no name is the page for addresses that there are not.
    if match is not None and match.url_name:
        route = _route(match, request.path_info)
        span.rename(f"{method} {route}")
        span.set("http.route", route)
        if not match.kwargs:
            span.set("url.path", request.path_info)
    span.set("http.response.status_code", response.status_code)
    if response.status_code >= 500:
        span.fail(str(response.status_code))
