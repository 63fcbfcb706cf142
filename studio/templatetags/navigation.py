"""The navigation in a template: `{% navigation as groups %}`."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.functional import Promise

from studio.pages.navigation import NavLink, list_nav_groups

register = template.Library()


@register.simple_tag(takes_context=True)
def navigation(context: dict[str, Any]) -> list[tuple[str | Promise, list[NavLink]]]:
    """The groups that the person of this page may see."""
    request = context["request"]
    return list(list_nav_groups(request.user, request))
