"""Where the steps of the tour lead."""

from __future__ import annotations

from django import template

from studio.pages.tour import TourStep, step_url

register = template.Library()


@register.filter
def step_address(step: TourStep) -> str:
    """The address of a step."""
    return step_url(step)
