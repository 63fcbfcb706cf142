"""Where the steps of the tour lead."""

from __future__ import annotations

from django import template

from studio.tour import Step, address_of

register = template.Library()


@register.filter
def step_address(step: Step) -> str:
    """The address of a step."""
    return address_of(step)
