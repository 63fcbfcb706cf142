"""Where every address begins."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (every view takes a request)
    """Alive: this process answers. Asks neither the database nor Redis."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("", include("agent_api.urls")),
    path("healthz", healthz, name="healthz"),
    path("", include("studio.page_urls")),
]
