"""Endpoints of the OpenAPI document: who may call them, and what they say of themselves there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from agent_api.http.authentication import require_scope
from agent_api.http.endpoint import endpoint
from agent_api.http.idempotent_writes import idempotent_write
from agent_api.http.parameters import INTEGER_MAX
from agent_api.http.parsers import BoundedJSONParser
from agent_api.openapi.components import schema_reference
from registry import snapshot
from registry.access.agent_keys import Scope

View = Any

# The one name for bytes that every generator of clients knows; `application/zip` makes some leave the operation out.
BYTES: Final = "application/octet-stream"


_BINARY: Final = {
    "zip": "A zip with the files.",
    "bytes": "The bytes of the file.",
    "part": "The part that Range asked for. What asks for several, or cannot be read, gets the whole.",
}
# The operationIds of what AGENT_API_PUBLIC_READ opens.
PUBLIC_READS: Final[set[str]] = set()
# Every endpoint can answer these, whatever it does.
_ALWAYS: Final = {
    400: ("Error", "An argument is missing or invalid (INVALID_REQUEST)."),
    401: ("Error", "No key, or an invalid one (UNAUTHENTICATED)."),
    403: ("Error", "The key lacks the scope (FORBIDDEN)."),
    405: ("Error", "The path has no such method (METHOD_NOT_ALLOWED); Allow names those it has."),
    429: ("Error", "Too many calls (RATE_LIMITED); Retry-After says when to come back."),
    503: ("Error", "The database is unreachable (REGISTRY_UNAVAILABLE)."),
}
_WITH_BODY: Final = {
    413: ("Error", "The body is too large (PAYLOAD_TOO_LARGE)."),
    415: ("Error", "The body is of another media type (UNSUPPORTED_MEDIA_TYPE)."),
}
NOT_FOUND: Final = {404: ("CapabilityNotFoundError", "Unknown, never published or retired.")}
QUARANTINED: Final = {423: ("Error", "Held back because it may do harm (CAPABILITY_QUARANTINED): stop using it.")}
NO_FILE: Final = {404: ("FileNotFoundError", "An unknown capability, or one without this file.")}
NOT_MODIFIED: Final = {304: ("", "The client has these bytes (If-None-Match).")}
MALFORMED: Final = {422: ("SkillMalformedError", "The stored bundle does not pass.")}
UNLOADABLE: Final = MALFORMED | QUARANTINED
CONFLICT: Final = {409: ("DraftConflictError", "The draft moved on, or the status does not allow it.")}


# Every call that writes; one that can answer 422 for more says so itself.
_REUSED: Final = {422: ("Error", "The Idempotency-Key was used for another call (IDEMPOTENCY_KEY_REUSED).")}
_IDEMPOTENCY_KEY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description="Your own word for this write, such as a UUID: within 24 hours the same call under it is answered as "
    "the first one was, and not done again.",
)

CAPABILITY_ID: Final = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
FILE_PATH: Final = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
SHARE_PARAMETER: Final = {"type": "number", "minimum": 0, "maximum": 1}
DIGEST: Final = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}


def integer_parameter(least: int, most: int = INTEGER_MAX) -> dict[str, Any]:
    """The schema of a number that `agent_api.http.parameters.integer` reads."""
    return {"type": "integer", "format": "int64", "minimum": least, "maximum": most}


def query_parameter(
    name: str, words: str, *, kind: Any = OpenApiTypes.STR, required: bool = False, **more: Any
) -> OpenApiParameter:
    """A parameter of the query string; `kind` is a type, or a schema."""
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, required=required, description=words, **more)


def describe(
    *,
    answer: str,
    body: str = "",
    parameters: tuple[OpenApiParameter, ...] = (),
    also: dict[int, tuple[str, str]] | None = None,
    zip_body: bool = False,
    operation_id: str = "",
    methods: list[str] | None = None,
    tags: tuple[str, ...] = ("agents",),
    status: int = 200,
) -> Callable[[View], View]:
    """Set the component names of response and body, and the errors in addition to those of every endpoint."""
    others = {**_ALWAYS, **(_WITH_BODY if body else {}), **(also or {})}
    of_writes = {422: _REUSED[422], **others}
    # drf-spectacular takes the media type of an answer that is not JSON beside the status.
    done: Any = (status, BYTES) if answer in _BINARY else status
    first: dict[Any, Any] = {done: _response(answer, "Done.")}
    if answer == "bytes":
        first[206, BYTES] = _response("part", "")
    names = frozenset(each.name for each in parameters)
    request: Any = None
    if body:
        request = {"application/json": schema_reference(body)}
        if zip_body:
            # `application/zip` is taken too.
            request[BYTES] = OpenApiTypes.BINARY

    def decorate(view: View) -> View:
        refusals = of_writes if view.cls.is_write else others
        described: View = extend_schema(
            operation_id=operation_id or view.cls.__name__,
            request=request,
            responses=first | {code: _response(name, words) for code, (name, words) in sorted(refusals.items())},
            parameters=[*parameters, *([_IDEMPOTENCY_KEY] if view.cls.is_write else [])],
            methods=methods,
            tags=list(tags),
        )(view)
        described.cls.is_described = True
        if getattr(view.cls, "is_public_read", False):
            PUBLIC_READS.add(operation_id or view.cls.__name__)
        # What `parameters` knows keys by.
        for method in methods or ["*"]:
            described.cls.query_keys = getattr(described.cls, "query_keys", {}) | {method: names}
        described.cls.takes_zip = zip_body
        if body:
            described.cls.body_component = body
        return described

    return decorate


def read_endpoint(
    *methods: str,
    scopes: tuple[Scope, ...] = ("read",),
    parsers: tuple[type[BaseParser], ...] = (BoundedJSONParser,),
    **description: Any,
) -> Callable[[View], View]:
    """Make `view(request, snapshot, caller)` an endpoint for keys with one of these scopes, described by the rest."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def authorized(request: Request) -> HttpResponseBase:
            held = snapshot.current_snapshot()
            answer: HttpResponseBase = view(request, held, require_scope(request, held, *scopes))
            return answer

        made: View = endpoint(*methods, parsers=parsers)(authorized)
        made.cls.is_public_read = "read" in scopes
        return describe(**description)(made)

    return decorate


def write_endpoint(
    scope: Scope, *, parsers: tuple[type[BaseParser], ...] = (BoundedJSONParser,), **description: Any
) -> Callable[[View], View]:
    """Make `view(request, caller)` a POST for keys with a scope, done once under an Idempotency-Key."""
    return lambda view: describe(**description)(endpoint("POST", parsers=parsers)(idempotent_write(scope)(view)))


def operator_read(*methods: str, **description: Any) -> Callable[[View], View]:
    """Make `view(request)` an endpoint of the operator API that changes nothing."""
    made = read_endpoint(*methods, scopes=("publish",), tags=("operators",), **description)
    return lambda view: made(functools.wraps(view)(lambda request, _held, _caller: view(request)))


operator_write = functools.partial(write_endpoint, "publish", tags=("operators",))


def _response(component: str, words: str) -> OpenApiResponse:
    if component in _BINARY:
        return OpenApiResponse(response=OpenApiTypes.BINARY, description=_BINARY[component])
    if not component:
        return OpenApiResponse(description=words)
    return OpenApiResponse(response=schema_reference(component), description=words)
