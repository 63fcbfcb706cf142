"""What Django itself refuses before any view: a foreign host, a body that cannot be read."""

from __future__ import annotations

import re
from typing import Final

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_cache_control

from agent_api.http.errors import error_envelope

# Where machines ask, a refusal has the envelope.
_MACHINES: Final = re.compile(r"/(?:api|mcp|clawhub|schemas|metrics|mirror|hooks|share|\.well-known)(?:/|\Z)")
_MCP: Final = re.compile(r"(?:/share/[^/]+)?/mcp/?\Z")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: 400, and 403 where MCP is asked for under a name that is not ours, as its clients expect."""
    is_foreign = isinstance(exception, DisallowedHost)
    response: HttpResponse
    if _MACHINES.match(request.path_info):
        response = _refusal(is_foreign=is_foreign, is_mcp=_MCP.match(request.path_info) is not None)
    else:
        response = HttpResponse(render_to_string("400.html", {"is_foreign_host": is_foreign}), status=400)
    patch_cache_control(response, no_store=True)
    return response


def _refusal(*, is_foreign: bool, is_mcp: bool) -> JsonResponse:
    if not is_foreign:
        return JsonResponse(error_envelope("INVALID_REQUEST", "The request cannot be read"), status=400)
    words = (
        "This registry does not answer under the host that was asked for: PUBLIC_URL and ALLOWED_HOSTS name its hosts"
    )
    if is_mcp:
        return JsonResponse(error_envelope("FORBIDDEN", words), status=403)
    return JsonResponse(error_envelope("INVALID_REQUEST", words), status=400)
