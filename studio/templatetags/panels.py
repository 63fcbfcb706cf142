"""What features show on pages of the core."""

from __future__ import annotations

from django import template
from django.template.context import RequestContext
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString, mark_safe

from registry.feature import installed_features

register = template.Library()


@register.simple_tag(takes_context=True)
def panels(context: RequestContext, place: str) -> SafeString:
    """The panels of the installed features for a place such as `capability.tools`, in the order of `FEATURES`."""
    drawn = (
        import_string(feature.panels[place])(context["request"], context)
        for feature in installed_features()
        if place in feature.panels
    )
    return mark_safe("".join(drawn))  # noqa: S308 (each is a template that was rendered)
