"""The root URL configuration."""

from __future__ import annotations

from django.urls import include, path

from studio.admin_site import build_admin_site
from studio.middleware.health_endpoints import healthz, readyz

handler400 = "agent_api.http.django_errors.bad_request"
handler500 = "studio.middleware.request_ids.server_error"
urlpatterns = [
    path("", include("agent_api.urls")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("admin/", build_admin_site().urls),
    path("", include("studio.pages.urls")),
    path("", include("studio.pages.sign_in_urls")),
]
