"""What Django itself refuses before any view: a foreign host, a body that cannot be read."""

from __future__ import annotations

import re
from typing import Final

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from agent_api.http.errors import error_response

# Where machines ask, a refusal has the envelope.
_MACHINES: Final = re.compile(r"/(?:api|mcp|clawhub|schemas|metrics|mirror|hooks|share|\.well-known)(?:/|\Z)")
_MCP: Final = re.compile(r"(?:/share/[^/]+)?/mcp/?\Z")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: 400, and 403 where MCP is asked for under a name that is not ours, as its clients expect."""
    is_foreign = isinstance(exception, DisallowedHost)
    if not _MACHINES.match(request.path_info):
        page = render_to_string("400.html", {"is_foreign_host": is_foreign})
        return HttpResponse(page, status=400, headers={"Cache-Control": "no-store"})
    if not is_foreign:
        return error_response("INVALID_REQUEST", "The request cannot be read")
    words = (
        "This registry does not answer under the host that was asked for: PUBLIC_URL and ALLOWED_HOSTS name its hosts"
    )
    return error_response("FORBIDDEN" if _MCP.match(request.path_info) else "INVALID_REQUEST", words)
