"""`/schemas/...`: the JSON Schemas as files, so that editors can check and complete while one writes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from capability_rules.schema_loader import SCHEMAS_DIR


@cache
def _documents() -> dict[str, bytes]:
    """Every schema by its path below `schemas/`; read once, so that no request can name another file."""
    return {
        str(file.relative_to(SCHEMAS_DIR).as_posix()): file.read_bytes() for file in SCHEMAS_DIR.rglob("*.schema.json")
    }


@require_safe
def schema_file(request: HttpRequest, name: str) -> HttpResponse:
    """One schema as `application/schema+json`, its `$id` being the address it was read from."""
    document = _documents().get(name)
    if document is None:
        raise Http404
    values: dict[str, Any] = json.loads(document)
    values["$id"] = f"{settings.PUBLIC_URL or request.build_absolute_uri('/').rstrip('/')}{request.path}"
    response = HttpResponse(json.dumps(values, indent=2, ensure_ascii=False), content_type="application/schema+json")
    response["Access-Control-Allow-Origin"] = "*"
    if settings.PUBLIC_URL:
        response["Cache-Control"] = "public, max-age=300"
    else:
        # The port of `Host` is the caller's word: who sends another one gets it back, and nobody else does.
        response["Cache-Control"] = "private, max-age=300"
        patch_vary_headers(response, ["Host"])
    return response
