"""The note that a page of the tour was opened."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html

from studio.pages.tour import is_to_visit

register = template.Library()


@register.simple_tag(takes_context=True)
def tour_visit(context: dict[str, Any], key: str) -> str:
    """For somebody who finds the page of a step without the tour: what studio.js sends the note by."""
    if not is_to_visit(context["request"], key):
        return ""
    return format_html('<span data-tour-visit="{}" hidden></span>', reverse("studio:tour_step", args=[key]))
