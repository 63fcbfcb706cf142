"""Middleware of Django, and the endpoints that answer before it."""

from __future__ import annotations

from django.http import HttpRequest


def is_studio_page(request: HttpRequest) -> bool:
    """Whether the address is one of the Studio, once it is resolved."""
    return request.resolver_match is not None and "studio" in request.resolver_match.app_names
