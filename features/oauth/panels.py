"""What stands on pages of the core: the member's own connections, under Security."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.oauth.connections import list_connections
from features.oauth.pages import POWERS
from features.oauth.server_address import find_origin, get_resource


def draw_own(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:  # noqa: ARG001 (a panel)
    """The connections of the one who is signed in; nothing where assistants cannot sign in."""
    rows = list(list_connections(request.user))  # type: ignore[arg-type]
    if not rows and not find_origin():
        return SafeString("")
    shown = {"rows": rows, "resource": get_resource(), "powers": POWERS}
    return render_to_string("studio/connection/own.html", shown, request)
