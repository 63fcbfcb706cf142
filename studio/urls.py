"""Where every address begins."""

from __future__ import annotations

from django.urls import include, path

from studio.health import healthz, readyz

handler400 = "agent_api.bad_requests.bad_request"
handler500 = "studio.request_ids.server_error"
urlpatterns = [
    path("", include("agent_api.urls")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("", include("studio.page_urls")),
]
