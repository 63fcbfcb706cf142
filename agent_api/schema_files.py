"""`/schemas/...`: the JSON Schemas as files, so that editors can check and complete while one writes."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

from agent_api.http.errors import error_response
from capability_rules.schema_loader import SCHEMAS_DIR


@cache
def _documents() -> dict[str, bytes]:
    """Every schema by its path below `schemas/`; read once, so that no request can name another file."""
    return {
        str(file.relative_to(SCHEMAS_DIR).as_posix()): file.read_bytes() for file in SCHEMAS_DIR.rglob("*.schema.json")
    }


@csrf_exempt
def schema_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """One schema as `application/schema+json`, its `$id` being the address it was read from (docs/contract.md 8)."""
    if request.method not in ("GET", "HEAD"):
        refused = error_response("METHOD_NOT_ALLOWED", f"Method {request.method} is not allowed")
        refused["Allow"] = "GET, HEAD"
        return _readable_anywhere(refused)
    document = _documents().get(name)
    if document is None:
        return _readable_anywhere(error_response("NOT_FOUND", "There is no schema at this address"))
    values: dict[str, Any] = json.loads(document)
    values["$id"] = f"{settings.PUBLIC_URL or request.build_absolute_uri('/').rstrip('/')}{request.path}"
    response = HttpResponse(json.dumps(values, indent=2, ensure_ascii=False), content_type="application/schema+json")
    if settings.PUBLIC_URL:
        response["Cache-Control"] = "public, max-age=300"
    else:
        # `$id` repeats the `Host` header, whose port the caller may invent: no shared cache may keep the response.
        response["Cache-Control"] = "private, max-age=300"
        patch_vary_headers(response, ["Host"])
    response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    return _readable_anywhere(get_conditional_response(request, etag=response["ETag"], response=response) or response)


def _readable_anywhere(response: HttpResponseBase) -> HttpResponseBase:
    response["Access-Control-Allow-Origin"] = "*"
    return response
