"""What stands on pages of the core: the sets that a capability is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.sets.set_store import query_sets


def draw_sets(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """Each set that has the capability, with the revision that it holds fast, or None for the latest; one query."""
    name = context["capability"].capability_id
    rows = []
    for set_id, document in query_sets().values_list("set_id", "document"):
        held = {member["capability_id"]: member.get("revision") for member in document["members"]}
        if name in held:
            rows.append((set_id, document["name"], held[name]))
    return render_to_string("studio/set/of_capability.html", {"rows": rows}, request)
