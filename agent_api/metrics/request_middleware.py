"""Counts the requests that Django handles, by route, and measures how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from registry.common import log_context

# A second series for each, with the time of its first sample, that nobody asks for.
disable_created_metrics()  # type: ignore[no-untyped-call] # the library leaves it untyped
REQUESTS_REGISTRY: Final = CollectorRegistry()
REQUESTS: Final = Counter(
    "studio_http_requests",
    "Requests that Django answered; warm reads are counted in studio_fast_path_responses_total.",
    ["route", "method", "status"],
    registry=REQUESTS_REGISTRY,
)
REQUEST_SECONDS: Final = Histogram(
    "studio_http_request_duration_seconds",
    "Time that Django took for an answer, without the sending of a streamed body.",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REQUESTS_REGISTRY,
)
# Anybody can send any word as a method; labels stay few.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS"})


class CountingMiddleware:
    """Outermost except for the request id, so that every response is counted, errors of other middleware included."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self.get_response(request)
        route = route_label(request)
        log_context.add_context(route=route)
        method = request.method if request.method in _METHODS else "other"
        REQUESTS.labels(route, method, str(response.status_code)).inc()
        REQUEST_SECONDS.labels(route).observe(time.perf_counter() - began)
        return response


def route_label(request: HttpRequest) -> str:
    """The operationId or the page's name, `static` for a file, `unknown` for what has no name. Never the path."""
    match = request.resolver_match
    if match is not None and match.url_name:
        return match.view_name
    return "static" if request.path_info.startswith(settings.STATIC_URL) else "unknown"
