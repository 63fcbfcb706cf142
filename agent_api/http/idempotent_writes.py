"""What every call that writes has in common: who may, and the `Idempotency-Key` under which it is done once."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable
from typing import Any, Final

import orjson
from django.http import HttpResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http.authentication import Caller, require_scope
from capability_kit.text.files import UnnamedFile
from capability_rules.errors import InvalidRequest
from registry import snapshot
from registry.access.agent_keys import Scope
from registry.common import rate_limits
from registry.common.errors import Unauthenticated
from registry.core import idempotency

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
_KEY: Final = re.compile(r"[\x20-\x7e]{1,255}")

Write = Callable[[Request, Caller], Response]


def idempotent_write(scope: Scope) -> Callable[[Write], Callable[[Request], HttpResponse]]:
    """Make `view(request, caller)` a write for keys with a scope; apply it below `endpoint("POST")`.

    With an `Idempotency-Key` the view runs inside the transaction that stores its response. A 2xx is stored for
    24 hours and replayed byte for byte; an error response changed nothing, so it is not stored and a retry runs again.
    """

    def decorate(view: Write) -> Callable[[Request], HttpResponse]:
        @functools.wraps(view)
        def answer(request: Request) -> HttpResponse:
            caller = require_scope(request, snapshot.current_snapshot(), scope)
            if caller.is_public:
                raise Unauthenticated("This call needs a key of its own: Authorization: Bearer KEY")
            if scope == "read":
                rate_limits.consume("write", caller.key_name)
            key = request.headers.get(HEADER)
            with caller.writing(scope):
                return view(request, caller) if key is None else _execute_once(view, request, caller, key)

        answer.is_write = True  # type: ignore[attr-defined] # read by `endpoint`
        return answer

    return decorate


def _execute_once(view: Write, request: Request, caller: Caller, key: str) -> HttpResponse:
    if not _KEY.fullmatch(key):
        raise InvalidRequest(f"{HEADER} must be 1 to 255 printable ASCII characters, such as a UUID")
    with idempotency.idempotent_call(by=caller.actor, key=key, fingerprint=_fingerprint(request)) as call:
        if call.known is not None:
            return _replay(call.known)
        response = view(request, caller)
        if 200 <= response.status_code < 300:
            body: bytes = JSONRenderer().render(response.data)
            call.keep = orjson.dumps([response.status_code, body.decode()]).decode()
        return response


def _replay(kept: str) -> HttpResponse:
    status, body = orjson.loads(kept)
    response = HttpResponse(body, content_type="application/json", status=status)
    response[REPLAYED] = "true"
    return response


def _fingerprint(request: Request) -> str:
    """SHA-256 over path, query and body; the layout of the JSON does not count. Raises what reading the body raises."""
    body: Any = request.data
    digest = hashlib.sha256(f"{request.path}?{request.META.get('QUERY_STRING', '')}\0".encode())
    if isinstance(body, UnnamedFile):
        body.seek(0)
        while part := body.read(UnnamedFile.MEMORY_BYTES):
            digest.update(part)
    else:
        digest.update(body if isinstance(body, bytes) else orjson.dumps(body, option=orjson.OPT_SORT_KEYS))
    return digest.hexdigest()
