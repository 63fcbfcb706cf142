"""The filter `label`: the label of a status, role, kind or state."""

from __future__ import annotations

from django import template

from studio.pages import labels

register = template.Library()
register.filter("label", labels.label)
