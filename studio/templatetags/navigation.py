"""The navigation in a template: `{% navigation %}` gives the page its sidebar, section tabs and breadcrumbs."""

from __future__ import annotations

from typing import Any

from django import template

from studio.pages.navigation import build_navigation, list_breadcrumbs, list_section_tabs

register = template.Library()


@register.simple_tag(takes_context=True)
def navigation(context: dict[str, Any]) -> str:
    """What the person of this page may see; read once a page."""
    request = context["request"]
    if not hasattr(request, "navigation"):
        request.navigation = build_navigation(request.user, request)
    groups = request.navigation
    context["navigation"] = groups
    context["section_tabs"] = list_section_tabs(groups)
    context["breadcrumbs"] = list_breadcrumbs(groups)
    context["waits"] = any(link.count and link.section.tone for group in groups for link in group.links)
    return ""
