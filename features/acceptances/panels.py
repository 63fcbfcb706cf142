"""What stands on the overview of a capability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.acceptances.waiver_store import list_waivers


def draw_waivers(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """The waivers in force, with a button that ends each; one query."""
    capability = context["capability"]
    found = list_waivers(capability, in_force=True)
    values = {"capability": capability, "waivers": found}
    return render_to_string("studio/waiver/card.html", values, request) if found else SafeString()
