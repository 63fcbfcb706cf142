"""`POST /mcp`, also below a share link: a request or a batch, one JSON response; no session, no stream."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.utils.module_loading import import_string
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from agent_api.http.authentication import Caller
from agent_api.http.endpoint import endpoint
from agent_api.integrations.access import ReaderContext, authorize_reader
from features.mcp.methods import handle_call
from features.mcp.protocol import PARSE_ERROR, McpError, read_batch, read_call
from registry import snapshot
from registry.common.errors import Forbidden, Unauthenticated
from registry.feature import installed_features


@endpoint("POST")
def mcp(request: Request, token: str = "") -> HttpResponse:
    """Respond to a request, or 202 to a notification. Authentication errors are those of the agent API."""
    _require_own_origin(request)
    visitor = _authorize(request, token)
    try:
        body = _body(request)
        messages = read_batch(body, request.headers) if isinstance(body, list) else [body]
    except McpError as error:
        return _respond(_failed(None, error), error.status)
    found = [answer for message in messages if (answer := _answer(visitor, message, request)) is not None]
    if not found:
        return HttpResponse(status=202)
    if isinstance(body, list):
        return _respond([response for response, _ in found], 200)
    return _respond(*found[0])


def _authorize(request: Request, token: str) -> ReaderContext:
    """As `authorize_reader`, and by a member's access token. A 401 says where to get one."""
    if token:
        return authorize_reader(request, token)
    features = [feature for feature in installed_features() if feature.token_callers]
    try:
        for feature in features:
            caller: Caller | None = import_string(feature.token_callers)(request)
            if caller is not None:
                return ReaderContext(caller, snapshot.current_snapshot())
        return authorize_reader(request, token)
    except Unauthenticated as error:
        error.challenge = ", ".join(filter(None, (import_string(one.challenge)(request) for one in features)))
        raise


def _answer(visitor: ReaderContext, message: Any, request: Request) -> tuple[dict[str, Any], int] | None:
    """The response to one message with its HTTP status, None for a notification."""
    request_id = message.get("id") if isinstance(message, dict) else None
    try:
        call = read_call(message, request.headers)
        if "id" not in message:
            return None
        return {"jsonrpc": "2.0", "id": request_id, "result": handle_call(visitor, call)}, 200
    except McpError as error:
        return _failed(request_id, error), error.status


def _failed(request_id: Any, error: McpError) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": error.as_dict()}


def _body(request: Request) -> Any:
    try:
        return request.data
    except ParseError as error:
        raise McpError(PARSE_ERROR, f"The body is not JSON: {error.detail}", status=400) from None


def _respond(message: Any, status: int) -> HttpResponse:
    response = HttpResponse(orjson.dumps(message), content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    return response


def _require_own_origin(request: Request) -> None:
    """A page of another origin must not speak to a registry on this machine (DNS rebinding). Raises `Forbidden`."""
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.CORS_ALLOWED_ORIGINS or origin == settings.PUBLIC_URL:
        return
    parts = urlsplit(origin)
    # https may end at a proxy in front; a page that came in the clear, or an extension, is another origin.
    if parts.netloc != request.get_host() or parts.scheme not in {"https", request.scheme}:
        raise Forbidden("Pages of this origin may not use the registry; CORS_ALLOWED_ORIGINS names those that may")
