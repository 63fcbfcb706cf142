"""What stands on pages of the core: the way to begin from an API, and where a capability's tools came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.tool_sources.adoption import list_bindings


def draw_way(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """One of the ways to begin a capability."""
    return render_to_string("studio/tool_source/way.html", {"way": context.get("way")}, request)


def draw_outline(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """A way to more tools, in the outline of the editor."""
    return render_to_string("studio/tool_source/outline.html", {"capability_id": context["capability_id"]}, request)


def draw_changes(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """Tools of the capability that differ from their source; one query."""
    capability = context["capability"]
    changed = [one for one in list_bindings(capability) if one.changes]
    return render_to_string("studio/tool_source/changed.html", {"capability": capability, "changed": changed}, request)


def draw_bindings(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """Where the tools of the capability came from, and what has changed there; one query."""
    capability = context["capability"]
    bindings = list_bindings(capability)
    values = {"capability": capability, "bindings": bindings, "changed": [one for one in bindings if one.changes]}
    return render_to_string("studio/tool_source/bindings.html", values, request)
