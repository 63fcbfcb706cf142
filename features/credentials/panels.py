"""What stands on pages of the core: the credential of an import from git."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.credentials.git_logins import list_for_import
from studio.pages.permissions import actor_of


def draw_choice(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """The credentials that this member may import with; one query."""
    found = list_for_import(actor_of(request))  # type: ignore[arg-type]
    shown = {"rows": found, "chosen": context.get("credential", "")}
    return render_to_string("studio/credential/of_import.html", shown, request)
