"""What stands on pages of the core: to where a capability is pushed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.git_mirrors.mirror_store import list_mirrors


def draw_mirrors(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """Each branch that has the capability, with its revision there; one query."""
    name = context["capability"].capability_id
    rows = [(each, each.pushed["revisions"][name]) for each in list_mirrors() if name in each.pushed["revisions"]]
    return render_to_string("studio/git_mirror/of_capability.html", {"rows": rows}, request)
